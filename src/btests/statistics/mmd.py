"""The block MMD: one unbiased estimate of MMD^2 per block, and the core that sign flips act on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from btests import fast
from btests.blocks import Array, Blocks
from btests.kernels import Combination, OnColumns, Pairwise
from btests.kernels.protocol import HasTerms, Kernel
from btests.statistics.checks import kernel_matrix
from btests.statistics.gram import block_cores, block_values, without_diagonal
from btests.statistics.sample import Sample
from btests.summary import Summary

# The plain path holds a few Gram matrices of about this many numbers together.
_PLAIN_BUDGET = 2**21


@dataclass(frozen=True, slots=True)
class MMD:
    r"""Unbiased estimate of the squared MMD on each block (Zaremba et al. 2013, eq. 3).

    ``h(z, z') = k(x, x') + k(y, y') - k(x, y') - k(x', y)`` changes its sign when x and y swap places in one of the
    pairs z, z': the symmetry that the sign-flip null rests on.

    Attributes
    ----------
    kernel
        Any kernel.
    dtype
        The arithmetic of the compiled loops, ``float64`` or ``float32``. Sums are always in float64.
    plain
        Take the plain numpy path even where compiled loops could.
    """

    kernel: Kernel
    dtype: str = "float64"
    plain: bool = False

    def engine(self, x: Sample) -> str:
        """Return the name of what computes the Gram blocks of such data: ``numpy`` or ``compiled (...)``."""
        return "numpy" if self._terms(x) is None else f"compiled ({fast.instruction_set()})"

    def is_threaded(self, x: Sample) -> bool:
        """Whether several threads may summarize at once: a user's own kernel need not be ready for that."""
        return self._terms(x) is not None

    def cuts_blocks(self, x: Sample, blocks: Blocks) -> bool:
        """Whether the blocks are so few and large that threads share the work inside each."""
        return self._terms(x) is not None and fast.n_parts(blocks, x.rows.shape[1]) > 1

    def summarize(
        self, x: Sample, y: Sample, blocks: Blocks, first_fold: int, last_fold: int, *, n_threads: int | None = 1
    ) -> Summary:
        """Return the summary of folds ``first_fold .. last_fold - 1``; threads matter where ``cuts_blocks``."""
        folds = np.arange(first_fold, last_fold, dtype=np.int64)
        terms = self._terms(x)
        if terms is None:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused in the end
                values, cores = self._summarize_plain(x, y, blocks, first_fold, last_fold)
        else:
            values, cores = np.zeros(()), np.zeros(())
            for term in terms:
                p, q = (x, y) if term.columns is None else (x.columns(term.columns), y.columns(term.columns))
                v, c = fast.summarize(
                    p, q, blocks, (first_fold, last_fold), term=term, dtype=self.dtype, n_threads=n_threads
                )
                values, cores = values + term.weight * v, cores + term.weight * c
        return Summary(blocks, folds, values, cores)

    def _terms(self, x: Sample) -> Any:
        usable = not self.plain and x.is_numeric and fast.is_available() and isinstance(self.kernel, HasTerms)
        return self.kernel.terms() if usable and isinstance(self.kernel, HasTerms) else None

    def _summarize_plain(self, x: Sample, y: Sample, blocks: Blocks, first: int, last: int) -> tuple[Array, Array]:
        edges = blocks.fold_edges()
        values = np.empty(edges[last] - edges[first])
        cores = np.zeros((last - first, blocks.core_size, blocks.core_size))
        for i, xx, yy, xy in self._gram_stacks(x, y, blocks, int(edges[first]), int(edges[last])):
            numbers = np.arange(i, i + len(xx))
            values[numbers - edges[first]] = block_values(xx, yy, xy, paired=blocks.paired)
            owner = np.searchsorted(edges, numbers, side="right") - 1 - first
            np.add.at(cores, owner, block_cores(xx, yy, xy, blocks.n_groups, paired=blocks.paired))
        return values, cores

    def _gram_stacks(
        self, x: Sample, y: Sample, blocks: Blocks, first: int, last: int
    ) -> Iterator[tuple[int, Array, Array, Array]]:
        """Yield the number of a block and the Gram matrices of it and some that follow."""
        for run in blocks.runs(first, last):
            step = max(1, _PLAIN_BUDGET // (run.b_x + run.b_y) ** 2) if x.is_numeric else 1
            for i in range(0, run.n_blocks, step):
                m = min(step, run.n_blocks - i)
                p = x.deal(run.start_x + i * run.b_x, m, run.b_x)
                q = y.deal(run.start_y + i * run.b_y, m, run.b_y)
                xy = evaluate(self.kernel, p, q)
                xx, yy = (without_diagonal(evaluate(self.kernel, s, s)) for s in (p, q))
                yield run.first_block + i, xx, yy, without_diagonal(xy) if blocks.paired else xy


def evaluate(kernel: Kernel, p: npt.NDArray[Any], q: npt.NDArray[Any]) -> Array:
    """Return Gram matrices from any kernel: two stacks (m, b, ...) and (m, c, ...) to (m, b, c).

    Our own kernels take stacks; a user's function sees one block at a time, as an array (b, d) or a list of objects.
    """
    if p.dtype != object and _takes_stacks(kernel):
        return np.asarray(kernel(p, q), dtype=np.float64)
    stack = np.empty((len(p), p.shape[1], q.shape[1]))
    for i in range(len(p)):
        a: Any = p[i] if p.dtype != object else p[i].tolist()
        c: Any = a if q is p else (q[i] if q.dtype != object else q[i].tolist())
        stack[i] = kernel_matrix(kernel, a, c)
    return stack


def _takes_stacks(kernel: Kernel) -> bool:
    """Whether the kernel takes many blocks at once: ours do, but not what they make of a user's function."""
    if isinstance(kernel, Combination):
        return all(_takes_stacks(member) for member in kernel.kernels)
    if isinstance(kernel, OnColumns):
        return _takes_stacks(kernel.kernel)
    return type(kernel).__module__.startswith("btests.kernels") and not isinstance(kernel, Pairwise)
