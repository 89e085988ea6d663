"""Kernels: frozen dataclasses that map two stacks of points to Gram matrices.

A kernel is one module here, and one line below. Its properties are attributes (`btests.kernels.kernel`): no caller
compares classes. Kernels that are exported here and have ``is_serializable = True`` can be written to files.
"""

from btests.kernels.combination import Combination, OnColumns
from btests.kernels.distances import median_bandwidth
from btests.kernels.energy import Energy
from btests.kernels.kernel import Kernel, Properties, Radial, features_of, properties_of, summands_of, terms_of
from btests.kernels.pair import KernelPair
from btests.kernels.pairwise import Pairwise
from btests.kernels.polynomial import Linear, Polynomial
from btests.kernels.radial import Gaussian, InverseMultiquadric, Laplacian, Matern, RationalQuadratic

__all__ = [
    "Combination",
    "Energy",
    "Gaussian",
    "InverseMultiquadric",
    "Kernel",
    "KernelPair",
    "Laplacian",
    "Linear",
    "Matern",
    "OnColumns",
    "Pairwise",
    "Polynomial",
    "Properties",
    "Radial",
    "RationalQuadratic",
    "features_of",
    "median_bandwidth",
    "properties_of",
    "summands_of",
    "terms_of",
]
