"""The quadratic programme behind a combination of kernels."""

from __future__ import annotations

import numpy as np

from btests.plan import Array

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
