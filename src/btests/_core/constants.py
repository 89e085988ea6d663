"""Constants of the compiled loops.

CMake reads the lines ``NAME = number`` of this file and writes them to ``constants.hpp``: each number is defined once.
"""

from __future__ import annotations

# Up to this many coordinates distances are sums of squared differences, without cancellation and with one pass per
# coordinate; of wider rows they are |x|^2 + |y|^2 - 2 x.y, one multiply-add per coordinate.
DIRECT_COORDINATES = 36

# Blocks of this many rows per sample or more are always computed in N_PARTS parts, in one call or in several, so that
# the sums are equal to the last bit for any number of threads.
LARGE_BLOCK = 1024
N_PARTS = 8

# Groups of rows of a block, at most, and the sums by group of a block: xx, yy, xy, and those of unpaired rows.
MAX_GROUPS = 32
N_GROUP_SUMS = 6

# Rows of a tuple of the HSIC, at most.
MAX_TUPLE = 8

# Rows of a matrix that sign flips act on, at most.
MAX_SIGNS = 64

# Bins of the shorter sample that have labels, at most, and one of its rows in no bin.
MAX_LABELS = 129

# Largest scaled distance at which the power series of powers.hpp replaces an exponential.
WIDE_REACH = 0.1875

# Functions of the distance: see shapes.hpp. The plural ones are families of bandwidths.
GAUSSIAN = 0
LAPLACIAN = 1
MATERN = 2
RATIONAL = 3
DISTANCE = 4
GAUSSIANS = 5
LAPLACIANS = 6

# Steps of the work on large blocks.
ALL_STEPS = 0
SUM_STEP = 1
CONCLUDE_STEP = 2

# Instruction sets, from the weakest on.
GENERIC = 0
AVX2 = 1
AVX512 = 2

#: Shapes of one radial term, and of a family of such terms.
SHAPES = {"gaussian": GAUSSIAN, "laplacian": LAPLACIAN, "matern": MATERN, "rational": RATIONAL, "distance": DISTANCE}
FAMILIES = {"gaussian": GAUSSIANS, "laplacian": LAPLACIANS}
INSTRUCTION_SETS = {"generic": GENERIC, "avx2": AVX2, "avx512": AVX512}
