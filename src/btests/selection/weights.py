"""Selection of a non-negative combination of kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from btests._text import brief
from btests._warnings import SelectionWarning, warn
from btests.data.sample import AnySample
from btests.kernels.kernel import require_positive
from btests.plan import Array
from btests.selection.families import AnyFamily, bandwidths, check_family, kernels_of, shown
from btests.selection.selector import Selection, Setting
from btests.selection.training import NO_DIFFERENCE, BlockStatistics, check_fraction, combine, gather, split, take_best

# Tolerance of the optimality conditions, on the scale where the diagonal and the largest mean are 1.
_TOLERANCE = 1e-8


def minimise(matrix: Array, means: Array) -> Array | None:
    r"""Return the w that minimises ``w' A w`` subject to ``eta' w = 1``, ``w >= 0``: (J, J) and (J,) to (J,).

    With ``A = R'R``, let u minimise ``|R u - R^-T eta|^2`` over u >= 0. Its conditions are ``A u - eta >= 0``, and
    ``= 0`` where u > 0; divided by ``eta' u`` they are those of the programme, with the multiplier ``1 / eta' u``. So
    ``w = u / eta' u``, computed by non-negative least squares (Lawson and Hanson, ``scipy.optimize.nnls``).

    Parameters
    ----------
    matrix : ndarray of shape (J, J)
        A, the paper's Q + regulariser: symmetric, positive semidefinite, with a positive diagonal.
    means : ndarray of shape (J,)
        eta.

    Returns
    -------
    ndarray of shape (J,) or None
        None if no mean is positive, so that the constraints are infeasible, and if the solver failed.
    """
    from scipy import optimize

    if not np.any(means > 0.0):
        return None
    # Scale to unit diagonal and means of at most 1. Neither changes which weights are 0.
    unit = 1.0 / np.sqrt(np.diagonal(matrix))
    scaled = matrix * unit[:, None] * unit
    eta = means * unit
    eta = eta / np.abs(eta).max()
    # By eigenvalues, not Cholesky: rounding gives a singular matrix negative eigenvalues.
    eigenvalues, vectors = np.linalg.eigh(scaled)
    roots = np.sqrt(np.maximum(eigenvalues, len(means) * np.finfo(np.float64).eps * eigenvalues[-1]))
    root = roots[:, None] * vectors.T
    try:
        u, _ = optimize.nnls(root, (vectors.T @ eta) / roots, maxiter=100 * len(means))
    except (RuntimeError, ValueError):  # too many steps; NaN
        return None
    gradient = root.T @ (root @ u) - eta
    size = max(1.0, float(u.max(initial=0.0)))
    if not (
        u @ eta > 0.0 and gradient.min() > -_TOLERANCE * size and abs(u @ gradient) <= _TOLERANCE * size * (u @ eta)
    ):
        return None
    return np.asarray(u * unit / (means @ (u * unit)))


# The paper's experiments drop smaller weights. Here they are compared after scaling kernels to one standard deviation,
# so that a useful kernel with large values, and hence a small weight, is kept.
_SMALLEST = 1e-7


@dataclass(frozen=True, slots=True)
class Weights:
    r"""Select the non-negative combination of kernels with the largest ratio of mean and standard deviation.

    On held-out rows it minimises ``w' (Q + regulariser I) w`` subject to ``eta' w = 1`` and ``w >= 0``, where eta holds
    the averages and Q the covariances of the block statistics, one per kernel (section 3 of the paper). Weights below
    1e-7, of kernels scaled to one standard deviation, are dropped, and the others sum to 1. The other rows are tested.
    A weight is not a share of the statistic: a kernel with small values may have a large weight and contribute little.
    With fewer blocks than kernels, Q is singular and the weights are arbitrary: use a smaller family, or ``MaxRatio``.

    If no kernel has a positive mean, the constraints are infeasible. Then the single kernel with the largest ratio is
    selected, as by ``MaxRatio``, with a ``SelectionWarning`` and a note in the result; likewise if the solver fails.
    The test is valid nevertheless, since its rows were held out; it has little power.

    Attributes
    ----------
    family : sequence of Kernel or MakesKernels
        Kernels, or a family that depends on the training rows, such as ``PerCoordinate()``.
    regulariser : float
        Added to the variances of the block statistics, as sums over the ``B (B - 1) / 2`` pairs of a block.
    fraction : float
        Share of the rows used for selection; they are not tested.
    ask_all : bool
        Whether to include kernels with fewer than five effective pairs of rows, as the paper does. Under the null
        hypothesis they are selected often, and have no power.

    See Also
    --------
    MaxRatio : a single kernel.
    Aggregate : all kernels on all rows.

    References
    ----------
    A. Gretton et al., "Optimal kernel choice for large-scale two-sample tests", NIPS 2012.

    Examples
    --------
    Which coordinate differs most? Here the second of three:

    >>> import numpy as np
    >>> from btests import PerCoordinate, Weights, btest
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2000, 3)), rng.normal(size=(2000, 3)) * [1.0, 2.0, 1.0]
    >>> result = btest(x, y, kernel=Weights(PerCoordinate()), seed=1)
    >>> max(result.candidates, key=lambda candidate: candidate.weight).kernel.columns
    (1,)
    """

    family: AnyFamily = field(default_factory=bandwidths)
    regulariser: float = 1e-3
    fraction: float = 0.5
    ask_all: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", check_family(self.family))
        require_positive("regulariser", self.regulariser)
        check_fraction(self.fraction)
        if not isinstance(self.ask_all, bool):
            raise TypeError(f"ask_all must be True or False, got {brief(self.ask_all)}")

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the combination and the test rows."""
        parts = split(x, y, self.fraction, setting)
        kernels = kernels_of(self.family, parts.choice_x, parts.choice_y)
        statistics = gather(kernels, parts.choice_x, parts.choice_y, setting, ask_all=self.ask_all)
        ratios, weights = statistics.ratios(self.regulariser), best_weights(statistics, self.regulariser)
        if weights is not None:
            return combine(kernels, ratios, weights, parts)
        reason = "the weights could not be found" if np.any(ratios > 0.0) else NO_DIFFERENCE
        note = f"{reason}; taking the one of the largest ratio of mean and standard deviation"
        slack = statistics.slack(self.regulariser)
        if statistics.is_nonzero.any():  # otherwise take_best issues its own warning
            warn(note, SelectionWarning)
        return take_best(kernels, ratios, statistics.is_nonzero, parts, note=note, slack=slack)

    def __repr__(self) -> str:
        more = ", ask_all=True" if self.ask_all else ""
        return f"Weights({shown(self.family)}, regulariser={self.regulariser:g}, fraction={self.fraction:g}{more})"


def best_weights(statistics: BlockStatistics, regulariser: float) -> Array | None:
    """Return weights (J,) that sum to 1, or None if there is no solution."""
    # In units of each kernel's standard deviation: the same programme, well-scaled for kernels of any size.
    # Without kernels that are 0 or constant: with many of them the solver has failed to converge.
    nonzero = np.flatnonzero(statistics.is_nonzero)
    found = minimise(
        statistics.correlations(regulariser)[np.ix_(nonzero, nonzero)], statistics.ratios(regulariser)[nonzero]
    )
    if found is None:
        return None
    solution = np.zeros(len(statistics.values))
    solution[nonzero] = found
    solution = np.where(solution < _SMALLEST * solution.sum(), 0.0, solution)
    spreads = statistics.spreads(regulariser)
    weights = solution / (spreads / spreads.min())
    return np.asarray(weights / weights.sum())
