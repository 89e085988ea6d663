"""External shuffle: an exact permutation of a source without random access, through a temporary file."""

from __future__ import annotations

import errno
import os
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import IO, Any

import numpy as np

from btests.data.row_permutation import Order, gather, octets, scatter
from btests.data.source import Rows, Source
from btests.plan import Index

# Approximate memory of one bucket when it is read; larger for large files, to limit the number of buckets.
_BUCKET_BYTES, _LARGEST_BUCKET = 2**25, 2**27
_MANY_BUCKETS = 2**10

# Rows are read from the source in pieces of a bucket's size over this: each is split into as many parts as there are
# buckets, and small parts are slow to write.
_PIECE_SHARE = 2

# Bytes of a position within a bucket.
_PLACE = np.dtype(np.uint32)

# Error numbers of file systems that do not support reservation of space.
_NO_RESERVE = {errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS}


class NoSpaceError(ValueError):
    """Raised if a temporary file cannot be written in full."""


@dataclass(slots=True)
class _Bucket:
    """Cache of the bucket that was read last."""

    number: int = -1
    rows: Rows | None = None
    lock: Any = field(default_factory=Lock)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Spilled:
    """Permuted rows in a private temporary file.

    The file has no name in its folder if the system allows it (otherwise it is deleted on closing), so nothing is left
    behind when the process ends. Bucket ``k`` is a contiguous part of the file: the rows at positions from
    ``k * bucket_rows`` on, in the order of the source, followed by the position of each within the bucket.

    Attributes
    ----------
    n_rows, width : int
        Shape of the rows.
    dtype : numpy.dtype
        Type of the rows.
    bucket_rows : int
        Rows of a bucket.
    """

    n_rows: int
    width: int
    dtype: np.dtype[Any]
    bucket_rows: int
    _file: IO[bytes] = field(repr=False)
    _last: _Bucket = field(init=False, repr=False, default_factory=_Bucket)

    def __post_init__(self) -> None:
        weakref.finalize(self, self._file.close)  # also free the space with the last reference

    def __enter__(self) -> Spilled:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the space on disk."""
        self._file.close()

    def window(self, first: int, last: int) -> Rows:
        """Return the rows at positions ``first .. last - 1``, read-only: (last - first, width)."""
        pieces = []
        for k in range(first // self.bucket_rows, -(-last // self.bucket_rows)):
            start = k * self.bucket_rows
            pieces.append(self._bucket(k)[max(first - start, 0) : last - start])
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate(pieces) if pieces else np.empty((0, self.width), dtype=self.dtype)

    def at(self, positions: Index) -> Rows:
        """Return the rows at these positions: (m,) to (m, width)."""
        positions = np.asarray(positions, dtype=np.int64)
        found = np.empty((len(positions), self.width), dtype=self.dtype)
        buckets = positions // self.bucket_rows
        for k in np.unique(buckets).tolist():
            here = buckets == k
            found[here] = self._bucket(k)[positions[here] - k * self.bucket_rows]
        return found

    def _bucket(self, k: int) -> Rows:
        with self._last.lock:
            if self._last.number != k or self._last.rows is None:
                self._last.rows = None  # free the old bucket before the new one is read
                self._last.rows, self._last.number = self._placed(k), k
            return self._last.rows

    def _placed(self, k: int) -> Rows:
        count = min(self.bucket_rows, self.n_rows - k * self.bucket_rows)
        stored = np.empty((count, self.width), dtype=self.dtype)
        places = np.empty(count, dtype=_PLACE)
        self._file.seek(_start(self, k))
        for part in (stored, places):
            view = octets(part)
            if self._file.readinto(view) != len(view):  # type: ignore[attr-defined]
                raise OSError("a temporary file was cut off")
        rows = scatter(stored, places)
        rows.setflags(write=False)
        return rows


def spill(
    source: Source,
    order: Order,
    n_rows_per_bucket: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    *,
    report: Callable[[int], None] | None = None,
) -> Spilled:
    """Write the rows of ``source`` in ``order`` to a temporary file, in one pass, and return it.

    Parameters
    ----------
    source : Source
        Rows to be permuted.
    order : Order
        The permutation.
    n_rows_per_bucket : int, optional
        Rows that are read back at a time; by default 16 MB of them, up to 64 MB for large sources.
    folder : str or path-like, optional
        Folder of the temporary file; by default that of the system.
    report : callable, optional
        Called with the number of rows done, after each piece.

    Raises
    ------
    NoSpaceError
        If the folder has too little free space, or cannot be written to.
    """
    import tempfile  # imported on demand: slow to import

    row_bytes = source.width * source.dtype.itemsize
    where = os.fspath(folder) if folder is not None else tempfile.gettempdir()
    needed = source.n_rows * (row_bytes + _PLACE.itemsize)
    bucket_bytes = min(max(_BUCKET_BYTES, 2 * needed // _MANY_BUCKETS), _LARGEST_BUCKET)
    bucket_rows = n_rows_per_bucket or max(1, bucket_bytes // (2 * row_bytes + _PLACE.itemsize))
    piece_rows = max(1, bucket_bytes // (_PIECE_SHARE * row_bytes))
    _require_space(needed, where, source)
    try:
        file = tempfile.TemporaryFile(prefix="btests-", dir=where, buffering=0)  # noqa: SIM115  it outlives this call
    except OSError as error:
        raise NoSpaceError(_complaint(error, needed, where, source)) from None
    try:
        _reserve(file, needed)
        spilled = Spilled(source.n_rows, source.width, source.dtype, bucket_rows, file)
        _fill(spilled, source, order, piece_rows, report)
    except OSError as error:
        file.close()
        raise NoSpaceError(_complaint(error, needed, where, source)) from None
    except BaseException:  # also KeyboardInterrupt: closing deletes the file
        file.close()
        raise
    return spilled


def _fill(
    spilled: Spilled, source: Source, order: Order, piece_rows: int, report: Callable[[int], None] | None
) -> None:
    n_buckets = -(-spilled.n_rows // spilled.bucket_rows)
    filled = np.zeros(n_buckets, dtype=np.int64)
    done = 0
    for rows in _pieces(source, piece_rows):
        positions = order.positions(np.arange(done, done + len(rows), dtype=np.int64))
        buckets = positions // spilled.bucket_rows
        places = (positions - buckets * spilled.bucket_rows).astype(_PLACE)
        # numpy sorts 16-bit integers by radix sort.
        turn = np.argsort(buckets.astype(np.uint16) if n_buckets <= 2**16 else buckets, kind="stable")
        rows, places = gather(rows, turn), places[turn]  # noqa: PLW2901
        counts = np.bincount(buckets, minlength=n_buckets)
        ends = np.cumsum(counts)
        for k in np.flatnonzero(counts).tolist():
            a, b = int(ends[k] - counts[k]), int(ends[k])
            _write(spilled, k, int(filled[k]), rows[a:b], places[a:b])
        filled += counts
        done += len(rows)
        if report is not None:
            report(done)
    if done != spilled.n_rows:
        raise ValueError(f"{source.name!r} has {done} rows and said that it has {spilled.n_rows}")


def _pieces(source: Source, step: int) -> Iterator[Rows]:
    """Yield the rows of a source in pieces of at least ``step`` rows, merging small ones."""
    held: list[Rows] = []
    count = 0
    for rows in source.scan(step):
        held.append(rows)
        count += len(rows)
        if count >= step:
            yield held[0] if len(held) == 1 else np.concatenate(held)
            held, count = [], 0
    if held:
        yield held[0] if len(held) == 1 else np.concatenate(held)


def _write(spilled: Spilled, k: int, filled: int, rows: Rows, places: Rows) -> None:
    start = _start(spilled, k)
    count = min(spilled.bucket_rows, spilled.n_rows - k * spilled.bucket_rows)
    row_bytes = spilled.width * spilled.dtype.itemsize
    _write_at(spilled._file, start + filled * row_bytes, rows)
    _write_at(spilled._file, start + count * row_bytes + filled * _PLACE.itemsize, places)


def _write_at(file: IO[bytes], offset: int, part: Rows) -> None:
    view = octets(part)
    file.seek(offset)
    while view:  # writes may be partial
        view = view[file.write(view) :]


def _start(spilled: Spilled, k: int) -> int:
    """Return the byte offset of a bucket."""
    return k * spilled.bucket_rows * (spilled.width * spilled.dtype.itemsize + _PLACE.itemsize)


def _reserve(file: IO[bytes], needed: int) -> None:
    """Reserve the space of the file, so that a full disk is an error before the pass over the source."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.fileno(), 0, needed)
    except OSError as error:
        if error.errno not in _NO_RESERVE:
            raise


def _require_space(needed: int, where: str, source: Source) -> None:
    import shutil

    try:
        free = shutil.disk_usage(where).free
    except OSError as error:
        raise NoSpaceError(_complaint(error, needed, where, source)) from None
    if needed > free:
        raise NoSpaceError(
            f"shuffling {source.name!r} exactly needs {_amount(needed)} in {where!r}, and {_amount(free)} are free; "
            f"{_ADVICE}"
        )


def _complaint(error: OSError, needed: int, where: str, source: Source) -> str:
    return (
        f"shuffling {source.name!r} exactly needs {_amount(needed)} in {where!r}, which failed: "
        f"{error.strerror or error}; {_ADVICE}"
    )


_ADVICE = 'name a larger folder in the variable TMPDIR (btest with shuffle="buffered" needs none)'


def _amount(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.3g} MB"
