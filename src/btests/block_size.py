"""How many rows make a block: the given number, the paper's power of n, or the largest block within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple

#: Seconds of one core that the automatic block size aims at.
BUDGET = 1.0

#: Exponent of the paper's rule B = [n^block_exponent].
PAPER_EXPONENT = 0.5


class BlockSize(NamedTuple):
    """Rows of the smaller sample in a block, and the rule that gave them: see :attr:`btests.TestResult.block_rule`."""

    size: int
    rule: str


@dataclass(frozen=True, slots=True)
class BlockRule:
    """The rule that a block size comes from. At most one of ``size`` and ``exponent`` is given; checked by the caller.

    Attributes
    ----------
    size : int, optional
        Rows in a block.
    exponent : float, optional
        Exponent of the paper's rule.
    budget : float
        Without both: seconds of one core that the kernel values may take, by a count of operations.
    """

    size: int | None = None
    exponent: float | None = None
    budget: float = BUDGET

    def check(self, n: int) -> None:
        """Raise unless n rows of the smaller sample can fill a block of the given size."""
        if self.size is not None and not 2 <= self.size <= n:
            raise ValueError(f"block_size must be between 2 and {n} for {n} observations, got {self.size}")

    def for_selection(self, n: int) -> int:
        """Return the block size for selecting a kernel on n rows.

        An automatic size is the paper's root of n here: a spread between blocks is estimated from many of them.
        """
        return min(n, self.size) if self.size is not None else root(n, self.exponent or PAPER_EXPONENT)

    def size_for(self, n_x: int, n_y: int, pair_seconds: float) -> BlockSize:
        """Return the block size for samples of these lengths.

        Parameters
        ----------
        n_x, n_y : int
            Rows of the samples.
        pair_seconds : float
            Estimated time of all kernels for one pair of rows: see :func:`btests.statistics.cost.pair_seconds`. An
            estimate from counts alone, so that the block size is the same on every machine and for any load.
        """
        n = min(n_x, n_y)
        if self.size is not None:
            self.check(n)
            return BlockSize(self.size, "given")
        if self.exponent is not None:
            return BlockSize(root(n, self.exponent), f"n^{self.exponent:g}")
        # One block evaluates each pair of the pooled rows once; m blocks of 1/m of the rows, an m-th of them.
        n_blocks = math.ceil((n_x + n_y) ** 2 / 2.0 * pair_seconds / self.budget)
        if n_blocks <= 1:
            return BlockSize(n, "one block")
        smallest = root(n, PAPER_EXPONENT)
        affordable = n // n_blocks
        if affordable <= smallest:
            return BlockSize(smallest, f"n^{PAPER_EXPONENT:g}")
        return BlockSize(affordable, "budget")


def check_block_rule(
    block_size: object,
    block_exponent: object = None,
    budget: object = None,
    *,
    many_blocks: bool = False,
    all_rows: bool = False,
) -> BlockRule:
    """Return the rule that the arguments of :func:`btests.btest` name, or raise.

    ``many_blocks`` is for null distributions that are estimated from the spread of the blocks: the paper's rule is then
    the default. ``all_rows`` is for those of one block of all rows. A budget decides nothing for either.
    """
    if isinstance(block_size, str):
        if block_size not in ("auto", "sqrt"):
            raise ValueError(f"block_size must be a whole number, 'sqrt', 'auto' or None, got {block_size!r}")
    elif block_size is not None and (isinstance(block_size, bool) or not isinstance(block_size, Integral)):
        pair = "; two numbers are for iterators of batches" if isinstance(block_size, tuple) else ""
        raise TypeError(f"block_size must be a whole number, 'sqrt', 'auto' or None, got {block_size!r}{pair}")
    if block_exponent is not None and not (_is_real(block_exponent) and 0.0 < float(block_exponent) < 1.0):  # type: ignore[arg-type]
        raise ValueError(f"block_exponent must be between 0 and 1, both excluded, got {block_exponent!r}")
    if budget is not None and not (_is_real(budget) and 0.0 < float(budget) < math.inf):  # type: ignore[arg-type]
        raise ValueError(f"budget must be a positive number of seconds, got {budget!r}")
    if isinstance(block_size, Integral):
        for name, other in (("block_exponent", block_exponent), ("budget", budget)):
            if other is not None:
                raise ValueError(f"block_size={block_size} leaves nothing to choose: name it or {name}, not both")
        return BlockRule(int(block_size))
    if block_size == "sqrt" or block_exponent is not None:
        if budget is not None:
            raise ValueError("budget is for the automatic block size: name it or the rule of the paper, not both")
        return BlockRule(exponent=PAPER_EXPONENT if block_exponent is None else float(block_exponent))  # type: ignore[arg-type]
    if budget is not None and (many_blocks or all_rows):
        blocks = "many blocks, of the root of n by default" if many_blocks else "all rows in one block"
        raise ValueError(f"budget decides nothing here: this null distribution takes {blocks}")
    if many_blocks:
        return BlockRule(exponent=PAPER_EXPONENT)
    return BlockRule(budget=BUDGET if budget is None else float(budget))  # type: ignore[arg-type]


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def root(n: int, exponent: float) -> int:
    """Return the paper's block size for n rows, n^exponent rounded and within 2 .. n."""
    return min(n, max(2, round(math.pow(n, exponent))))
