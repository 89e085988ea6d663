"""Out-of-core samples from paths, sources and dask collections."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from btests._validation import check_batch, check_names, column_names
from btests.data.arrays import ArraySource
from btests.data.dask_source import DaskSource, compute_here, is_dask
from btests.data.files import digests
from btests.data.open import open_source, with_columns
from btests.data.permuted import PermutedRows, paths_of
from btests.data.row_permutation import AsStored
from btests.data.source import Source
from btests.designs import Design
from btests.execution.dask import Cluster, ShardedSample, compute, connect, on_workers
from btests.execution.out_of_core import Chunked, Observer, Runner
from btests.execution.out_of_core_sample import OutOfCoreSample

# Kinds of shuffle, from the strongest to the weakest.
_ORDERS = ("exact", "buffered", "as stored")


def is_stored(value: object) -> bool:
    """Return whether the rows are in a file, a memory map or a dask collection."""
    if hasattr(type(value), "collect_schema"):  # a polars LazyFrame, whose attribute `width` warns
        return False
    return (
        isinstance(value, (str, os.PathLike, np.memmap))
        or is_dask(value)
        or (isinstance(value, Source) and not hasattr(value, "dtypes"))
    )


@dataclass(frozen=True, slots=True)
class OutOfCoreSamples:
    """Pair of samples of which one or both are in files or on a cluster.

    Attributes
    ----------
    x, y : OutOfCoreSample
        The samples.
    cluster : ExitStack, optional
        Resources of the cluster, closed with the samples.
    run : Runner, optional
        Computes the chunks; in this process by default.
    """

    x: OutOfCoreSample
    y: OutOfCoreSample
    cluster: ExitStack | None = None
    run: Runner | None = None

    @classmethod
    def of(
        cls, x: Source, y: Source, seed: int, shuffle: bool | str, streams: tuple[int, int] = (1, 2)
    ) -> OutOfCoreSamples:
        """Return the permuted rows of two sources, to be computed in this process."""
        rows_x, rows_y = permuted(x, seed, streams[0], shuffle), permuted(y, seed, streams[1], shuffle)
        return cls(OutOfCoreSample(rows_x, 0, x.n_rows), OutOfCoreSample(rows_y, 0, y.n_rows))

    def executor(self, observer: Observer | None = None) -> Chunked:
        """Return the executor of the blocks of these samples."""
        spread = self.x.permuted
        return Chunked(self.run, observer, spread.cluster.instructions if isinstance(spread, ShardedSample) else None)

    @property
    def order(self) -> str:
        """Kind of shuffle; the weaker one of the two samples."""
        return weaker(self.x.permuted.how, self.y.permuted.how)

    @property
    def read(self) -> str:
        """Access method: ``"in chunks"``, or ``"on n workers"``."""
        spread = self.x.permuted
        if not isinstance(spread, ShardedSample):
            return "in chunks"
        return f"on {spread.cluster.n_workers} worker{'s' * (spread.cluster.n_workers > 1)}"

    def close(self) -> None:
        """Free rows that were read ahead, temporary files, and a cluster that was started here."""
        with ExitStack() as all_of_it:  # close each one even if another fails
            if self.cluster is not None:
                all_of_it.callback(self.cluster.close)
            all_of_it.callback(self.y.close)
            all_of_it.callback(self.x.close)


def open_samples(
    x: Source,
    y: Source,
    seed: int,
    shuffle: bool | str,
    workers: object = None,
    *,
    streams: tuple[int, int] = (1, 2),
    moves_rows: bool = True,
) -> OutOfCoreSamples:
    """Return the permuted rows of two sources, in this process or on a cluster.

    Parameters
    ----------
    x, y : Source
        Sources with the same columns (see :func:`matched`).
    seed : int
        As in :func:`btests.btest`.
    shuffle : bool or "buffered"
        As in :func:`btests.btest`.
    workers : object
        As in :func:`btests.btest`, or a :class:`btests.execution.dask.Cluster`.
    streams : (int, int)
        Streams of the permutations of x and y.
    moves_rows : bool
        Whether workers read all rows into shards immediately, and not before blocks need them.
    """
    with ExitStack() as opened:
        collections = [source.collection for source in (x, y) if isinstance(source, DaskSource)]
        cluster = opened.enter_context(connect(workers, *collections))
        if cluster is None:
            return OutOfCoreSamples.of(x, y, seed, shuffle, streams)
        spread = []
        # Submit both samples before waiting for either. If one cannot be read, both are released.
        for source, stream, label in zip((x, y), streams, "xy", strict=True):
            order = permuted(source, seed, stream, shuffle)
            spread.append(ShardedSample.submit(cluster, order, label, moves_rows=moves_rows))
            opened.callback(spread[-1].close)
        stored = [OutOfCoreSample(one, 0, len(one.permuted)) for one in spread]
        return OutOfCoreSamples(stored[0], stored[1], opened.pop_all(), on_workers)


def weaker(how_x: str, how_y: str) -> str:
    """Return the weaker one of two kinds of shuffle."""
    return max(how_x, how_y, key=_ORDERS.index)


def permuted(source: Source, seed: int, stream: int, shuffle: bool | str) -> PermutedRows:
    """Return the rows of a source in permuted order (stream 1 is x, 2 is y)."""
    if shuffle == "buffered" and source.units() is None:
        shuffle = True  # random access: an exact shuffle costs no more
    return PermutedRows.of(source, seed, stream, shuffle)


def describe(source: Source) -> str:
    """Return an identifier of the rows of a source: files, their sizes and times, and digests of some bytes."""
    return f"{PermutedRows(source, AsStored(source.n_rows)).identity} {digests(paths_of(source))}"


def excluded_parts(*sources: Source) -> str:
    """Return a note on damaged parts that were excluded; empty if there are none."""
    skipped = [one for source in sources for one in source.skipped]
    if not skipped:
        return ""
    others = f", and {len(skipped) - 1} more" if len(skipped) > 1 else ""
    return f"left out as damaged: {skipped[0]}{others}"


def matched(x: Any, y: Any, design: Design, cluster: Cluster | None = None) -> tuple[Source, Source]:
    """Return both samples as sources that suit a design, columns matched by name where it compares columns."""
    source_x, source_y = (source_of(name, value, None, cluster) for name, value in (("x", x), ("y", y)))
    names_x, names_y = names_of(x, source_x), names_of(y, source_y)
    if design.compares_columns and names_x is not None and names_y is not None and names_x != names_y:
        check_names(names_x, names_y)
        source_y = (
            source_of("y", y, names_x, cluster) if column_names(y) is not None else with_columns(source_y, names_x)
        )
    design.check(source_x.n_rows, source_y.n_rows, source_x.width, source_y.width)
    return source_x, source_y


def source_of(name: str, value: Any, columns: Sequence[str] | None = None, cluster: Cluster | None = None) -> Source:
    """Return a sample as a source, columns in the order of ``columns``; dask collections are computed by a cluster."""
    if isinstance(value, (str, os.PathLike)):
        return open_source(value, columns)
    if isinstance(value, np.memmap):
        return ArraySource(value, name)
    if is_dask(value):
        by = compute_here if cluster is None else partial(compute, cluster)
        return DaskSource(value, name, None if columns is None else tuple(columns), by)
    if is_stored(value):
        found: Source = value
        return found
    rows = check_batch(name, value)
    if columns is not None:
        present = column_names(value) or []
        rows = np.ascontiguousarray(rows[:, [present.index(column) for column in columns]])
    return ArraySource(rows, name)


def names_of(value: Any, source: Source) -> list[str] | None:
    """Return the column names of a sample and its source; None if they have no names."""
    names = source.names if source.names is not None or is_dask(value) else column_names(value)
    return None if names is None else list(names)
