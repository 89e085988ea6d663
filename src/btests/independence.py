"""Tests of independence of x and y, columns of the same rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from btests._option_checks import check_seed, corrects_keywords, is_finite, is_one_of
from btests._text import brief
from btests._validation import check_batch, column_names, coordinates_of
from btests.common_options import CommonOptions, are_arrays
from btests.designs import JointSample
from btests.independence_pipeline import DEFAULT_FAMILY, Family, IndependenceProcedure
from btests.kernels import Energy, Gaussian, Kernel, KernelPair, Laplacian, Linear, Matern
from btests.nulls import ExactMoments, Null, Permutation, SignFlip, null_of
from btests.result import TestResult
from btests.selection import MedianFamily
from btests.selection.families import check_family
from btests.statistics.hsic import MIN_ROWS

_RADIAL: dict[str, Callable[[float], Kernel]] = {"gaussian": Gaussian, "laplacian": Laplacian, "matern": Matern}
_FIXED: dict[str, Kernel] = {"energy": Energy(), "linear": Linear()}

#: Nulls by name.
NULLS: dict[str, Callable[[], Null]] = {
    "swap": SignFlip,
    "sign-flip": SignFlip,
    "normal": lambda: ExactMoments(skewed=False),
    "pearson": ExactMoments,
    "permutation": Permutation,
}

AnyKernel = Kernel | MedianFamily | Sequence[Kernel] | str | None


@corrects_keywords
def independence_test(
    x: Any,
    y: Any,
    *,
    statistic: str = "hsic",
    method: str | None = None,
    kernel_x: AnyKernel = None,
    kernel_y: AnyKernel = None,
    exponent: float = 1.0,
    block_size: int | str | None = None,
    null: Null | str | None = None,
    scale: bool | str | None = None,
    seed: int | None = None,
    shuffle: bool | str = True,
    block_exponent: float | None = None,
    budget: float | None = None,
    n_threads: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    workers: Any = None,
) -> TestResult:
    """Test whether x and y are independent, given pairs of their values.

    Parameters
    ----------
    x, y : array_like, shape (n, d) and (n, e), data frame, path, or dask collection
        Row i of x belongs to row i of y. Columns may differ in number and meaning. Paths and dask collections are read
        in chunks, as by :func:`btests.btest`.
    statistic : {"hsic", "dcov"}
        The Hilbert-Schmidt independence criterion, or the squared distance covariance.
    method : {"blocks", "features"} or None
        ``"blocks"`` takes exact kernel values of the rows of each block; ``"features"`` random Fourier features of all
        rows, in linear time, with as many frequencies as the budget affords, 16 to 64. None is one block where the
        budget affords it, and features otherwise, if all kernels have them and nothing else is said of blocks.
    kernel_x, kernel_y : Kernel, str, MedianFamily, list of Kernel or None
        Kernels of the HSIC: an object, a function of two arrays, or ``"gaussian"``, ``"laplacian"``, ``"matern"`` (of
        median bandwidth), ``"energy"`` or ``"linear"``. Of lists and families all combinations of x and y are tested at
        once, with an exact correction. None is ``MedianFamily((0.25, 0.5, 1, 2, 4))`` for both, ``(0.5, 1, 2)`` where
        one block of all rows would be beyond the budget, or the median bandwidth where the other kernel is given.
    exponent : float
        Exponent of the distances of ``"dcov"``, between 0 and 2, both excluded.
    block_size : int, {"sqrt", "auto"} or None
        Rows in a block, as in :func:`btests.btest`; at least 4. None is the largest block within ``budget``.
    null : Null, {"swap", "normal", "pearson", "permutation"} or None
        How the p-value is found. None and ``"swap"`` are exact: y is permuted within tuples of 8 rows (``SignFlip()``
        sets the number of draws), and with None one block of up to 64 rows is permuted as a whole. ``"normal"`` and
        ``"pearson"`` are in closed form, with the exact variance (and skewness) over all permutations in each block.
        ``"permutation"`` permutes all rows: exact, quadratic time and memory. The last three take one kernel of x and
        one of y.
    scale : bool, "robust" or None
        Divide each column by its robust scale. None is True for data frames and files with several named columns.
    seed, shuffle, block_exponent, budget, n_threads, checkpoint, progress, workers
        As in :func:`btests.btest`; pairs stay together in any order.

    Returns
    -------
    TestResult
        Its statistic is the unbiased HSIC, or squared distance covariance, of the strongest pair of kernels.

    See Also
    --------
    btests.btest : Test whether two samples have the same distribution.

    References
    ----------
    A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schoelkopf, A. Smola, "A Kernel Statistical Test of Independence",
    NIPS 2007.
    G. J. Szekely, M. L. Rizzo, N. K. Bakirov, "Measuring and Testing Dependence by Correlation of Distances", Annals of
    Statistics 35, 2007.

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> btests.independence_test(x, x**2 + rng.normal(size=500), seed=1).pvalue
    0.0005
    >>> btests.independence_test(x, rng.normal(size=500), seed=1).rejects(0.05)
    False
    """
    sizes = block_size, block_exponent, budget
    options = CommonOptions(*sizes, scale, seed, shuffle, n_threads, checkpoint, progress, workers)
    by_default = null is None
    null = _null_of(null)
    kernels = _kernels_of(statistic, kernel_x, kernel_y, exponent, several=isinstance(null, SignFlip))
    setting = options.setting(null, _features_of(method, null))
    rule = setting.rule
    if rule.size is not None and rule.size < MIN_ROWS:
        raise ValueError(f"block_size must be at least {MIN_ROWS} in a test of independence, got {rule.size}")
    x, y = coordinates_of("x", x), coordinates_of("y", y)
    procedure = IndependenceProcedure(*kernels, null, 0, setting, "", options.began, options.scale, permutes=by_default)
    if workers is not None or not are_arrays(x, y):
        from btests.dispatch import run_stored  # what reads files and talks to clusters takes time to import

        found = run_stored(procedure, x, y, options)
        if found is not None:
            return found
    options.check_in_memory()
    rows = check_batch("x", x), check_batch("y", y)
    number = check_seed(options.seed)
    JointSample().check(len(rows[0]), len(rows[1]), rows[0].shape[1], rows[1].shape[1])
    rule.check(len(rows[0]), MIN_ROWS)
    opened = procedure.opened(number, options.order, (column_names(x), column_names(y)))
    return opened.run(*options.samples(*rows, number, opened.design.streams))


def _features_of(method: object, null: Null) -> bool | None:
    """Return whether features take the place of blocks, None where one block of all rows is beyond the budget."""
    if method is not None and not is_one_of(method, "blocks", "features"):
        raise ValueError(f"method must be 'blocks', 'features' or None, got {brief(method)}")
    if not isinstance(null, SignFlip):
        if method == "features":
            raise ValueError("method='features' takes null='swap': other null distributions are for blocks")
        return False
    return None if method is None else method == "features"


def _kernels_of(
    statistic: object, kernel_x: object, kernel_y: object, exponent: object, *, several: bool
) -> tuple[Family, Family]:
    if not is_one_of(statistic, "hsic", "dcov"):
        raise ValueError(f"statistic must be 'hsic' or 'dcov', got {brief(statistic)}")
    if statistic == "dcov":
        if kernel_x is not None or kernel_y is not None:
            raise ValueError("kernels are for statistic='hsic'; 'dcov' has distances and an exponent")
        own = (Energy(exponent),)  # type: ignore[arg-type]
        return own, own
    if not is_finite(exponent) or exponent != 1.0:
        raise ValueError(f"exponent is for statistic='dcov', got {brief(exponent)} with 'hsic'")
    several = several and kernel_x is None and kernel_y is None
    return kernel_of("kernel_x", kernel_x, several), kernel_of("kernel_y", kernel_y, several)


def kernel_of(name: str, kernel: Any, several: bool) -> Family:
    """Return the kernels that an argument names; None is a Gaussian, of several bandwidths if so wanted."""
    if kernel is None:
        return DEFAULT_FAMILY if several else MedianFamily((1.0,))
    if isinstance(kernel, MedianFamily):
        return kernel
    if isinstance(kernel, (list, tuple)):
        found: tuple[Kernel, ...] = check_family(kernel)
        return found
    if isinstance(kernel, str):
        if kernel not in _RADIAL and kernel not in _FIXED:
            known = ", ".join(sorted((*_RADIAL, *_FIXED)))
            raise ValueError(f"{name} must be one of {known}, or a kernel object, got {brief(kernel)}")
        return (_FIXED[kernel],) if kernel in _FIXED else MedianFamily((1.0,), _RADIAL[kernel])
    if isinstance(kernel, type):
        raise TypeError(f"{name} must be an object, not the class: write {kernel.__name__}(...) with its parameters")
    if not callable(kernel) or isinstance(kernel, KernelPair):
        raise TypeError(f"{name} must be a kernel or a function of two samples, got {type(kernel).__name__}")
    return (kernel,)


def _null_of(null: object) -> Null:
    found = null_of(null, NULLS)
    if not isinstance(found, (SignFlip, ExactMoments, Permutation)):
        raise TypeError(f"null must be SignFlip(), ExactMoments() or Permutation() here, got {brief(found)}")
    return found
