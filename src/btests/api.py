"""The front door: one function."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from btests.blocks import Blocks
from btests.fast.pool import limit_threads
from btests.kernels import Combination, Distance, Gaussian, Kernel, Laplacian, Linear, Matern, Pairwise
from btests.nulls import (
    CrossBlocks,
    Gamma,
    Law,
    Normal,
    Null,
    Pearson,
    Permutation,
    SignFlip,
    Spectrum,
    ThirdCumulant,
)
from btests.nulls.protocol import check_sizes, wants_gram
from btests.result import TestResult
from btests.selection import (
    Aggregate,
    Candidate,
    MakesKernels,
    Median,
    MedianFamily,
    Selection,
    Selector,
    Setting,
    bandwidths,
)
from btests.statistics import MMD, Family, Gram, Sample, summarize
from btests.statistics.checks import check_kernel, check_precision
from btests.validation import check_block_size, check_samples, check_seed

_KERNELS: dict[str, Kernel | Selector] = {
    "gaussian": Median(Gaussian),
    "laplacian": Median(Laplacian),
    "matern": Median(Matern),
    "energy": Distance(),
    "linear": Linear(),
}
#: What docs/choices.md finds best for data that nothing is known about.
_DEFAULT = Aggregate(MedianFamily())

_NULLS: dict[str, Callable[[], Null]] = {
    "normal": Normal,
    "third-cumulant": ThirdCumulant,
    "sign-flip": SignFlip,
    "cross-blocks": CrossBlocks,
    "permutation": Permutation,
    "spectrum": Spectrum,
    "gamma": Gamma,
    "pearson": Pearson,
}


def btest(
    x: Any,
    y: Any,
    *,
    kernel: Kernel | Selector | Aggregate | str | None = None,
    block_size: int | None = None,
    null: Null | str | None = None,
    seed: int | None = None,
    shuffle: bool = True,
    gamma: float = 0.5,
    dtype: str = "float64",
    n_threads: int | None = None,
) -> TestResult:
    r"""Test whether two samples come from the same distribution.

    Rows are observations, columns are coordinates: this is one test of the joint distribution, not one per column.

    Parameters
    ----------
    x, y
        Samples: arrays (n, d), vectors (n,), data frames of numbers (columns are matched by name), or, with a kernel
        for them, sequences of any objects. They may differ in length.
    kernel
        A kernel; ``None`` is ``Aggregate(MedianFamily())``, Gaussians of several bandwidths around the median at once
        (and with a null other than ``SignFlip`` the median alone). Also ``"gaussian"``, ``"laplacian"``, ``"matern"``
        (median bandwidth), ``"energy"``, ``"linear"``, or a function of two arrays (b, d) and (c, d), or of two lists
        of objects, that returns the (b, c) matrix of kernel values. Or what chooses one, such as ``Weights()`` or
        ``MaxRatio([Gaussian(1), Gaussian(2)])``: on half of the rows as a rule, which are then not tested. Or
        ``Aggregate(family)``, which tests with all kernels of a family, on all rows.
    block_size
        Rows of the smaller sample in a block, from 2 (linear time) to all (quadratic time); ``None`` is ``[n^gamma]``.
        Rows left over are spread over the blocks, so none is lost.
    null
        How the p-value is found; ``None`` is ``SignFlip()``. Also ``"normal"``, ``"third-cumulant"``,
        ``"sign-flip"`` and ``"cross-blocks"``; and the quadratic-time tests of all rows at once, ``"permutation"``
        (exact), ``"spectrum"`` (consistent), ``"gamma"`` and ``"pearson"`` (not consistent; for comparison).
    seed
        For the shuffle and the null. The same seed gives the same result to the last bit, however many threads.
    shuffle
        Deal the rows into blocks in random order. Without it, rows that are sorted or depend on their neighbours
        make the blocks unlike one another.
    gamma
        Exponent of the default block size, between 0 and 1.
    dtype
        Arithmetic of the compiled loops for one kernel, ``"float64"`` or ``"float32"``. A family is always in float64.
    n_threads
        Threads of the loops over blocks; ``None`` is all cores of this process, or what the variable BTESTS_THREADS
        says. (The matrix products of the quadratic-time nulls are numpy's, with threads of its own.)

    Returns
    -------
    TestResult

    References
    ----------
    W. Zaremba, A. Gretton, M. Blaschko, "B-tests: Low Variance Kernel Two-Sample Tests", NIPS 2013.

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2000, 3)), rng.normal(size=(2000, 3))
    >>> btests.btest(x, y, seed=1).rejects(0.05)
    False
    >>> btests.btest(x, y * [1, 1, 1.5], seed=1).pvalue
    0.0005
    """
    began = time.perf_counter()
    _check_options(kernel, null, shuffle, dtype, n_threads)
    rows_x, rows_y = check_samples(
        x,
        y,
        objects_allowed=kernel is not None and not isinstance(kernel, str),
        objects_wanted=_is_for_objects(kernel),
    )
    seed = check_seed(seed)
    null = _NULLS[null]() if isinstance(null, str) else null or SignFlip()
    if kernel is None and isinstance(null, SignFlip):
        kernel = _DEFAULT
    check_block_size(block_size, gamma, min(len(rows_x), len(rows_y)))
    setting = Setting(block_size, gamma, dtype)
    sample_x, sample_y = _dealt(rows_x, seed, 1, shuffle), _dealt(rows_y, seed, 2, shuffle)
    with limit_threads(n_threads):
        if isinstance(kernel, Aggregate):
            return _test_all(kernel, sample_x, sample_y, setting, null=null, seed=seed, began=began)
        selection = choose(kernel, sample_x, sample_y, setting)
        return _test(selection, setting, null, seed, began, selector=_selector(kernel))


def _test(
    selection: Selection, setting: Setting, null: Null, seed: int, began: float, *, selector: Selector | None = None
) -> TestResult:
    kernel, x, y = selection.kernel, selection.x, selection.y
    check_kernel(kernel, x, y)
    check_precision(kernel, x, y, setting.dtype)
    statistic = MMD(kernel, setting.dtype)
    blocks = Blocks.of_size(len(x), len(y), _size(null, setting, x, y))
    engine = statistic.engine(x)
    evidence: object = None
    law: Law | None = None
    if wants_gram(null):
        # The plain path would hold the matrices of a whole block, which is all rows here, and evaluate a kernel that is
        # slow a second time: the one pass over the tiles serves both. Compiled loops are faster than that.
        evidence = gram = Gram(kernel, x, y, for_summary=engine == "numpy")
        law = null.learn(gram, seed)
        summary = gram.summary() if engine == "numpy" else summarize(statistic, x, y, blocks)
    else:
        summary = summarize(statistic, x, y, blocks)
    return TestResult.conclude(
        summary,
        null,
        kernel,
        seed,
        engine=engine,
        began=began,
        evidence=evidence,
        law=law,
        selector=selector,
        selection=selection,
    )


def _test_all(
    aggregate: Aggregate, x: Sample, y: Sample, setting: Setting, *, null: Null, seed: int, began: float
) -> TestResult:
    if not isinstance(null, SignFlip):
        raise ValueError(f"Aggregate needs sign flips that its kernels share: null must be SignFlip(), got {null!r}")
    selection, summaries = aggregate.summarize(x, y, setting)
    verdict = aggregate.conclude(summaries, null, seed)
    rated = tuple(
        Candidate(candidate.kernel, float(score), float(j == verdict.spoke))
        for j, (candidate, score) in enumerate(zip(selection.candidates, verdict.scores, strict=True))
    )
    return TestResult.conclude(
        summaries[verdict.spoke],
        null,
        selection.candidates[verdict.spoke].kernel,
        seed,
        engine=Family(tuple(c.kernel for c in selection.candidates)).engine(x),
        began=began,
        law=verdict.law,
        selector=aggregate,
        selection=replace(selection, candidates=rated),
    )


def _size(null: Null, setting: Setting, x: Sample, y: Sample) -> int:
    n = min(len(x), len(y))
    if wants_gram(null):
        if setting.block_size not in (None, n):
            raise ValueError(
                f"{null!r} tests all rows at once: block_size must be {n} or None, got {setting.block_size}"
            )
        check_sizes(null, len(x), len(y))
        return n
    return setting.size_for(x, y)


def _dealt(rows: Any, seed: int, stream: int, shuffle: bool) -> Sample:
    if not shuffle:
        return Sample(rows)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, stream])))
    return Sample(rows, rng.permutation(len(rows)))


def choose(kernel: Kernel | Selector | str | None, x: Sample, y: Sample, setting: Setting | None = None) -> Selection:
    """Return the kernel that was asked for or selected, and the rows that are valid for testing with it."""
    selector = _selector(kernel)
    if selector is not None:
        return selector.select(x, y, setting or Setting())
    fixed: Any = _KERNELS[kernel] if isinstance(kernel, str) else kernel
    return Selection(fixed, x, y)


def _selector(kernel: Kernel | Selector | str | None) -> Selector | None:
    """Return what chooses the kernel, None where it is given."""
    if kernel is None or isinstance(kernel, str):
        kernel = _KERNELS[kernel or "gaussian"]
    return kernel if isinstance(kernel, Selector) else None


def _is_for_objects(kernel: object) -> bool:
    """Whether a kernel, or one of those to choose from, compares objects, so that lists of anything stay lists."""
    if isinstance(kernel, Pairwise):
        return True
    members = kernel.kernels if isinstance(kernel, Combination) else getattr(kernel, "family", ())
    return isinstance(members, tuple) and any(_is_for_objects(member) for member in members)


def _check_options(kernel: object, null: object, shuffle: object, dtype: object, n_threads: object) -> None:
    if isinstance(kernel, str) and kernel not in _KERNELS:
        raise ValueError(f"kernel must be one of {', '.join(sorted(_KERNELS))}, or a kernel object, got {kernel!r}")
    makes_several = kernel is bandwidths or (isinstance(kernel, MakesKernels) and callable(kernel.kernels))
    if isinstance(kernel, (list, tuple)) or makes_several:
        raise TypeError(
            "kernel must be one kernel, got several; to test with all of them write kernel=Aggregate(...), to choose "
            "among them kernel=Weights(...)"
        )
    if kernel is not None and not isinstance(kernel, (str, Selector, Aggregate)) and not callable(kernel):
        raise TypeError(
            f"kernel must be a kernel, a function of two samples or a selector such as Weights(), got "
            f"{type(kernel).__name__}"
        )
    if isinstance(kernel, type):
        raise TypeError(f"kernel must be an object, not the class: write {kernel.__name__}(...) with its parameters")
    if isinstance(null, str) and null not in _NULLS:
        raise ValueError(f"null must be one of {', '.join(sorted(_NULLS))}, or a null object, got {null!r}")
    if isinstance(null, type):
        raise TypeError(f"null must be an object, not the class: write {null.__name__}()")
    if null is not None and not isinstance(null, str) and not hasattr(null, "learn"):
        raise TypeError(f"null must be a null such as SignFlip(), got {type(null).__name__}")
    if not isinstance(shuffle, (bool, np.bool_)):
        raise TypeError(f"shuffle must be True or False, got {shuffle!r}")
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
    whole = isinstance(n_threads, Integral) and not isinstance(n_threads, bool)
    if n_threads is not None and not (whole and isinstance(n_threads, Integral) and int(n_threads) > 0):
        raise ValueError(f"n_threads must be a whole number of at least 1 or None, got {n_threads!r}")
