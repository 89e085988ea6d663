"""The best non-negative combination of kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from btests._warnings import SelectionWarning, warn
from btests.data.sample import AnySample
from btests.kernels.kernel import require_positive
from btests.plan import Array
from btests.selection.bandwidth_families import bandwidths
from btests.selection.block_statistics import Evidence, gather
from btests.selection.family import AnyFamily, check_family, kernels_of, shown
from btests.selection.selector import Selection, Setting
from btests.selection.train_test_split import NO_DIFFERENCE, check_fraction, combine, split, take_best

# What the solution may miss its own conditions by, on the scale where diagonal and largest mean are 1.
_TOLERANCE = 1e-8


def minimise(matrix: Array, means: Array) -> Array | None:
    r"""Return the w that minimises ``w' A w`` subject to ``eta' w = 1``, ``w >= 0``: (J, J) and (J,) to (J,).

    With ``A = R'R``, let u minimise ``|R u - R^-T eta|^2`` over u >= 0. Its conditions are ``A u - eta >= 0``, and
    ``= 0`` where u > 0; divided by ``eta' u`` they are those of the programme, with the multiplier ``1 / eta' u``. So
    ``w = u / eta' u``, and non-negative least squares (Lawson and Hanson, by way of scipy), which ends after finitely
    many exact steps, does all the work.

    Parameters
    ----------
    matrix
        Symmetric, positive semidefinite, with a positive diagonal: A, the paper's Q + regulariser.
    means
        eta.

    Returns
    -------
    Array or None
        None where no mean is positive, so that nothing satisfies the constraints, and where the solver failed.
    """
    from scipy import optimize

    if not np.any(means > 0.0):
        return None
    # Of any scale: unit diagonal, and means of at most 1. Neither changes which weights are 0.
    unit = 1.0 / np.sqrt(np.diagonal(matrix))
    scaled = matrix * unit[:, None] * unit
    eta = means * unit
    eta = eta / np.abs(eta).max()
    # By eigenvalues, not Cholesky: rounding leaves a singular matrix with some that are negative.
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


# The paper's experiments drop smaller weights. Here those of kernels brought to one spread, so that a useful kernel of
# large values, whose weight must be small, is not lost to one of small values.
_SMALLEST = 1e-7


@dataclass(frozen=True, slots=True)
class Weights:
    r"""The non-negative combination of kernels with the largest ratio of mean and standard deviation.

    On some of the rows it minimises ``w' (Q + regulariser I) w`` subject to ``eta' w = 1`` and ``w >= 0``. There eta
    holds the averages and Q the covariances of the block statistics, one per kernel (section 3 of the paper). Weights
    below 1e-7, of kernels brought to one spread, are dropped, and the others sum to 1. The other rows are tested.
    A weight is not a share of the statistic: a kernel of small values may have a large weight and add little. With
    fewer blocks to learn from than kernels, Q is singular and the weights follow chance: take a smaller family, or
    ``MaxRatio``.

    Where no kernel has a positive mean, nothing satisfies the constraints: then the answer is the one kernel of the
    largest ratio, as ``MaxRatio`` has it, with a ``SelectionWarning`` and a note in the result. The same if the solver
    should fail. Such a test is valid all the same, for its rows were not seen; it will seldom find a difference.

    Attributes
    ----------
    family
        A list of kernels, or what makes one of the rows that the choice is made on, such as ``PerCoordinate()``.
    regulariser
        Added to the variances of the block statistics, as sums over the ``B (B - 1) / 2`` pairs of a block.
    fraction
        Share of the rows that the choice is made on, and that are not tested.
    ask_all
        Ask also kernels that see fewer than five pairs of rows, as the paper does; under the null hypothesis they are
        taken often, and find nothing.

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
            raise TypeError(f"ask_all must be True or False, got {self.ask_all!r}")

    def select(self, x: AnySample, y: AnySample, setting: Setting) -> Selection:
        """Return the combination and the rows to test with it."""
        parts = split(x, y, self.fraction, setting)
        kernels = kernels_of(self.family, parts.choice_x, parts.choice_y)
        evidence = gather(kernels, parts.choice_x, parts.choice_y, setting, ask_all=self.ask_all)
        ratios, weights = evidence.ratios(self.regulariser), best_weights(evidence, self.regulariser)
        if weights is not None:
            return combine(kernels, ratios, weights, parts)
        reason = "the weights could not be found" if np.any(ratios > 0.0) else NO_DIFFERENCE
        note = f"{reason}; taking the one of the largest ratio of mean and standard deviation"
        slack = evidence.slack(self.regulariser)
        if evidence.is_alive.any():  # else take_best warns of something worse
            warn(note, SelectionWarning)
        return take_best(kernels, ratios, evidence.is_alive, parts, note=note, slack=slack)

    def __repr__(self) -> str:
        more = ", ask_all=True" if self.ask_all else ""
        return f"Weights({shown(self.family)}, regulariser={self.regulariser:g}, fraction={self.fraction:g}{more})"


def best_weights(evidence: Evidence, regulariser: float) -> Array | None:
    """Return weights (J,) that sum to 1, or None where there are none."""
    # In units of each kernel's spread: the same programme, and a matrix that no scale of a kernel can spoil.
    # Without the kernels that see nothing: among many of them the solver has gone astray.
    alive = np.flatnonzero(evidence.is_alive)
    found = minimise(evidence.correlations(regulariser)[np.ix_(alive, alive)], evidence.ratios(regulariser)[alive])
    if found is None:
        return None
    solution = np.zeros(len(evidence.values))
    solution[alive] = found
    solution = np.where(solution < _SMALLEST * solution.sum(), 0.0, solution)
    spreads = evidence.spreads(regulariser)
    weights = solution / (spreads / spreads.min())
    return np.asarray(weights / weights.sum())
