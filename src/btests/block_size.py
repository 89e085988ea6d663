"""How many rows make a block: the given number, the paper's power of n, or the largest block within a budget."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from btests._text import brief

#: Seconds of one core that the automatic block size aims at.
BUDGET = 1.0

#: Exponent of the paper's rule B = [n^block_exponent].
PAPER_EXPONENT = 0.5

#: Samples whose lengths differ by a larger factor are compared by features, whose bins of rows are relabelled: swaps of
#: partners, those of blocks, leave most rows of the longer sample where they are.
UNEQUAL = 1.25

#: Rule of :class:`BlockSize` where random features take the place of blocks.
FEATURES = "features"


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
    features : bool or None
        Whether random features take the place of blocks; None where one block of all rows is beyond the budget, and
        for samples of different lengths.
    """

    size: int | None = None
    exponent: float | None = None
    budget: float = BUDGET
    features: bool | None = False

    def check(self, n: int, least: int = 2) -> None:
        """Raise unless n rows of the smaller sample can fill a block of the given size, which is ``least`` or more."""
        if self.size is not None and not least <= self.size <= n:
            raise ValueError(f"block_size must be between {least} and {n} for {n} observations, got {self.size}")

    def for_selection(self, n: int) -> int:
        """Return the block size for selecting a kernel on n rows.

        An automatic size is the paper's root of n here: a spread between blocks is estimated from many of them.
        """
        return min(n, self.size) if self.size is not None else root(n, self.exponent or PAPER_EXPONENT)

    def size_for(
        self, n_x: int, n_y: int, pair_seconds: float, *, has_features: bool = False, has_spectra: bool = True
    ) -> BlockSize:
        """Return the block size for samples of these lengths.

        Parameters
        ----------
        n_x, n_y : int
            Rows of the samples.
        pair_seconds : float
            Estimated time of all kernels for one pair of rows: see :func:`btests.statistics.cost.pair_seconds`. An
            estimate from counts alone, so that the block size is the same on every machine and for any load.
        has_features : bool
            Whether features of all kernels may take the place of blocks.
        has_spectra : bool
            Whether they are random Fourier features. Others estimate MMD^2 of samples of different lengths less
            accurately, and leave one block as it is where the budget affords it.
        """
        n = min(n_x, n_y)
        if self.size is not None:
            self.check(n)
            return BlockSize(self.size, "given")
        if self.exponent is not None:
            return BlockSize(root(n, self.exponent), f"n^{self.exponent:g}")
        # One block evaluates each pair of the pooled rows once; m blocks of 1/m of the rows, an m-th of them.
        n_blocks = math.ceil(min((n_x + n_y) ** 2 / 2.0 * pair_seconds / self.budget, n_x + n_y))
        unequal = has_spectra and max(n_x, n_y) > UNEQUAL * n
        if self.features or (self.features is None and has_features and (n_blocks > 1 or unequal)):
            return BlockSize(n, FEATURES)
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
    features: bool | None = False,
) -> BlockRule:
    """Return the rule that the arguments of :func:`btests.btest` name, or raise.

    ``features`` is that of :class:`BlockRule`, and False where blocks are named. ``many_blocks`` is for null
    distributions that are estimated from the spread of the blocks: the paper's rule is then the default. ``all_rows``
    is for those of one block of all rows. A budget decides nothing for either.
    """
    if features and (block_size not in (None, "auto") or block_exponent is not None):
        raise ValueError("features have no blocks: leave out block_size and block_exponent")
    _check_numbers(block_size, block_exponent, budget)
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
    seconds = BUDGET if budget is None else float(budget)  # type: ignore[arg-type]
    return BlockRule(budget=seconds, features=False if all_rows else features)


def _check_numbers(block_size: object, block_exponent: object, budget: object) -> None:
    """Raise unless the arguments are a block size, an exponent and a number of seconds, or None."""
    if isinstance(block_size, str):
        if block_size not in ("auto", "sqrt"):
            raise ValueError(f"block_size must be a whole number, 'sqrt', 'auto' or None, got {brief(block_size)}")
    elif block_size is not None and (isinstance(block_size, bool) or not isinstance(block_size, Integral)):
        pair = "; two numbers are for iterators of batches" if isinstance(block_size, tuple) else ""
        raise TypeError(f"block_size must be a whole number, 'sqrt', 'auto' or None, got {brief(block_size)}{pair}")
    if block_exponent is not None and not (_is_real(block_exponent) and 0.0 < block_exponent < 1.0):  # type: ignore[operator]
        raise ValueError(f"block_exponent must be between 0 and 1, both excluded, got {brief(block_exponent)}")
    if budget is not None and not (_is_real(budget) and 0.0 < _plain(budget) <= sys.float_info.max):
        raise ValueError(f"budget must be a positive number of seconds, got {brief(budget)}")


def check_block_pair(block_size: object) -> tuple[int, int]:
    """Return the rows of x and of y in a block, from one number or two; raise for anything else."""
    sizes = block_size if isinstance(block_size, tuple) else (block_size, block_size)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 2 <= size <= 2**20:
            raise ValueError(
                "block_size must be a whole number between 2 and 2^20, or two of them for x and y, got "
                f"{brief(block_size)}"
            )
    if len(sizes) != 2:
        raise ValueError(f"block_size must be one number or two, got {brief(block_size)}")
    return int(sizes[0]), int(sizes[1])


def _plain(number: Any) -> Any:
    """Return a number of numpy as one of Python, whose comparisons do not overflow."""
    return number.item() if isinstance(number, np.generic) else number


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def root(n: int, exponent: float) -> int:
    """Return the paper's block size for n rows, n^exponent rounded and within 2 .. n."""
    return min(n, max(2, round(math.pow(n, exponent))))
