"""Kernels: one small frozen object each, all of them callables from two stacks of points to Gram matrices."""

from btests.kernels.bandwidth import median_bandwidth
from btests.kernels.columns import OnColumns
from btests.kernels.combination import Combination
from btests.kernels.energy import Energy
from btests.kernels.gaussian import Gaussian
from btests.kernels.laplacian import Laplacian
from btests.kernels.matern import Matern
from btests.kernels.pairwise import Pairwise
from btests.kernels.polynomial import Linear, Polynomial
from btests.kernels.protocol import HasTerms, Kernel, Radial
from btests.kernels.rational_quadratic import InverseMultiquadric, RationalQuadratic

__all__ = [
    "Combination",
    "Energy",
    "Gaussian",
    "HasTerms",
    "InverseMultiquadric",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "OnColumns",
    "Pairwise",
    "Polynomial",
    "Radial",
    "RationalQuadratic",
    "median_bandwidth",
]
