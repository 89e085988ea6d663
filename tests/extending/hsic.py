"""Block HSIC under swaps of y within tuples of rows: a statistic of paired samples in one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from btests.data.sample import AnySample, RowSlice, Sample
from btests.designs import Paired
from btests.kernels.kernel import Kernel
from btests.plan import Array, Index, Plan
from btests.statistics.statistic import Accuracy, sum_nodes


def walsh(q: int) -> Array:
    """Return the Walsh functions of Z_2^k, q = 2^k: (q, q)."""
    a = np.arange(q)
    bits = a[:, None] & a[None, :]
    return np.where(np.array([[bin(b).count("1") % 2 for b in row] for row in bits]), -1.0, 1.0)


@dataclass(frozen=True, slots=True)
class TupleDraws:
    """An element of Z_2^k for each stratum and group: (s, groups, n_draws)."""

    elements: npt.NDArray[np.int64]
    exhaustive: bool
    q: int

    @property
    def n_draws(self) -> int:
        return int(self.elements.shape[-1])

    def values(self, moments: Array) -> Array:
        total = np.zeros(self.n_draws)
        for matrix, elements in zip(moments, self.elements, strict=True):
            characters = walsh(self.q)[1:, elements].transpose(1, 0, 2).reshape(-1, self.n_draws)
            w = np.concatenate([np.ones((1, self.n_draws)), characters])
            total += np.einsum("ur,ur->r", w, matrix @ w)
        return total


@dataclass(frozen=True, slots=True)
class SwapTuples:
    """Swap the y of tuples of q rows, all tuples of a group by the same element of Z_2^k."""

    q: int = 8
    most_groups: int = 9
    is_pooled: ClassVar[bool] = False

    def n_groups(self, block_size: int) -> int:
        return min(self.most_groups, block_size // self.q)

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        k = (self.q - 1) * self.n_groups(n_x // n_blocks) + 1
        return k, k

    def draw(self, plan: Plan, shape: tuple[int, ...], n_resamples: int, seed: int) -> TupleDraws:
        groups = self.n_groups(plan.block_size)
        n_elements = self.q ** min(shape[0] * groups, 20)
        if n_elements <= n_resamples + 1:
            powers = self.q ** np.arange(shape[0] * groups)
            elements = np.arange(n_elements) // powers[:, None] % self.q
            return TupleDraws(elements.reshape(shape[0], groups, -1), True, self.q)
        rng = np.random.default_rng([seed, 0x45C])
        return TupleDraws(rng.integers(0, self.q, (shape[0], groups, n_resamples)), False, self.q)

    def observed(self, moments: Array) -> float:
        return float(moments.sum())

    def magnitude(self, moments: Array) -> float:
        return float(np.abs(moments).sum())

    def variance(self, moments: Array) -> float:
        return 2.0 * float(np.sum(moments**2))

    def third_cumulant(self, moments: Array) -> None:
        return None

    def n_effective_pairs(self, moments: Array) -> float:
        squares = moments**2
        return 0.5 * float(squares.sum()) ** 2 / float(np.sum(squares**2))


@dataclass(frozen=True, slots=True)
class HSIC:
    """Unbiased HSIC of each block (Song et al. 2012)."""

    kernel_x: Kernel
    kernel_y: Kernel
    symmetry: SwapTuples = SwapTuples()
    design: ClassVar[Paired] = Paired()

    @property
    def kernels(self) -> tuple[Any, ...]:
        return ((self.kernel_x, self.kernel_y),)

    def engine(self, x: AnySample) -> str:
        return "numpy"

    def prepare(self, x: AnySample, y: AnySample) -> HSIC:
        return self

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        return (Accuracy(),)

    def blocks(
        self,
        x: Sample | RowSlice,
        y: Sample | RowSlice,
        plan: Plan,
        numbers: tuple[int, int],
        nodes: Index,
        *,
        n_threads: int | None = 1,
        goes_on: bool = False,
    ) -> list[tuple[Array, Array]]:
        values, moments = [], []
        for number in range(*numbers):
            start, stop = plan.start(number)[0], plan.start(number + 1)[0]
            p, q = (side.stack(start, 1, stop - start)[0] for side in (x, y))
            value, moment = hsic_block(
                np.asarray(self.kernel_x(p, p)), np.asarray(self.kernel_y(q, q)), self.symmetry, plan.block_size
            )
            values.append(value)
            moments.append(moment)
        return [(np.array(values), sum_nodes(np.stack(moments), nodes, numbers[0]))]


def hsic(k: Array, l: Array) -> float:  # noqa: E741
    """Return the unbiased HSIC of Gram matrices with zero diagonals."""
    b = len(k)
    r, t = k.sum(axis=0), l.sum(axis=0)
    total = np.sum(k * l) + r.sum() * t.sum() / ((b - 1) * (b - 2)) - 2.0 * r @ t / (b - 2)
    return float(total / (b * (b - 3)))


def hsic_block(k: Array, l: Array, symmetry: SwapTuples, block_size: int) -> tuple[float, Array]:  # noqa: E741
    """Return HSIC of one block, and the matrix C such that w'Cw is the part that swaps change."""
    b, q, groups = len(k), symmetry.q, symmetry.n_groups(block_size)
    k, l = (np.where(np.eye(b, dtype=bool), 0.0, m) for m in (k, l))  # noqa: E741
    n_tuples = b // q
    n, basis = n_tuples * q, walsh(q)
    transform = np.kron(np.eye(n_tuples), basis)  # (tuple, alpha) from (tuple, member)
    size = (q - 1) * groups + 1
    matrix = np.zeros((size, size))
    pairs = (transform @ k[:n, :n] @ transform.T) * (transform @ l[:n, :n] @ transform.T) / q**2
    linear = 2.0 / q * np.sum((transform @ k[:n, n:]) * (transform @ l[:n, n:]), axis=1)
    linear -= 2.0 / ((b - 2) * q) * (transform @ k.sum(axis=1)[:n]) * (transform @ l.sum(axis=1)[:n])
    group = np.arange(n) // q % groups
    alpha = np.arange(n) % q

    def place(u: int, a: int) -> int:
        return 0 if a == 0 else 1 + u * (q - 1) + a - 1

    for i in range(n):
        matrix[0, place(group[i], alpha[i])] += linear[i]
        for j in range(n):
            if group[i] == group[j]:
                matrix[0, place(group[i], alpha[i] ^ alpha[j])] += pairs[i, j]
            else:
                matrix[place(group[i], alpha[i]), place(group[j], alpha[j])] += pairs[i, j]
    matrix = (matrix + matrix.T) / 2.0
    np.fill_diagonal(matrix, 0.0)
    return hsic(k, l), matrix / (b * (b - 3))
