"""One full test with a p-value by each package, all with a Gaussian kernel of the same bandwidth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from btests import Gaussian, btest
from btests.plan import Array

#: Takes two samples and a number of permutations, returns a p-value.
Method = Callable[[Array, Array, int], float]

BANDWIDTH = 2.0
_GAMMA = 1.0 / (2.0 * BANDWIDTH**2)

# Columns of indicators that are multiplied at once: their memory stays small beside the Gram matrix.
_AT_ONCE = 250


class NotInstalled(Exception):  # noqa: N818 - a fact about the machine, not an error
    """A peer is not there; the message says how to get it."""

    def __init__(self, advice: str = "pip install btests[peers]") -> None:
        super().__init__(f"not installed: {advice}")


def btests_with(block_size: Callable[[int], int]) -> Method:
    """Return the test of this package with blocks of ``block_size(n)``, its default null and its default threads."""

    def run(x: Array, y: Array, permutations: int) -> float:
        return btest(x, y, kernel=Gaussian(BANDWIDTH), block_size=block_size(len(x)), seed=1).pvalue

    return run


def numpy_products(x: Array, y: Array, permutations: int) -> float:
    """Permutation test from one Gram matrix, permutations as columns of indicators in a matrix product.

    The fastest way known to us to run a quadratic test with permutations in plain numpy.
    """
    n, pooled = len(x), np.concatenate([x, y])
    squares = np.einsum("ij,ij->i", pooled, pooled)
    gram = pooled @ pooled.T
    gram *= 2.0 * _GAMMA
    gram -= _GAMMA * squares
    gram -= _GAMMA * squares[:, None]
    np.exp(gram, out=gram)
    np.fill_diagonal(gram, 0.0)
    rows = gram.sum(axis=0)
    rng = np.random.default_rng(1)

    def estimates(columns: Array) -> Array:
        xx = np.einsum("ij,ij->j", columns, gram @ columns)
        xy = rows @ columns - xx
        yy = rows.sum() - xx - 2.0 * xy
        m = len(pooled) - n
        return np.asarray(xx / (n * (n - 1)) + yy / (m * (m - 1)) - 2.0 * xy / (n * m))

    indicators = np.zeros((len(pooled), 1))
    indicators[:n] = 1.0
    observed = estimates(indicators)[0]
    beyond = 0
    for first in range(0, permutations, _AT_ONCE):
        columns = np.repeat(indicators, min(_AT_ONCE, permutations - first), axis=1)
        beyond += int(np.sum(estimates(rng.permuted(columns, axis=0)) >= observed))
    return (1 + beyond) / (1 + permutations)


def scikit_learn(x: Array, y: Array, permutations: int) -> float:
    """Permutation test as it is commonly written: scikit-learn's Gram matrix, indexed anew by each permutation."""
    try:
        from sklearn.metrics.pairwise import rbf_kernel
    except ImportError:
        raise NotInstalled from None
    n, pooled = len(x), np.concatenate([x, y])
    gram = rbf_kernel(pooled, gamma=_GAMMA)

    def estimate(k: Array) -> float:
        xx, yy, xy = k[:n, :n], k[n:, n:], k[:n, n:]
        m = len(yy)
        within = (xx.sum() - np.trace(xx)) / (n * (n - 1)) + (yy.sum() - np.trace(yy)) / (m * (m - 1))
        return float(within - 2.0 * xy.mean())

    rng = np.random.default_rng(1)
    observed = estimate(gram)
    beyond = 0
    for _ in range(permutations):
        order = rng.permutation(len(pooled))
        beyond += estimate(gram[np.ix_(order, order)]) >= observed
    return (1 + beyond) / (1 + permutations)


def hyppo(x: Array, y: Array, permutations: int) -> float:
    """Return the p-value of hyppo's MMD with its chi-squared shortcut, which needs no permutations."""
    try:
        from hyppo.ksample import MMD
    except ImportError:
        raise NotInstalled from None
    return float(MMD(compute_kernel="gaussian", gamma=_GAMMA).test(x, y, auto=True)[1])


def alibi_detect(x: Array, y: Array, permutations: int) -> float:
    """Return the p-value of alibi-detect's MMDDrift, with the first of its backends that is there."""
    try:
        from alibi_detect.cd import MMDDrift
    except ImportError:
        raise NotInstalled from None
    options = {"sigma": np.array([BANDWIDTH]), "configure_kernel_from_x_ref": False, "n_permutations": permutations}
    for backend in ("pytorch", "tensorflow"):
        try:
            detector = MMDDrift(x.astype(np.float32), backend=backend, **options)
        except ImportError:
            continue
        return float(detector.predict(y.astype(np.float32))["data"]["p_val"])
    raise NotInstalled("alibi-detect is there, but none of its backends: pip install torch")


#: Name, method, and the fewest permutations worth timing: 0 where it draws none, many where they cost little.
METHODS: dict[str, tuple[Method, int]] = {
    "btests, B = 2": (btests_with(lambda n: 2), 0),
    "btests, B = 8": (btests_with(lambda n: 8), 0),
    "btests, B = sqrt(n)": (btests_with(math.isqrt), 0),
    "btests, B = n": (btests_with(lambda n: n), 0),
    "numpy, permutations as one product": (numpy_products, 1000),
    "hyppo MMD, chi-squared shortcut": (hyppo, 0),
    "scikit-learn kernel, permutations": (scikit_learn, 1),
    "alibi-detect MMDDrift, permutations": (alibi_detect, 1),
}
