"""MMD on random Fourier features in one pass: a statistic with pooled moments in one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from btests.block_range import BlockRange
from btests.data.sample import AnySample, RowSlice, Sample
from btests.designs import TwoSample
from btests.plan import Array, Plan
from btests.statistics.statistic import Accuracy
from btests.symmetries import SignDraws, SwapGroups
from btests.symmetries.swap_groups import unpack


@dataclass(frozen=True, slots=True)
class FeatureDraws:
    """Signs of groups of rows that act on sums of features."""

    signs: SignDraws

    @property
    def n_draws(self) -> int:
        return self.signs.n_draws

    @property
    def exhaustive(self) -> bool:
        return self.signs.exhaustive

    def values(self, moments: Array) -> Array:
        signs = unpack(self.signs.words, self.n_draws)
        sums = np.einsum("fgr,fgk->rk", signs, moments)
        return np.asarray(np.sum(sums**2, axis=1) - np.sum(moments**2))


@dataclass(frozen=True, slots=True)
class SwapFeatures:
    """Swap x and y in groups of rows; the value is the squared norm of the sum of all moments, less the diagonal."""

    n_features: int
    is_pooled: ClassVar[bool] = True

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        return Plan(n_x, n_y, n_blocks).n_groups, self.n_features

    def draw(
        self, plan: Plan, shape: tuple[int, ...], n_resamples: int, seed: int, n_threads: int | None = None
    ) -> FeatureDraws:
        return FeatureDraws(SwapGroups().draw(plan, (shape[0], shape[1], shape[1]), n_resamples, seed))

    def observed(self, moments: Array) -> float:
        total = moments.sum(axis=(0, 1))
        return float(np.sum(total**2) - np.sum(moments**2))

    def magnitude(self, moments: Array) -> float:
        return float(np.abs(moments).sum()) ** 2

    def _between(self, moments: Array) -> Array:
        rows = moments.reshape(-1, moments.shape[-1])
        gram = rows @ rows.T
        np.fill_diagonal(gram, 0.0)
        return np.asarray(gram)

    def variance(self, moments: Array) -> float:
        return 2.0 * float(np.sum(self._between(moments) ** 2))

    def third_cumulant(self, moments: Array) -> float:
        c = self._between(moments)
        return 8.0 * float(np.sum((c @ c) * c))

    def n_effective_pairs(self, moments: Array) -> float:
        squares = self._between(moments) ** 2
        return 0.5 * float(squares.sum()) ** 2 / float(np.sum(squares**2))


@dataclass(frozen=True, slots=True)
class FeatureMMD:
    """``n (n - 1)`` times the MMD^2 of random Fourier features, all rows in one sum whatever the blocks."""

    bandwidth: float
    n_features: int = 64
    seed: int = 0
    design: ClassVar[TwoSample] = TwoSample()

    @property
    def symmetry(self) -> SwapFeatures:
        return SwapFeatures(self.n_features)

    @property
    def kernels(self) -> tuple[Any, ...]:
        return (self,)

    def engine(self, x: AnySample) -> str:
        return "numpy"

    def gram(self, x: Sample, y: Sample) -> Any:
        raise ValueError("features have no Gram matrix")

    def prepare(self, x: AnySample, y: AnySample) -> FeatureMMD:
        return self

    def accuracy(self, x: AnySample, y: AnySample) -> tuple[Accuracy, ...]:
        return (Accuracy(),)

    def features(self, rows: Array) -> Array:
        """Return cosines and sines: (m, d) to (m, n_features)."""
        rng = np.random.default_rng(self.seed)
        phases = rows @ rng.normal(size=(rows.shape[1], self.n_features // 2)) / self.bandwidth
        return np.asarray(np.concatenate([np.cos(phases), np.sin(phases)], axis=1) * np.sqrt(2.0 / self.n_features))

    def blocks(self, x: Sample | RowSlice, y: Sample | RowSlice, chunk: BlockRange) -> list[tuple[Array, Array]]:
        plan, values, moments = chunk.plan, [], []
        for number in chunk.numbers:
            start, stop = plan.start(number)[0], plan.start(number + 1)[0]
            b = stop - start
            rows = [np.asarray(side.stack(start, 1, b)[0], dtype=np.float64) for side in (x, y)]
            d = self.features(rows[0]) - self.features(rows[1])
            values.append((np.sum(d.sum(axis=0) ** 2) - np.sum(d**2)) / (b * (b - 1)))
            member = np.arange(b)[None, :] % plan.n_groups == np.arange(plan.n_groups)[:, None]
            moments.append(member @ d)
        return [(np.array(values), chunk.sum_nodes(np.stack(moments)))]
