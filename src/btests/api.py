"""The front door: one function."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from btests.batched import BatchQuestion, is_batches
from btests.checkpoint import Recorder, telling_how_to_go_on
from btests.cluster import reach
from btests.fast.pool import limit_threads
from btests.kernels import Combination, Kernel, Pairwise
from btests.kernels.fingerprint import fingerprint
from btests.nulls import CrossBlocks, Gamma, Normal, Null, Pearson, Permutation, SignFlip, Spectrum, ThirdCumulant
from btests.nulls.protocol import wants_gram
from btests.order import deal
from btests.pipeline import Question
from btests.result import TestResult
from btests.samples import describe, is_elsewhere, left_out, matched, open_samples
from btests.selection import Aggregate, MedianFamily, Selector, Setting
from btests.selection.names import check_choice
from btests.statistics import Sample, watched_by
from btests.validation import check_block_size, check_path, check_samples, check_seed, check_threads, check_told

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
    block_size: int | tuple[int, int] | None = None,
    null: Null | str | None = None,
    seed: int | None = None,
    shuffle: bool | str = True,
    gamma: float = 0.5,
    dtype: str = "float64",
    n_threads: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    workers: Any = None,
) -> TestResult:
    r"""Test whether two samples come from the same distribution.

    Rows are observations, columns are coordinates: this is one test of the joint distribution, not one per column.

    Parameters
    ----------
    x, y
        Samples: arrays (n, d), vectors (n,), data frames of numbers (columns are matched by name), or, with a kernel
        for them, sequences of any objects. They may differ in length. Or what is too large for memory: the path of a
        .npy, Parquet, Arrow or CSV file of numbers, or of a folder of such parts (:func:`btests.open_source` for some
        columns of them), read a chunk at a time; dask arrays and data frames. The answer for the same seed is the same.
        Or an iterator of batches (m, d), such as a generator or a data loader, read once (:class:`btests.Stream`).
    kernel
        A kernel; ``None`` is ``Aggregate(MedianFamily())``, Gaussians of several bandwidths around the median at once
        (and with a null other than ``SignFlip`` the median alone). Also ``"gaussian"``, ``"laplacian"``, ``"matern"``
        (median bandwidth), ``"energy"``, ``"linear"``, or a function of two arrays (b, d) and (c, d), or of two lists
        of objects, that returns the (b, c) matrix of kernel values. Or what chooses one, such as ``Weights()`` or
        ``MaxRatio([Gaussian(1), Gaussian(2)])``: on half of the rows as a rule, which are then not tested. Or
        ``Aggregate(family)``, which tests with all kernels of a family, on all rows.
    block_size
        Rows of the smaller sample in a block, from 2 (linear time) to all (quadratic time); ``None`` is ``[n^gamma]``.
        Rows left over are spread over the blocks, so none is lost. Of iterators of batches, whose length nobody knows,
        None is 256, two numbers are for x and y, and rows that fill no block are not tested.
    null
        How the p-value is found; ``None`` is ``SignFlip()``. Also ``"normal"``, ``"third-cumulant"``,
        ``"sign-flip"`` and ``"cross-blocks"``; and the quadratic-time tests of all rows at once, ``"permutation"``
        (exact), ``"spectrum"`` (consistent), ``"gamma"`` and ``"pearson"`` (not consistent; for comparison).
    seed
        For the shuffle and the null. The same seed gives the same result to the last bit, however many threads.
    shuffle
        Deal the rows into blocks in random order. Without it, rows that are sorted or depend on their neighbours
        make the blocks unlike one another. ``"buffered"`` reads units of a file, such as row groups, in random order
        and shuffles some of them at a time: faster than any row anywhere, and no help where the file is sorted.
        Iterators of batches are shuffled within a buffer of 64 MB. The result says what was done (``order``).
    gamma
        Exponent of the default block size, between 0 and 1.
    dtype
        Arithmetic of the compiled loops for one kernel, ``"float64"`` or ``"float32"``. A family is always in float64.
    n_threads
        Threads of the loops over blocks; ``None`` is all cores of this process, or what the variable BTESTS_THREADS
        says. (The matrix products of the quadratic-time nulls, and of kernels such as ``Linear``, are numpy's, with
        threads of its own, whose number may change a last bit.)
    checkpoint
        For rows that are not in memory: a file that the work done so far is kept in. The same call goes on from it
        after an interruption, to the same answer.
    progress
        For rows that are not in memory: called with the rows done and the rows in all.
    workers
        Compute on a cluster of dask.distributed (``btests[dask]``): a number of processes to start on this machine, the
        address of a scheduler such as ``"tcp://host:8786"``, or a ``distributed.Client``. None is the client that is
        there, for dask arrays and data frames, and this process for all else. Rows go from worker to worker, only
        summaries come here, and the answer is the same to the last bit; files must be where workers find them, too.

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
    check_path("checkpoint", checkpoint)
    check_told("progress", progress, "the rows done and the rows in all")
    null = _NULLS[null]() if isinstance(null, str) else null or SignFlip()
    if kernel is None and isinstance(null, SignFlip):
        kernel = _DEFAULT
    given = None if seed is None else check_seed(seed)
    if not _is_for_objects(kernel) and (is_batches(x) or is_batches(y)):
        if checkpoint is not None:
            raise ValueError(
                "checkpoint is for rows in files: batches cannot be read again from the middle; save the tally of a "
                "btests.Stream instead"
            )
        if workers is not None:
            raise ValueError(
                "workers read rows by themselves, and batches are read here, once; save them to files, or add the "
                "tallies of one btests.Stream for each worker"
            )
        asked = BatchQuestion(kernel, null, check_seed(given), shuffle, block_size, dtype, n_threads, progress, began)
        return asked.of(x, y)
    if isinstance(block_size, tuple):
        raise TypeError(
            f"block_size must be one whole number or None, except for iterators of batches, got {block_size}"
        )
    setting = Setting(block_size, gamma, dtype)
    if workers is not None or is_elsewhere(x) or is_elsewhere(y):
        if wants_gram(null):
            raise ValueError(f"{null!r} needs all rows in memory at once; load them, or take null=SignFlip()")
        with reach(workers, x, y) as cluster:
            sources = matched(x, y)
            check_block_size(block_size, gamma, min(source.n_rows for source in sources))
            kept = None if checkpoint is None else Path(checkpoint)
            run = repr((fingerprint(kernel), setting, null, shuffle, *map(describe, sources))) if kept else ""
            recorder = Recorder(kept, run, given, progress)
            with (
                telling_how_to_go_on(recorder),
                closing(open_samples(*sources, recorder.seed, shuffle, cluster)) as stored,
            ):
                question = Question(kernel, null, recorder.seed, setting, stored.order, began)
                with limit_threads(n_threads), watched_by(recorder):
                    found = question.of(stored.x, stored.y)
                note = "; ".join(filter(None, (found.note, left_out(*sources))))
                return replace(found, read=stored.read, note=note)
    if checkpoint is not None or progress is not None:
        raise ValueError("checkpoint and progress are for rows in files, and these are in memory")
    if shuffle == "buffered":
        raise ValueError("shuffle='buffered' is for rows in files; those in memory are shuffled exactly")
    rows_x, rows_y = check_samples(
        x,
        y,
        objects_allowed=_takes_objects(kernel),
        objects_wanted=_is_for_objects(kernel),
    )
    check_block_size(block_size, gamma, min(len(rows_x), len(rows_y)))
    number = check_seed(given)
    question = Question(kernel, null, number, setting, "exact" if shuffle else "as stored", began)
    with limit_threads(n_threads):
        return question.of(_dealt(rows_x, number, 1, shuffle), _dealt(rows_y, number, 2, shuffle))


def _dealt(rows: Any, seed: int, stream: int, shuffle: bool | str) -> Sample:
    if not shuffle:
        return Sample(rows)
    return Sample(rows, deal(len(rows), seed, stream).rows(0, len(rows)))


def _is_for_objects(kernel: object) -> bool:
    """Whether a kernel, or one of those to choose from, compares objects, so that lists of anything stay lists."""
    return isinstance(kernel, Pairwise) or any(_is_for_objects(member) for member in _members(kernel))


def _takes_objects(kernel: object) -> bool:
    """Whether a kernel, or one of those to choose from, may compare objects: all but our own kernels of numbers."""
    ours = kernel is None or isinstance(kernel, str) or type(kernel).__module__.startswith("btests.")
    return not ours or isinstance(kernel, Pairwise) or any(_takes_objects(member) for member in _members(kernel))


def _members(kernel: object) -> tuple[object, ...]:
    members = kernel.kernels if isinstance(kernel, Combination) else getattr(kernel, "family", ())
    return members if isinstance(members, tuple) else ()


def _check_options(kernel: object, null: object, shuffle: object, dtype: object, n_threads: object) -> None:
    check_choice(kernel)
    if isinstance(null, str) and null not in _NULLS:
        raise ValueError(f"null must be one of {', '.join(sorted(_NULLS))}, or a null object, got {null!r}")
    if isinstance(null, type):
        raise TypeError(f"null must be an object, not the class: write {null.__name__}()")
    if null is not None and not isinstance(null, str) and not hasattr(null, "learn"):
        raise TypeError(f"null must be a null such as SignFlip(), got {type(null).__name__}")
    if not isinstance(shuffle, (bool, np.bool_)) and shuffle != "buffered":
        raise TypeError(f"shuffle must be True, False or 'buffered', got {shuffle!r}")
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
    check_threads(n_threads)
