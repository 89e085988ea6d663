"""The two-sample test as a function of two samples."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from btests._option_checks import check_flag, check_seed, corrects_keywords
from btests._validation import check_samples, column_names, coordinates_of
from btests.common_options import CommonOptions, are_arrays
from btests.designs.units import UnitDesign
from btests.kernels import Energy, Kernel, properties_of
from btests.nulls import Null, SignFlip, null_of
from btests.pipeline import Procedure, run_units
from btests.result import TestResult
from btests.selection import Aggregate, FisherFamily, Selector, check_choice, default_aggregate
from btests.statistics import StatisticFactory, choose_statistic

#: What docs/power.md finds best for data that nothing is known about.
_DEFAULT = default_aggregate()


@corrects_keywords
def btest(
    x: Any,
    y: Any,
    *,
    kernel: Kernel | Selector | Aggregate | str | None = None,
    block_size: int | tuple[int, int] | str | None = None,
    null: Null | str | None = None,
    scale: bool | str | None = None,
    seed: int | None = None,
    shuffle: bool | str = True,
    block_exponent: float | None = None,
    budget: float | None = None,
    dtype: str = "float64",
    n_threads: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    workers: Any = None,
    paired: bool = False,
    statistic: StatisticFactory | str | None = None,
    units: Any = None,
    weights_x: Any = None,
    weights_y: Any = None,
) -> TestResult:
    r"""Test whether two samples come from the same distribution.

    Rows are observations, columns are coordinates: this is one test of the joint distribution, not one per column.

    Parameters
    ----------
    x, y : array_like, data frame, path, dask collection, or iterator of batches
        Samples: arrays (n, d), vectors (n,), data frames of numbers (columns are matched by name), or, with a kernel
        for them, sequences of any objects. They may differ in length. Or what is too large for memory: the path of a
        .npy, Parquet, Arrow or CSV file of numbers, or of a folder of such parts (:func:`btests.open_source` for some
        columns of them), read a chunk at a time; dask arrays and data frames. The answer for the same seed is the same.
        Or an iterator of batches (m, d), such as a generator or a data loader, read once (:class:`btests.Stream`).
    kernel : Kernel, Selector, Aggregate, str or None
        A kernel; ``None`` is ``default_aggregate()``: Gaussians and Laplacians of several bandwidths around the median
        at once and, in one block, kernel Fisher discriminants beside them (with a null other than ``SignFlip`` the
        Gaussian of median bandwidth). Also ``"gaussian"``, ``"laplacian"``, ``"matern"`` (median bandwidth),
        ``"energy"``, ``"linear"``, or a function of two arrays (b, d) and (c, d), or of two lists of objects, that
        returns the (b, c) matrix of kernel values. Or a selector such as ``Weights()`` or
        ``MaxRatio([Gaussian(1), Gaussian(2)])``; selectors hold out half of the rows by default. Or
        ``Aggregate(family)``, which tests with all kernels of a family, on all rows.
    block_size : int, (int, int), {"auto", "sqrt"} or None
        Rows of the smaller sample in a block, from 2 (linear time) to all (quadratic time). ``None`` or ``"auto"`` is
        the largest block within ``budget``: one block of all rows up to several thousand rows a side, and never less
        than the root of n (``Normal``, which needs many blocks, takes the root). ``"sqrt"`` is the rule of the paper,
        ``[n^0.5]``. Rows left over are spread over the blocks, so none is lost. For iterators of batches, whose length
        is not known, None is 256, two numbers are for x and y, and rows that fill no block are not tested.
    null : Null, str or None
        How the p-value is found; ``None`` is ``SignFlip()``. Also ``"normal"``, ``"third-cumulant"``,
        ``"sign-flip"`` and ``"cross-mmd"``; and the quadratic-time tests of all rows at once, ``"permutation"``
        (exact), ``"spectrum"`` (consistent), ``"gamma"`` and ``"pearson"`` (not consistent; for comparison). Also for
        comparison ``"jackknife"``, ``"bootstrap"`` and ``"tu"``, after Ho and Shieh (``docs/ho-shieh.md``).
    scale : bool, "robust" or None
        Divide each column by its robust scale, pooled over both samples, so that units of measurement do not matter:
        True (or ``"robust"``), or False. ``None`` is True for data frames and files with named columns, and False for
        arrays, with a :class:`btests.ScaleWarning` where columns differ by orders of magnitude. A bandwidth is then one
        on the scaled columns. Iterators of batches are never scaled.
    seed : int, optional
        For the shuffle and the null. The same seed gives the same result to the last bit, however many threads.
    shuffle : bool or "buffered"
        Put the rows into blocks in random order. Without it, rows that are sorted or depend on their neighbours
        make the blocks unlike one another. ``"buffered"`` reads units of a file, such as row groups, in random order
        and shuffles some of them at a time: faster than any row anywhere, and no help where the file is sorted.
        Iterators of batches are shuffled within a buffer of 64 MB. The result says what was done (``order``).
    block_exponent : float, optional
        Exponent of the paper's rule, between 0 and 1: blocks of ``[n^block_exponent]`` rows.
    budget : float, optional
        Seconds of one core that the automatic block size may take for kernel values, 1 by default. It is an estimate
        from the numbers of rows, columns and kernels; no clock is read, and the same call has the same blocks on every
        machine.
    dtype : {"float64", "float32"}
        Arithmetic of the compiled loops for one kernel and for random features, ``"float64"`` or ``"float32"``. A
        family of kernels in blocks is always in float64, and so are features whose errors would be a hundredth or more.
    n_threads : int, optional
        Threads of the loops over blocks; ``None`` is all cores of this process, or what the variable BTESTS_THREADS
        says. (The matrix products of the quadratic-time nulls, and of kernels such as ``Linear``, are numpy's, with
        threads of its own, whose number may change a last bit.)
    checkpoint : path, optional
        For rows that are not in memory: a file that the work done so far is kept in. The same call goes on from it
        after an interruption, to the same answer.
    progress : callable, optional
        For rows that are not in memory: called with the rows done and the rows in all.
    workers : int, str or distributed.Client, optional
        Compute on a cluster of dask.distributed (``btests[dask]``): a number of processes to start on this machine, the
        address of a scheduler such as ``"tcp://host:8786"``, or a ``distributed.Client``. None is the client that is
        there, for dask arrays and data frames, and this process for all else. Rows of blocks go from worker to worker,
        with features no row moves; only summaries come here, and the answer is the same to the last bit. Files must be
        where workers find them, too.
    paired : bool
        Whether rows i of x and of y are of one subject, measured twice. They stay side by side, and only they swap
        places: the p-value is exact however the two measurements of a subject depend on one another.
    statistic : {"blocks", "features"}, callable or None
        ``"blocks"`` compares the rows of each block by exact kernel values; ``"features"`` all rows at once by explicit
        features of the kernels, in linear time and one pass, with as many as the budget affords: 64 to 256 random
        frequencies or, for kernels without a spectrum, 32 to 256 landmarks. ``None`` is one block of all rows where the
        budget affords it, and features otherwise, if nothing else is said of blocks; features of kernels with a
        spectrum also where lengths differ by more than a quarter (see :class:`btests.FeatureMMD`). Or a class or
        function from a tuple of kernels to a statistic (``docs/extending.md``), such as
        :class:`btests.WithReplacement`, which draws blocks from all rows. If the statistic has several members, the
        p-value is that of the strongest, corrected for their number.
    units : str or (array_like, array_like), optional
        Where several rows are of one customer, patient or machine: a label for each row of x and of y, or the name of a
        column of both data frames, which is then not compared. Whole units swap places, and count equally whatever
        their sizes: the kernel of two units is its average over their rows. If both samples have the same units, x and
        y swap places within units, as with ``paired``. For rows in memory; so are weights.
    weights_x, weights_y : array_like, shape (n,), or str, optional
        Weights of the rows, 0 or more, such as survey or importance weights, or the name of a column of the data frame,
        which is then not compared; None counts rows equally. Only the ratios within a sample matter. The p-value is
        exact if rows with their weights are exchangeable between x and y, and approximate otherwise, as for weights of
        one sample alone (see ``note``). With ``units``, a unit counts as much as its rows together.

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
    sizes = block_size, block_exponent, budget
    options = CommonOptions(*sizes, scale, seed, shuffle, n_threads, checkpoint, progress, workers, dtype)
    check_choice(kernel)
    x, y = coordinates_of("x", x), coordinates_of("y", y)
    paired, null = check_flag("paired", paired), null_of(null)
    factory, features = choose_statistic(statistic, dtype, shares_flips=isinstance(null, SignFlip))
    if kernel is None and isinstance(null, SignFlip):
        kernel = _DEFAULT
    design = None
    if units is not None or weights_x is not None or weights_y is not None:
        _check_in_memory(x, y, workers)
        design, x, y = UnitDesign.of(x, y, units, weights_x, weights_y)
        if factory is not None or features:
            raise ValueError("units and weights are for the MMD, and take no other statistic")
    here = design is not None or (workers is None and are_arrays(x, y))
    if not here and not _is_for_objects(kernel):
        from btests.dispatch import run_batches  # what reads files and talks to clusters takes time to import

        how = "features" if features else factory
        found = run_batches(x, y, kernel, null, options, paired=paired, statistic=how)
        if found is not None:
            return found
    setting = options.setting(null, features)
    procedure = Procedure(kernel, null, 0, setting, "", options.began, options.scale, paired=paired, statistic=factory)
    if not here:
        from btests.dispatch import run_stored

        found = run_stored(procedure, x, y, options)
        if found is not None:
            return found
    options.check_in_memory()
    if design is not None:
        both = design.x, design.y
    else:
        both = check_samples(x, y, objects_allowed=_takes_objects(kernel), objects_wanted=_is_for_objects(kernel))
    setting.rule.check(min(map(len, both)))
    number = check_seed(options.seed)
    procedure = procedure.opened(number, options.order, (column_names(x), column_names(y)))
    if design is not None:
        return run_units(procedure, design, n_kernels=len(_candidates(kernel)), shuffle=bool(shuffle))
    return procedure.run(*options.samples(*both, number, procedure.design.streams))


def energy_test(x: Any, y: Any, *, exponent: float = 1.0, **options: Any) -> TestResult:
    """Test whether two samples have the same distribution by their energy distance.

    Parameters
    ----------
    x, y : array_like, data frame, path, dask collection, or iterator of batches
        Samples, as in :func:`btest`.
    exponent : float
        Exponent of the Euclidean distances, between 0 and 2.
    **options
        All other options of :func:`btest`.

    Returns
    -------
    TestResult
        Its statistic is the unbiased energy distance ``2 E|x - y|^a - E|x - x'|^a - E|y - y'|^a``, or about that beyond
        one block of all rows, where features take its place (``statistic="blocks"`` prevents it).

    See Also
    --------
    scipy.stats.energy_distance : Root of the biased estimate in one dimension, without a test.

    References
    ----------
    G. J. Szekely, M. L. Rizzo, "Energy statistics: A class of statistics based on distances", Journal of Statistical
    Planning and Inference 143, 2013.

    Examples
    --------
    >>> import numpy as np, btests
    >>> rng = np.random.default_rng(0)
    >>> btests.energy_test(rng.normal(size=300), rng.normal(size=300) + 0.5, seed=1).pvalue
    0.0005
    """
    if "kernel" in options:
        raise TypeError("energy_test has the kernel Energy(exponent); for another write btest(x, y, kernel=...)")
    return btest(x, y, kernel=Energy(exponent), **options)


def _check_in_memory(x: object, y: object, workers: object) -> None:
    """Raise unless both samples are arrays, sequences or data frames in memory, to be tested here."""
    for name, value in (("x", x), ("y", y)):
        here = hasattr(type(value), "__len__") and (hasattr(value, "__array__") or column_names(value) is not None)
        on_cluster = workers is not None or type(value).__module__.startswith("dask")
        if on_cluster or not (here or isinstance(value, (list, tuple))):
            raise ValueError(
                f"units and weights are for arrays and data frames in memory, and {name} is in files or "
                "on a cluster; load it first"
            )


def _is_for_objects(kernel: object) -> bool:
    """Whether a kernel, or one of those to choose from, compares objects, so that lists of anything stay lists."""
    return any(properties_of(candidate).takes_objects is True for candidate in _candidates(kernel))


def _takes_objects(kernel: object) -> bool:
    """Whether a kernel, or one of those to choose from, may compare objects: all but our own kernels of numbers."""
    return any(properties_of(candidate).takes_objects is not False for candidate in _candidates(kernel))


def _candidates(kernel: object) -> tuple[object, ...]:
    """Return the kernels to be evaluated, as far as they are known: one, or the family of a selector."""
    if kernel is None or isinstance(kernel, str):
        return ()
    family = getattr(kernel, "family", ())
    if isinstance(family, FisherFamily):
        family = family.family
    if isinstance(family, tuple) and family:
        return family
    return () if type(kernel).__module__.startswith("btests.selection") else (kernel,)
