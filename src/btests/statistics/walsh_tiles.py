"""Gram matrices of x and y as Walsh transforms of tiles, and the moments of HSIC under swaps of tuples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from btests.kernels.distances import squared_distances
from btests.kernels.kernel import Kernel
from btests.plan import Array
from btests.statistics.numpy_backend import evaluate

#: Kernel values of a strip of rows that are in memory at once, for each kernel.
STRIP = 2**17


@dataclass(frozen=True, slots=True)
class Layout:
    """Tuples of q rows of a block of b rows, tuple t in group t mod ``n_groups``; the last b mod q rows never move.

    Arrays of tiles are (m, q, t, q, t'): members of tuples come first, so that the transforms run along the memory.
    """

    q: int
    n_groups: int
    b: int

    @property
    def n_tuples(self) -> int:
        """Number of tuples."""
        return self.b // self.q

    @property
    def strip(self) -> int:
        """Tuples of a strip of rows, whole groups of them. It depends on the block alone: sums have one order."""
        return max(1, STRIP // self.b // (self.q * self.n_groups)) * self.n_groups

    def zeros(self, m: int) -> Array:
        """Return group sums of no tuples of m blocks: (m, q, g, q, g)."""
        return np.zeros((m, self.q, self.n_groups, self.q, self.n_groups))

    def group_sums(self, k: Array, l: Array) -> Array:  # noqa: E741
        """Return the sum of products over tuples of each pair of groups: (m, q, t, q, t') to (m, q, g, q, g)."""
        g = self.n_groups
        by_row = np.stack([(k[:, :, u::g] * l[:, :, u::g]).sum(axis=2) for u in range(g)], axis=2)
        return np.stack([by_row[..., v::g].sum(axis=-1) for v in range(g)], axis=-1)

    def moments(self, products: Array, margins: tuple[Array, Array], rests: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return values (m,) and moments (m, k, k) from group sums, row sums (m, b) and rows that stay (m, b, f).

        See docs/method.md, "Independence", for the formulas.
        """
        q, g, b = self.q, self.n_groups, self.b
        n, members = self.n_tuples * q, np.arange(q)
        tiles = products.transpose(0, 2, 1, 4, 3) / q**2  # (m, u, alpha, v, beta)
        tiles = 0.5 * (tiles + tiles.transpose(0, 3, 4, 1, 2))
        same = np.einsum("muavb,uv->muab", tiles, np.eye(g))
        # Products of Walsh functions of one group are Walsh functions: chi_alpha chi_beta = chi_(alpha XOR beta).
        linear = np.stack([same[:, :, members, members ^ gamma].sum(axis=-1) for gamma in members], axis=-1)
        r, t = (transform(self.by_member(margin[:, :n])) for margin in margins)
        staying = [transform(self.by_member(rest[:, :n])) for rest in rests]
        terms = 2.0 / q * (staying[0] * staying[1]).sum(axis=-1) - 2.0 / ((b - 2) * q) * r[..., 0] * t[..., 0]
        linear += np.stack([terms[:, :, u::g].sum(axis=-1) for u in range(g)], axis=1)
        apart = tiles * (1.0 - np.eye(g))[:, None, :, None]
        k = (q - 1) * g + 1
        matrix = np.zeros((len(tiles), k, k))
        matrix[:, 1:, 1:] = apart[:, :, 1:, :, 1:].reshape(-1, k - 1, k - 1)
        matrix[:, 0, 1:] = (linear + 2.0 * apart[:, :, 0].sum(axis=1))[:, :, 1:].reshape(-1, k - 1)
        constant = linear[:, :, 0].sum(axis=1) + apart[:, :, 0, :, 0].sum(axis=(1, 2))
        constant += (rests[0][:, n:] * rests[1][:, n:]).sum(axis=(1, 2))
        constant -= 2.0 / (b - 2) * (margins[0][:, n:] * margins[1][:, n:]).sum(axis=1)
        constant += margins[0].sum(axis=1) * margins[1].sum(axis=1) / ((b - 1) * (b - 2))
        values = (constant + matrix.sum(axis=(1, 2))) / (b * (b - 3))
        return values, (matrix + matrix.transpose(0, 2, 1)) / (2.0 * b * (b - 3))

    def by_member(self, rows: Array) -> Array:
        """Return a copy of rows (m, t q, ...) as (m, q, t, ...), members first; numbers have a last axis of 1."""
        shaped = rows.reshape(len(rows), self.n_tuples, self.q, *(rows.shape[2:] or (1,)))
        return shaped.swapaxes(1, 2).copy()


class Side:
    """Kernels of one side of all pairs, their row sums, and their values with the rows that stay."""

    def __init__(self, rows: Array, kernels: Sequence[Kernel], layout: Layout, *, doubled: bool = False) -> None:
        self.kernels, self._layout, self._doubled = kernels, layout, doubled
        n = layout.n_tuples * layout.q
        self._rows, self._members = rows, layout.by_member(rows[:, :n])
        self._margins = np.zeros((len(kernels), *rows.shape[:2]))
        # A constant changes nothing, and wide kernels keep their digits without it.
        some = _values(kernels, rows[:, :1], rows[:, 1:])
        self._offsets = [values.mean(axis=(1, 2), keepdims=True) for values in some]

    def strips(self, start: int) -> Iterator[Array]:
        """Yield for each kernel the transformed tiles of tuples from ``start`` on with all after them."""
        m, q = self._members.shape[:2]
        own, others = self._members[:, :, start : start + self._layout.strip], self._members[:, :, start:]
        t, n_others = own.shape[2], others.shape[2]
        flat = (part.reshape(m, -1, part.shape[-1]) for part in (own, others))
        a, i = np.ogrid[:q, :t]
        for margin, offset, values in zip(self._margins, self._offsets, _values(self.kernels, *flat), strict=True):
            tiles = (values - offset).reshape(m, q, t, q, n_others)
            tiles[:, a, i, a, i] = 0.0
            sums = margin[:, : self._layout.n_tuples * q].reshape(m, -1, q)
            sums[:, start : start + t] += tiles.sum(axis=(3, 4)).swapaxes(1, 2)
            sums[:, start + t :] += tiles[..., t:].sum(axis=(1, 2)).swapaxes(1, 2)
            if self._doubled:
                tiles[..., t:] *= 2.0
            yield transform(transform(tiles, 3))

    def finish(self) -> tuple[Array, list[Array]]:
        """Return row sums of each kernel (j, m, b), and its values with the rows that stay (m, b, f)."""
        rests, n = [], self._layout.n_tuples * self._layout.q
        for margin, offset, values in zip(
            self._margins, self._offsets, _values(self.kernels, self._rows, self._rows[:, n:]), strict=True
        ):
            rest = values - offset
            stays = np.arange(rest.shape[2])
            rest[:, n + stays, stays] = 0.0
            margin[:, :n] += rest[:, :n].sum(axis=2)
            margin[:, n:] += rest.sum(axis=1)
            rests.append(rest)
        return self._margins, rests


def _values(kernels: Sequence[Kernel], p: Array, q: Array) -> Iterator[Array]:
    """Yield Gram matrices of two stacks for each kernel: distances are computed once for all kernels of them."""
    squares: Array | None = None
    for kernel in kernels:
        of_squares = getattr(kernel, "from_squared_distances", None)
        if of_squares is None or p.shape[2] == 0 or q.shape[1] == 0:
            yield evaluate(kernel, p, q) if q.shape[1] else np.zeros((len(p), p.shape[1], 0))
            continue
        with np.errstate(over="ignore"):  # infinitely far apart, where kernels of distances are 0
            squares = squared_distances(p, q) if squares is None else squares
            values = np.asarray(of_squares(squares))
        yield values


def transform(values: Array, axis: int = 1) -> Array:
    """Replace values by their Walsh transform along an axis of q = 2^k, and return them.

    Entry alpha is the sum over members a of ``(-1)^popcount(alpha AND a)`` times their values.
    """
    first, h = np.moveaxis(values, axis, 0), 1
    while h < len(first):
        pairs = first.reshape(len(first) // (2 * h), 2, h, *first.shape[1:])
        difference = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = difference
        h *= 2
    return values
