"""Swaps of x and y within groups of rows: the symmetry of two samples of one distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from btests import _core
from btests._memory import amount, free_bytes
from btests.plan import Array, Plan

Words = npt.NDArray[np.uint64]


# Bytes that are taken unasked: the free memory is in files of the system, which take half a millisecond to read.
_SMALL = 2**24


@dataclass(frozen=True, slots=True)
class SignDraws:
    """Random signs of groups of rows, packed 64 draws to a word; -1 swaps x and y in a group.

    Attributes
    ----------
    words : ndarray of uint64
        The signs of each stratum and row of its moments: (s, k, words). Bit r of the words is set where draw r swaps.
    n_draws : int
        Number of draws that they hold.
    exhaustive : bool
        Whether they are all patterns of signs, the observed one among them.
    n_threads : int, optional
        Threads that compute values; None is all cores of this process.
    """

    words: Words
    n_draws: int
    exhaustive: bool
    n_threads: int | None = None

    def values(self, moments: Array) -> Array:
        """Return ``sum_f s_f' C_f s_f`` for each draw s: moments C (f, k, k) to (n_draws,)."""
        if not _core.is_available():
            return flip_plain(moments, self.words, self.n_draws)
        return _core.flip(moments, self.words, self.n_draws, self.n_threads)


@dataclass(frozen=True, slots=True)
class SwapGroups:
    """Swap x_a and y_a for all rows a of a group at once.

    The moments of a block are a symmetric matrix C with zero diagonal, and the block value after a swap is a constant
    plus ``s'Cs``, s the signs of the groups. Samples of different lengths have one more row and column for the rows
    that have no partner; its sign is always +1.
    """

    is_pooled: ClassVar[bool] = False

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        """Return the shape of the moments of one block: (k, k)."""
        k = Plan(n_x, n_y, n_blocks).moment_size
        return k, k

    def draw(
        self, plan: Plan, shape: tuple[int, ...], n_resamples: int, seed: int, n_threads: int | None = None
    ) -> SignDraws:
        """Return ``n_resamples`` random sign patterns for moments (s, k, k), or all patterns if they are no more."""
        n_strata, n_groups = shape[0], shape[-1] - (not plan.paired)
        n_patterns = 2 ** min(n_strata * n_groups, 63)
        exhaustive = n_patterns <= n_resamples + 1
        check_memory(n_resamples, n_strata * n_groups, min(n_resamples, n_patterns), exhaustive=exhaustive)
        if exhaustive:
            words, n_draws = all_signs(n_strata, n_groups), n_patterns
        else:
            words, n_draws = random_words(seed, n_strata, n_groups, n_resamples), n_resamples
        if not plan.paired:  # rows without a partner do not swap: their bits are 0
            words = np.pad(words, ((0, 0), (0, 1), (0, 0)))
        return SignDraws(words, n_draws, exhaustive, n_threads)

    def observed(self, moments: Array) -> float:
        """Return the value without swaps."""
        return float(moments.sum())

    def magnitude(self, moments: Array) -> float:
        """Return the sum of the absolute terms of the value."""
        return float(np.abs(moments).sum())

    def variance(self, moments: Array) -> float:
        """Return the variance over all sign patterns, ``2 sum C^2``."""
        return 2.0 * float(np.sum(moments**2))

    def third_cumulant(self, moments: Array) -> float:
        """Return the third cumulant over all sign patterns, ``8 tr C^3``."""
        return 8.0 * float(np.sum((moments @ moments) * moments))

    def n_effective_pairs(self, moments: Array) -> float:
        """Return ``(sum C^2)^2 / sum C^4`` over pairs: 1 for a single pair, a third of all pairs if C is normal."""
        squares = moments**2
        return 0.5 * float(squares.sum()) ** 2 / float(np.sum(squares**2))  # each pair is there twice


def check_memory(n_resamples: int, n_signs: int, n_draws: int, *, exhaustive: bool) -> None:
    """Raise unless ``n_draws`` draws of so many signs fit into memory; ``n_resamples`` were asked for."""
    # A bit for each sign, and a number for each draw, sorted in a copy; all patterns are made as whole numbers.
    needed = n_draws * (n_signs * (8 if exhaustive else 1) // 8 + 24)
    if needed > _SMALL and needed > free_bytes():
        raise ValueError(
            f"{n_resamples} sign flips need {amount(needed)} of memory, and {amount(free_bytes())} are free; take fewer"
        )


def random_words(seed: int, n_strata: int, n_groups: int, n_draws: int) -> Words:
    """Return random bits, bit r of the words of a group for draw r: (n_strata, n_groups, ceil(n_draws / 64)).

    A counter-based generator gives every stratum its own stretch of one stream, wherever it is computed.
    """
    n_words = -(-n_draws // 64)
    stream = np.random.Philox(key=np.random.SeedSequence([seed, 0x51617]).generate_state(2, np.uint64))
    return stream.random_raw(n_strata * n_groups * n_words).reshape(n_strata, n_groups, n_words)


def all_signs(n_strata: int, n_groups: int) -> Words:
    """Return every pattern of signs once, the observed one first: (n_strata, n_groups, words)."""
    n = n_strata * n_groups
    bits = (np.arange(2**n)[None, :] >> np.arange(n)[:, None]) & 1
    padded = np.pad(bits, ((0, 0), (0, -(2**n) % 64))).reshape(n, -1, 64).astype(np.uint64)
    words: Words = (padded << np.arange(64, dtype=np.uint64)).sum(axis=-1, dtype=np.uint64)
    return words.reshape(n_strata, n_groups, -1)


def unpack(words: Words, n_draws: int) -> Array:
    """Return the signs, -1 where the bit is set: (s, k, words) to (s, k, n_draws)."""
    bits = (words[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    return 1.0 - 2.0 * bits.reshape(*words.shape[:2], -1)[..., :n_draws].astype(np.float64)


def flip_plain(moments: Array, words: Words, n_draws: int) -> Array:
    """Return ``sum_f s_f' C_f s_f`` for each draw of signs, without diagonals: (s, k, k) and words to (n_draws,)."""
    total = np.zeros(n_draws)
    for matrix, word in zip(moments, words, strict=True):
        signs = unpack(word[None], n_draws)[0]
        total += np.einsum("ur,ur->r", signs, (matrix - np.diag(np.diag(matrix))) @ signs)
    return total


_SWAPS = SwapGroups()


@dataclass(frozen=True, slots=True)
class SharedDraws:
    """Signs of groups of all rows, the same in every stratum."""

    signs: SignDraws

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self.signs.n_draws

    @property
    def exhaustive(self) -> bool:
        """Whether the draws are all patterns of signs."""
        return self.signs.exhaustive

    def values(self, moments: Array) -> Array:
        """Return ``s'Cs`` for each draw s, C the sum over strata: moments (f, k, k) to (n_draws,)."""
        return self.signs.values(_joined(moments))


@dataclass(frozen=True, slots=True)
class SharedSwaps:
    """Swap x_a and y_a for all rows a of a group, wherever the rows are in a block.

    Groups are groups of all rows: row a of a sample belongs to group ``a mod k``. A row that is in several blocks is
    swapped in all of them. The moments of a block are a symmetric matrix C with zero diagonal, and the sum of the block
    values after a swap is a constant plus ``s'Cs``, C the sum over all blocks. For samples of one length.

    Attributes
    ----------
    most_groups : int
        Largest number of groups. Of 64, pairs inside a group, which no swap changes, are 1/64 of all.
    """

    most_groups: int = 64

    is_pooled: ClassVar[bool] = False

    def moment_shape(self, n_x: int, n_y: int, n_blocks: int) -> tuple[int, ...]:
        """Return the shape of the moments of one block: (k, k)."""
        k = min(self.most_groups, n_x, n_y)
        return k, k

    def draw(
        self, plan: Plan, shape: tuple[int, ...], n_resamples: int, seed: int, n_threads: int | None = None
    ) -> SharedDraws:
        """Return ``n_resamples`` random sign patterns for moments (s, k, k), or all patterns if they are no more."""
        return SharedDraws(_SWAPS.draw(plan, (1, *shape[1:]), n_resamples, seed, n_threads))

    def observed(self, moments: Array) -> float:
        """Return the value without swaps."""
        return _SWAPS.observed(moments)

    def magnitude(self, moments: Array) -> float:
        """Return the sum of the absolute terms of the value."""
        return _SWAPS.magnitude(moments)

    def variance(self, moments: Array) -> float:
        """Return the variance over all sign patterns, ``2 sum C^2``."""
        return _SWAPS.variance(_joined(moments))

    def third_cumulant(self, moments: Array) -> float:
        """Return the third cumulant over all sign patterns, ``8 tr C^3``."""
        return _SWAPS.third_cumulant(_joined(moments))

    def n_effective_pairs(self, moments: Array) -> float:
        """Return ``(sum C^2)^2 / sum C^4`` over pairs of groups."""
        return _SWAPS.n_effective_pairs(_joined(moments))


def _joined(moments: Array) -> Array:
    return np.asarray(moments.sum(axis=0, keepdims=True))
