"""Other two-sample tests at level .05, in numpy from their published descriptions or by the packages that have them.

Every function takes samples (n, d) and (m, d) and a seed, and returns a p-value; ``mmdagg``,
which has none, returns whether it rejects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.special import logsumexp

from btests.plan import Array
from studies.compression import LEVEL, median_distance
from studies.power.permutations import Subsets, mmd_values, permutation_pvalue, random_subsets

# Permutations of a test with one kernel, and of MMD-FUSE, whose Gram matrices are twenty.
_PERMUTATIONS = 499
_FUSED_PERMUTATIONS = 199

# Of MMDAgg: draws for the quantiles, draws for the correction, and steps of the bisection.
_DRAWS = (300, 300)
_STEPS = 50

#: Bandwidths of each shape in MMDAgg and MMD-FUSE.
N_BANDWIDTHS = 10


def energy(x: Array, y: Array, seed: int) -> float:
    """Return the permutation p-value of the energy distance (Szekely and Rizzo 2004)."""
    pooled = np.concatenate([x, y])
    subsets = _subsets(x, y, _PERMUTATIONS, seed)
    return permutation_pvalue(mmd_values(-squareform(pdist(pooled)), subsets, unbiased=False))


def mmd_median(x: Array, y: Array, seed: int) -> float:
    """Return the permutation p-value of the unbiased MMD, Gaussian kernel, median bandwidth (Gretton et al. 2012)."""
    squares = pdist(np.concatenate([x, y]), "sqeuclidean")
    gram = squareform(np.exp(squares / -median_distance(squares)))  # its diagonal is zero
    return permutation_pvalue(mmd_values(gram, _subsets(x, y, _PERMUTATIONS, seed)))


def mmd_fuse(x: Array, y: Array, seed: int) -> float:
    """Return the p-value of MMD-FUSE (Biggs, Schrab and Gretton 2023): soft maximum of normalised MMDs, permutations.

    Gaussian and Laplacian kernels, ten bandwidths each, evenly spaced from half of the 5 % quantile of the pooled
    distances to twice their 95 % quantile. The normalisation is the root mean square of the pooled Gram matrix.
    """
    n = min(len(x), len(y))
    subsets = _subsets(x, y, _FUSED_PERMUTATIONS, seed)
    root = math.sqrt(n * (n - 1))
    values = []
    for gram in _grams(np.concatenate([x, y]), np.linspace, (0.5, math.sqrt(2.0))):
        norm = math.sqrt(np.vdot(gram, gram) / (n * (n - 1)))
        values.append(mmd_values(gram, subsets) / norm)
    return permutation_pvalue(logsumexp(root * np.array(values), axis=0) / root)


def mmdagg(x: Array, y: Array, seed: int) -> bool:
    """Return whether MMDAgg rejects (Schrab et al. 2023): uniform weights, corrected quantiles.

    Gaussian and Laplacian kernels, ten bandwidths each in geometric progression from half of the 5 % quantile of the
    pooled distances to twice their 95 % quantile. Wild bootstrap for samples of one length, else permutations.
    """
    rng = np.random.default_rng(seed)
    pooled, n = np.concatenate([x, y]), len(x)
    grams = _grams(pooled, np.geomspace, (1.0, 1.0))
    if n == len(y):
        signs = rng.choice([-1.0, 1.0], size=(n, 1 + sum(_DRAWS)))
        signs[:, 0] = 1.0
        values = np.array([_flipped(gram, signs) for gram in grams])
    else:
        subsets = _subsets(x, y, sum(_DRAWS), seed)
        values = np.array([mmd_values(gram, subsets) for gram in grams])
    # Observed value and first draws: quantiles; last draws: correction.
    return aggregate(values[:, : 1 + _DRAWS[0]], values[:, 1 + _DRAWS[0] :])


def aggregate(values: Array, others: Array, level: float = LEVEL, steps: int = _STEPS) -> bool:
    """Return whether any kernel exceeds its quantile, corrected so that few of the draws ``others`` have one that does.

    Parameters
    ----------
    values : array (kernels, 1 + draws)
        Observed statistics in the first column, statistics under the null hypothesis in the others.
    others : array (kernels, draws)
        Further statistics under the null hypothesis.
    level : float
        Level of the test.
    steps : int
        Steps of the bisection for the correction.
    """
    n_kernels, n_values = values.shape
    ordered = np.sort(values, axis=1)

    def quantiles(u: float) -> Array:
        return ordered[:, max(math.ceil(n_values * (1.0 - u / n_kernels)), 1) - 1]

    low, high = 0.0, float(n_kernels)
    for _ in range(steps):
        middle = 0.5 * (low + high)
        share = np.mean((others > quantiles(middle)[:, None]).any(axis=0))
        low, high = (middle, high) if share <= level else (low, middle)
    return bool((values[:, 0] > quantiles(low)).any())


def hyppo_mmd(x: Array, y: Array, seed: int) -> float:
    """Return the p-value of hyppo's MMD with its chi-squared approximation, which draws nothing."""
    from hyppo.ksample import MMD

    return float(MMD().test(x, y, auto=True)[1])


def forest(x: Array, y: Array, seed: int) -> float:
    """Return the p-value of a classifier test: a random forest trained on one half, its scores compared on the other.

    The statistic is the difference of the mean predicted probabilities (Cheng and Cloninger 2022; Liu et al. 2020),
    the null distribution is that of permutations of the labels of the second half.
    """
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(50, min_samples_leaf=3, random_state=seed, class_weight="balanced", n_jobs=1)
    return _held_out(x, y, seed, lambda rows, labels: model.fit(rows, labels).predict_proba)


def logistic(x: Array, y: Array, seed: int) -> float:
    """Return the p-value of a classifier test: logistic regression on coordinates, squares and, up to ten, products."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, class_weight="balanced", max_iter=200))

    def fit(rows: Array, labels: Array) -> Callable[[Array], Array]:
        model.fit(_quadratic(rows), labels)
        return lambda more: np.asarray(model.predict_proba(_quadratic(more)))

    return _held_out(x, y, seed, fit)


def _subsets(x: Array, y: Array, n_draws: int, seed: int) -> Subsets:
    """Return the rows of y, then random ones; of x where it is the shorter, which makes no difference to an MMD."""
    rng = np.random.default_rng(seed)
    subsets = random_subsets(len(x) + len(y), min(len(x), len(y)), n_draws, rng)
    if len(x) < len(y):
        subsets[0] = np.arange(len(x))
    return subsets


def _grams(
    pooled: Array, space: Callable[[float, float, int], Array], steepness: tuple[float, float]
) -> Iterator[Array]:
    """Yield Gram matrices with zero diagonals: exp(-s (r / w)^2), then exp(-s r_1 / w), ten bandwidths w each.

    r is the Euclidean and r_1 the city-block distance, s the steepness of either shape, and ``space`` places the
    bandwidths between half of the 5 % quantile of the distances and twice their 95 % quantile.
    """
    for squared, s in zip((True, False), steepness, strict=True):
        distances = pdist(pooled) if squared else pdist(pooled, "cityblock")
        low, high = np.quantile(distances[distances > 0.0], (0.05, 0.95))
        powers = distances**2 if squared else distances
        for bandwidth in space(0.5 * float(low), 2.0 * float(high), N_BANDWIDTHS):
            # Of different rows, each pair once: half of the exponentials, and a diagonal of zeros.
            yield squareform(np.exp(powers * (-s / (bandwidth**2 if squared else bandwidth))))


def _flipped(gram: Array, signs: Array) -> Array:
    """Return the paired MMD^2 of a pooled Gram matrix (2n, 2n) under sign flips of the pairs (n, k): (k,)."""
    n = len(signs)
    core = gram[:n, :n] + gram[n:, n:] - gram[:n, n:] - gram[n:, :n]
    np.fill_diagonal(core, 0.0)
    return np.asarray(np.einsum("ij,ij->j", signs, core @ signs) / (n * (n - 1)))


def _held_out(x: Array, y: Array, seed: int, fit: Callable[[Array, Array], Callable[[Array], Array]]) -> float:
    """Return the p-value of scores, fitted on a random half of each sample, on the other half."""
    rng = np.random.default_rng(seed)
    x, y = rng.permutation(x), rng.permutation(y)
    i, j = len(x) // 2, len(y) // 2
    predict = fit(np.concatenate([x[:i], y[:j]]), np.repeat([0, 1], [i, j]))
    scores = predict(np.concatenate([x[i:], y[j:]]))[:, 1]
    subsets = random_subsets(len(scores), len(y) - j, 999, rng)
    return permutation_pvalue(scores[subsets].mean(axis=1))


def _quadratic(rows: Array) -> Array:
    """Return coordinates, squares, and the products of different coordinates where there are at most ten."""
    d = rows.shape[1]
    i, j = np.triu_indices(d, 1 if d <= 10 else d)
    return np.concatenate([rows, rows**2, rows[:, i] * rows[:, j]], axis=1)
