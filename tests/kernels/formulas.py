"""Every kernel beside a formula of two single points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from btests import (
    Energy,
    Gaussian,
    InverseMultiquadric,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
)
from tests.reference import Scalar

Point = Sequence[float]


def _square(a: Point, b: Point) -> float:
    return math.dist(a, b) ** 2


def _dot(a: Point, b: Point) -> float:
    return math.fsum(p * q for p, q in zip(a, b, strict=True))


def _city(a: Point, b: Point) -> float:
    return math.fsum(abs(p - q) for p, q in zip(a, b, strict=True))


def _matern(s: float, nu: float) -> float:
    return {0.5: 1.0, 1.5: 1.0 + s, 2.5: 1.0 + s + s * s / 3.0}[nu] * math.exp(-s)


class Case(NamedTuple):
    """A kernel and the same kernel of two points."""

    kernel: Kernel
    formula: Scalar


def radial(width: float) -> list[Case]:
    """Return the kernels that the compiled loops know, as wide as ``width``."""
    return [
        Case(Gaussian(width), lambda a, b: math.exp(-_square(a, b) / (2.0 * width**2))),
        Case(Laplacian(width), lambda a, b: math.exp(-_city(a, b) / width)),
        Case(Matern(width, 0.5), lambda a, b: _matern(math.dist(a, b) / width, 0.5)),
        Case(Matern(width), lambda a, b: _matern(math.sqrt(3.0) * math.dist(a, b) / width, 1.5)),
        Case(Matern(width, 2.5), lambda a, b: _matern(math.sqrt(5.0) * math.dist(a, b) / width, 2.5)),
        Case(RationalQuadratic(width, 0.5), lambda a, b: (1.0 + _square(a, b) / width**2) ** -0.5),
        Case(RationalQuadratic(width), lambda a, b: 1.0 / (1.0 + _square(a, b) / (2.0 * width**2))),
        Case(RationalQuadratic(width, 1.5), lambda a, b: (1.0 + _square(a, b) / (3.0 * width**2)) ** -1.5),
        Case(RationalQuadratic(width, 2.0), lambda a, b: (1.0 + _square(a, b) / (4.0 * width**2)) ** -2.0),
        Case(InverseMultiquadric(width), lambda a, b: (1.0 + _square(a, b) / width**2) ** -0.5),
        Case(Energy(), lambda a, b: -math.dist(a, b)),
        Case(
            Gaussian(width) + 2.0 * Laplacian(3.0 * width),
            lambda a, b: math.exp(-_square(a, b) / (2.0 * width**2)) + 2.0 * math.exp(-_city(a, b) / (3.0 * width)),
        ),
    ]


def plain(width: float) -> list[Case]:
    """Return the kernels that only the plain path knows."""
    return [
        Case(RationalQuadratic(width, 0.7), lambda a, b: (1.0 + _square(a, b) / (1.4 * width**2)) ** -0.7),
        Case(Energy(0.5), lambda a, b: -math.sqrt(math.dist(a, b))),
        Case(Energy(1.5), lambda a, b: -(math.dist(a, b) ** 1.5)),
        Case(Linear(), _dot),
        Case(Polynomial(), lambda a, b: (_dot(a, b) + 1.0) ** 2),
        Case(Polynomial(3, 0.5, 2.0), lambda a, b: (2.0 * _dot(a, b) + 0.5) ** 3),
        Case(0.5 * Linear() + Gaussian(width), lambda a, b: 0.5 * _dot(a, b) + math.exp(-_square(a, b) / 2 / width**2)),
    ]
