"""The tests of the study: this package, the families its default might have, and other tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from btests.api import btest
from btests.kernels import Energy, Laplacian
from btests.plan import Array
from btests.selection import Aggregate, JoinedFamily, MedianFamily, default_aggregate, default_family, fisher_family
from btests.selection.families import AnyFamily
from studies.compression import LEVEL, actt, ctt
from studies.power import peers

#: The groups of tests, each with tables of its own.
GROUPS = ("peers", "families", "fisher")


@dataclass(frozen=True, slots=True)
class Method:
    """A two-sample test at level .05.

    Attributes
    ----------
    name : str
        Name in the tables.
    test : callable
        From samples (n, d), (m, d) and a seed to a p-value, or to whether it rejects.
    package : str
        The package it needs beside this one; empty for none.
    unusable : str
        Reason why it cannot be built; empty for none.
    """

    name: str
    test: Callable[[Array, Array, int], float | bool]
    package: str = ""
    unusable: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it is a test of this package."""
        return self.test.__module__ == __name__

    @property
    def missing(self) -> str:
        """Reason why it does not run; empty where it does."""
        if self.package and find_spec(self.package) is None:
            return f"{self.package} is not installed"
        return self.unusable

    def rejects(self, x: Array, y: Array, seed: int) -> bool:
        """Return whether the test rejects at level .05."""
        found = self.test(x, y, seed)
        return found if isinstance(found, bool) else found <= LEVEL


@dataclass(frozen=True, slots=True)
class Variant:
    """A family of kernels and a correction that the default might have, tested in one block of all rows."""

    name: str
    families: tuple[AnyFamily, ...]
    correction: str = "max"
    weights: tuple[float, ...] | None = None

    def method(self) -> Method:
        """Return the variant as a test; unusable where this version of the package does not have its correction."""
        correction: Any = self.correction
        family = self.families[0] if len(self.families) == 1 else JoinedFamily(self.families)
        try:
            kernel = Aggregate(family, correction, self.weights)
        except ValueError as error:
            return Method(self.name, default, unusable=str(error))
        return Method(self.name, _in_one_block(kernel))


def default(x: Array, y: Array, seed: int) -> float:
    """Return the p-value of ``btest(x, y)``."""
    return btest(x, y, seed=seed, n_threads=1).pvalue


def small_blocks(x: Array, y: Array, seed: int) -> float:
    """Return the p-value of the default of version 0.1: blocks of sqrt(n) rows, eleven Gaussians."""
    size = max(round(math.sqrt(min(len(x), len(y)))), 2)
    return btest(x, y, kernel=Aggregate(MedianFamily(), "max"), block_size=size, seed=seed, n_threads=1).pvalue


def _in_one_block(kernel: Aggregate) -> Callable[[Array, Array, int], float]:
    def test(x: Array, y: Array, seed: int) -> float:
        return btest(x, y, kernel=kernel, block_size=min(len(x), len(y)), seed=seed, n_threads=1).pvalue

    return test


_GAUSSIANS = MedianFamily()
_FEWER = MedianFamily(tuple(2.0**p for p in range(-3, 4)))
_LAPLACIANS = MedianFamily(make=Laplacian)
_ENERGY = (Energy(),)

# Gaussians from 1/32 of the median bandwidth to twice (or four times) it, and a few Laplacians, whose city-block
# distances are the larger the more columns there are.
_NARROW = MedianFamily(tuple(2.0**p for p in range(-5, 2)))
_NARROW_TO_4 = MedianFamily(tuple(2.0**p for p in range(-5, 3)))
_THREE = MedianFamily((0.5, 2.0, 8.0), Laplacian)
_FIVE = MedianFamily((0.5, 1.0, 2.0, 4.0, 8.0), Laplacian)

# Doublings from the median bandwidth, and weights that fall with them: none, by half each, the same but not below 1/8,
# and as 1 / (1 + k).
_DOUBLINGS = tuple(abs(p) for p in range(-5, 6))
_EVEN = (1.0,) * 11
_HALVES = tuple(2.0**-k for k in _DOUBLINGS)
_FLOOR = tuple(max(2.0**-k, 0.125) for k in _DOUBLINGS)
_INVERSE = tuple(1.0 / (1.0 + k) for k in _DOUBLINGS)

#: What the default might be: an entry a line.
VARIANTS = (
    Variant("11 G, max", (_GAUSSIANS,)),
    Variant("11 G, soft", (_GAUSSIANS,), "soft"),
    Variant("11 G, rank", (_GAUSSIANS,), "rank"),
    Variant("11 G, p even", (_GAUSSIANS,), "pvalue", _EVEN),
    Variant("11 G, p halves", (_GAUSSIANS,), "pvalue", _HALVES),
    Variant("11 G, p floor", (_GAUSSIANS,), "pvalue", _FLOOR),
    Variant("11 G, p inverse", (_GAUSSIANS,), "pvalue", _INVERSE),
    Variant("7 G, max", (_FEWER,)),
    Variant("11 G + E, max", (_GAUSSIANS, _ENERGY)),
    Variant("11 G + 11 L, max", (_GAUSSIANS, _LAPLACIANS)),
    Variant("11 G + 11 L + E, max", (_GAUSSIANS, _LAPLACIANS, _ENERGY)),
    Variant("11 G + 11 L + E, soft", (_GAUSSIANS, _LAPLACIANS, _ENERGY), "soft"),
    Variant("11 G + 11 L + E, p floor", (_GAUSSIANS, _LAPLACIANS, _ENERGY), "pvalue", (*_FLOOR, *_FLOOR, 1.0)),
    Variant("7 N, max", (_NARROW,)),
    Variant("7 N + 3 L, max", (_NARROW, _THREE)),
    Variant("7 N + 5 L, max", (_NARROW, _FIVE)),
    Variant("8 N + 3 L, max", (_NARROW_TO_4, _THREE)),
    Variant("7 N + 3 L, p even", (_NARROW, _THREE), "pvalue", (1.0,) * 10),
)

#: Name of the default in the tables.
DEFAULT = "default"

#: This package, and other tests.
PEERS = (
    Method(DEFAULT, default),
    Method("B = sqrt(n)", small_blocks),
    Method("MMDAgg", peers.mmdagg),
    Method("MMD-FUSE", peers.mmd_fuse),
    Method("MMD, median", peers.mmd_median),
    Method("energy", peers.energy),
    Method("hyppo MMD", peers.hyppo_mmd, "hyppo"),
    Method("CTT", ctt, "goodpoints"),
    Method("ACTT", actt, "goodpoints"),
    Method("forest", peers.forest, "sklearn"),
    Method("logistic", peers.logistic, "sklearn"),
)


#: The default before and with the kernel Fisher discriminants, and these alone.
FISHER = (
    Method("MMD", _in_one_block(Aggregate(default_family()))),
    Method("MMD + Fisher", _in_one_block(default_aggregate())),
    Method("Fisher", _in_one_block(Aggregate(fisher_family()))),
)


def methods(group: str, only: Sequence[str] = ()) -> tuple[Method, ...]:
    """Return the tests of one of GROUPS, or ``only`` those of these names, also those that cannot run here."""
    found = {"peers": PEERS, "fisher": FISHER}.get(group) or tuple(variant.method() for variant in VARIANTS)
    return tuple(method for method in found if not only or method.name in only)
