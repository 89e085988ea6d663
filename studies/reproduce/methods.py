"""The tests of Table 1, those that the paper has and those that it lacks."""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from btests._warnings import BTestWarning
from btests.api import btest
from btests.kernels import Gaussian, Kernel
from btests.nulls import (
    CrossMMD,
    Gamma,
    Normal,
    Null,
    Pearson,
    Permutation,
    SignFlip,
    Spectrum,
    ThirdCumulant,
)
from btests.plan import Array
from btests.selection import Aggregate, MedianFamily, MedianHeuristic, Selector, Weights
from studies.reproduce.published import SAMPLES, SECONDS
from studies.reproduce.trials import LEVEL, draw

#: The paper's "sigma = 1" as its experiments had it, and as it is written.
PUBLISHED, LITERAL = Gaussian(2.0), Gaussian(1.0)
MEDIAN = MedianHeuristic(n_rows=50)

Size = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Method:
    """A test with its block size.

    Attributes
    ----------
    key
        For files and seeds.
    name, kernel_name, size_name
        For tables.
    kernel, null
        What ``btest`` is called with.
    size
        From the number of rows to the block size.
    rate
        Milliseconds of a trial: a constant, and that much for each row, and for each pair of rows.
    """

    key: str
    name: str
    kernel_name: str
    size_name: str
    kernel: Kernel | Selector | Aggregate
    null: Null
    size: Size
    rate: tuple[float, float, float]

    @property
    def published(self) -> int | None:
        """The number of samples that the paper gives."""
        return SAMPLES.get(self.key.removeprefix("literal-"))

    @property
    def published_seconds(self) -> float | None:
        """The seconds that the paper gives."""
        return SECONDS.get(self.key)

    def cost(self, n: int) -> float:
        """Return the seconds of a trial, roughly."""
        fixed, row, pair = self.rate
        return 1e-3 * (fixed + row * n + pair * n * n)

    def pvalue(self, x: Array, y: Array, seed: int) -> float:
        """Return the p-value for two samples in random order."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BTestWarning)
            return btest(
                x, y, kernel=self.kernel, null=self.null, block_size=self.size(len(x)), seed=seed, shuffle=False
            ).pvalue

    def rejections(self, n: int, seed: int, first: int, last: int, *, is_null: bool) -> int:
        """Return how many of the trials ``first .. last - 1`` reject."""
        salt = zlib.crc32(self.key.encode())
        return sum(
            self.pvalue(*draw(n, (seed, 1, salt, n, int(is_null), trial), is_null=is_null), trial) <= LEVEL
            for trial in range(first, last)
        )


def _two(n: int) -> int:
    return 2


def _eight(n: int) -> int:
    return 8


def _half_root(n: int) -> int:
    return math.isqrt(n // 2)


def _all(n: int) -> int:
    return n


_BLOCKS: tuple[tuple[str, str, Size, float], ...] = (
    ("b2", "2", _two, 1e-4),
    ("b8", "8", _eight, 1.1e-4),
    ("sqrt", "sqrt(n)", math.isqrt, 2e-4),
)
_WHOLE: tuple[tuple[str, str, Null, tuple[float, float, float]], ...] = (
    ("pearson", "Pearson curves", Pearson("bound"), (1.0, 0.0, 8e-5)),
    ("gamma", "Gamma approximation", Gamma(), (0.9, 0.0, 2.3e-5)),
    ("spectrum", "Gram matrix spectrum", Spectrum(500, corrected=False), (2.0, 0.0, 2.5e-4)),
    ("bootstrap", "Bootstrap", Permutation(1000), (2.0, 0.05, 1.3e-4)),
)


def _single(prefix: str, kernel: Kernel, label: str) -> list[Method]:
    blocks = [
        Method(prefix + key, "B-test", label, f"B = {text}", kernel, Normal(), size, (0.4, rate, 0.0))
        for key, text, size, rate in _BLOCKS
    ]
    return blocks + [
        Method(prefix + key, name, label, "B = n", kernel, null, _all, rate) for key, name, null, rate in _WHOLE
    ]


def _multiple() -> list[Method]:
    sizes = (("b2", "2", _two), ("b8", "8", _eight), ("sqrt", "sqrt(n/2)", _half_root))
    return [
        Method(
            f"multiple-{key}",
            "B-test",
            "multiple kernels",
            f"B = {text}",
            Weights(ask_all=True),
            Normal(),
            size,
            (4, 4e-4, 0),
        )
        for key, text, size in sizes
    ]


def _medians() -> list[Method]:
    blocks = [
        Method(f"median-{key}", "B-test", "median", f"B = {text}", MEDIAN, Normal(), size, (0.6, 2 * rate, 0.0))
        for key, text, size, rate in _BLOCKS
    ]
    whole = [
        Method(f"median-{key}", name, "median", "B = n", MEDIAN, null, _all, rate) for key, name, null, rate in _WHOLE
    ]
    flips = Method("median-flips", "Sign flips", "median", "B = n", MEDIAN, SignFlip(999), _all, (1.0, 1e-3, 1.5e-6))
    return [*blocks, *whole, flips]


def _beyond() -> list[Method]:
    label, root = "sigma = 1 (bandwidth 2)", "B = sqrt(n)"
    nulls: tuple[tuple[str, str, Null, float], ...] = (
        ("cross", "CrossMMD()", CrossMMD(), 0.4),
        ("cumulant", "ThirdCumulant()", ThirdCumulant(), 0.5),
        ("flips", "SignFlip()", SignFlip(), 1.5),
    )
    tests = [
        Method(key, name, label, root, PUBLISHED, null, math.isqrt, (ms, 1e-3, 0)) for key, name, null, ms in nulls
    ]
    families = (
        ("aggregate", "26 bandwidths", Aggregate()),
        ("default", "11 around the median", Aggregate(MedianFamily())),
    )
    tests += [
        Method(key, "Aggregate", text, root, family, SignFlip(), math.isqrt, (3.0, 5e-3, 0.0))
        for key, text, family in families
    ]
    return [
        *tests,
        Method("whole-flips", "SignFlip()", label, "B = n", PUBLISHED, SignFlip(), _all, (0.8, 1e-3, 1.5e-6)),
    ]


_ORDER = (
    "b2",
    "b8",
    "sqrt",
    "multiple-b2",
    "multiple-b8",
    "multiple-sqrt",
    "pearson",
    "gamma",
    "spectrum",
    "bootstrap",
)

#: The rows of the paper's table whose sample size is searched for, in its order.
PAPER = sorted(_single("", PUBLISHED, "sigma = 1 (bandwidth 2)") + _multiple(), key=lambda m: _ORDER.index(m.key))
#: The same with sigma = 1 taken at its word.
TAKEN_LITERALLY = _single("literal-", LITERAL, "sigma = 1 taken literally")
#: Rows that the paper lacks.
BEYOND = _beyond()
#: The median bandwidth: no search, for no affordable number of samples is enough.
MEDIANS = _medians()

BY_KEY = {method.key: method for method in (*PAPER, *TAKEN_LITERALLY, *BEYOND, *MEDIANS)}
