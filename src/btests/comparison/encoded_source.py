"""Source of the rows of files, encoded as coordinates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module
from typing import Any

import numpy as np

from btests._imports import arrow
from btests.comparison.cells import Cells, kind_of, pool
from btests.comparison.column_types import offset_of, prepared, without_offset
from btests.comparison.compare_options import Options
from btests.comparison.encoding import Encoding
from btests.comparison.format import option
from btests.comparison.sources import Loaded
from btests.comparison.table_side import TableSide
from btests.comparison.text_styles import parsed
from btests.comparison.tokens import as_text, clear_marks, mark_missing
from btests.data.column_type import converted
from btests.data.errors import DamagedError
from btests.data.source import Rows
from btests.plan import Index


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """Conversion of one column of one side to cells.

    Attributes
    ----------
    name, kind : str
        Name and kind of the column.
    marks : tuple of str
        Texts that stand for missing cells.
    dtype : str
        Arrow type of the cells without marks, as text; empty to keep their type.
    form : str
        Style of dates or numbers in text; empty if there are none.
    offset : int or Decimal
        Subtracted from whole numbers beyond 2^53.
    as_text : str
        For numbers that are codes: ``"whole"`` if all drawn ones are whole, otherwise ``"any"``; empty for no codes.
    """

    name: str
    kind: str
    marks: tuple[str, ...] = ()
    dtype: str = ""
    form: str = ""
    offset: int | Decimal = 0
    as_text: str = ""

    def cells(self, column: Any, where: str, before: int | None, levels: tuple[str, ...]) -> Cells:
        """Return an arrow column of a few rows as cells.

        ``where`` and the number of rows ``before`` it, None if unknown, are for messages.
        Levels of a category that are not in ``levels`` share one last level without a name.
        """
        pa = arrow()
        found = clear_marks(column, self.marks) if self.marks else column
        try:
            if self.dtype:
                found = converted(found, pa.type_for_alias(self.dtype))
            if self.offset:
                found = without_offset(found, self.offset)
        except pa.ArrowInvalid:
            raise ValueError(self._complaint(found, where, before)) from None
        if self.form:
            dates = parsed(found, self.form)
            if dates.null_count > found.null_count:
                raise ValueError(self._complaint(found, where, before))
            found = dates
        if self.as_text and kind_of(found.type) != "category":
            found = _codes(found, self.as_text)
        if self.kind == "category":
            return _coded(self.name, found, levels)
        return pool(self.name, found, found.slice(0, 0), (where, where))

    def _complaint(self, column: Any, where: str, before: int | None) -> str:
        """Return a message that names the first cell that does not fit the type of the drawn rows."""
        place, cell = next(
            (place, cell) for place, cell in enumerate(column.to_pylist(), 1) if not self._is_good(cell, column.type)
        )
        row = "" if before is None else f" in row {before + place}"
        kind = f"cells of the form {self.form}" if self.form else "numbers of one size" if self.offset else self.dtype
        return (
            f"column {self.name!r} of {where!r} has {str(cell)[:40]!r}{row}, and the rows that were drawn have "
            f"{kind}; correct it, or exclude the column with {option('exclude', self.name)}"
        )

    def _is_good(self, cell: Any, dtype: Any) -> bool:
        pa = arrow()
        if cell is None:
            return True
        one = pa.array([cell], dtype)
        if self.form:
            return bool(parsed(one, self.form).null_count == 0)
        try:
            if self.dtype:
                converted(one, pa.type_for_alias(self.dtype))
            return not self.offset or -(2**63) <= cell - self.offset < 2**63
        except pa.ArrowInvalid:
            return False


def column_readers(
    sides: Sequence[Loaded], columns: Sequence[Cells], options: Options
) -> tuple[tuple[ColumnReader, ...], tuple[ColumnReader, ...]]:
    """Return the readers of each column on both sides; the tables hold the drawn rows as read from the files."""
    marked = [replace(side, table=mark_missing(side.table, options.missing)) for side in sides]
    *made, forms = prepared(marked[0], marked[1], options, [])
    found: list[tuple[ColumnReader, ...]] = []
    for tables in zip(sides, marked, made, strict=True):
        own = [tuple(side.table[cells.name] for side in tables) for cells in columns]
        found.append(
            tuple(
                _reader(cells, states, forms.get(cells.name, ""), options)
                for cells, states in zip(columns, own, strict=True)
            )
        )
    return found[0], found[1]


def _reader(cells: Cells, states: tuple[Any, ...], form: str, options: Options) -> ColumnReader:
    """Return the reader that converts a column as drawn to the column as compared.

    ``states`` are the column as drawn, without marks, and as compared; dates have their format on both sides.
    """
    pa, pc = arrow(), import_module("pyarrow.compute")
    name, (raw, clear, last) = cells.name, states
    is_same = raw.type == clear.type or (pa.types.is_decimal(raw.type) and pa.types.is_decimal(clear.type))
    dtype = "" if is_same else {"double": "float64"}.get(str(clear.type), str(clear.type))
    as_text = ""
    offset: int | Decimal = 0
    if kind_of(last.type) == "category" and kind_of(clear.type) != "category":
        whole = not pa.types.is_floating(clear.type) or not pc.any(pc.match_substring(last, ".")).as_py()
        as_text = "whole" if whole else "any"
    elif (last is not clear and pa.types.is_integer(clear.type)) or (
        pa.types.is_decimal(clear.type) and pa.types.is_floating(last.type)
    ):
        offset = offset_of(clear, last)
    form = form if kind_of(clear.type) == "category" else ""
    return ColumnReader(name, cells.kind, tuple(options.missing), dtype, form, offset, as_text)


def _coded(name: str, column: Any, levels: tuple[str, ...]) -> Cells:
    """Return text as indices of these levels, as ``pool`` does."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    text = pc.cast(column, pa.large_string())
    places = pc.fill_null(pc.index_in(text, pa.array(levels, pa.large_string())), len(levels))
    missing = np.asarray(text.is_null().to_numpy(), dtype=bool)
    values = np.asarray(places.to_numpy(), dtype=np.float64)
    values[missing] = 0.0
    return Cells(name, "category", values, missing, len(column), (*levels, "\0"))


def _codes(column: Any, how: str) -> Any:
    """Return numbers as text, without a decimal point if all drawn ones are whole."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    text = as_text(column)
    if how != "whole" or not pa.types.is_floating(column.type):
        return text
    whole = pc.cast(column, pa.int64(), safe=False)
    return pc.if_else(pc.equal(pc.cast(whole, column.type, safe=False), column), pc.cast(whole, pa.string()), text)


#: Coordinates are around 1: the seven digits of float32 suffice, at half of the disk space.
DTYPE = np.dtype(np.float32)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EncodedSource:
    """Rows of one side, encoded with the encoding of the drawn rows."""

    side: TableSide
    readers: tuple[ColumnReader, ...]
    encoding: Encoding

    def __repr__(self) -> str:
        side = self.side
        files = dict.fromkeys(
            (part.delimiter, part.encoding, part.commas, part.texts, *stamp)
            for part, stamp in zip(side.parts, side.stamps, strict=True)
        )
        # Without the split of files into pieces, which does not affect the rows.
        identity = repr((list(files), side.read, side.where, side.types, side.n_rows, self.readers, self.encoding))
        return f"EncodedSource({self.side.name!r}, {hashlib.sha256(identity.encode()).hexdigest()})"

    @property
    def name(self) -> str:
        """Name in messages."""
        return self.side.name

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.side.n_rows

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.encoding.owners)

    @property
    def names(self) -> None:
        """Coordinates have no names."""
        return

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the rows."""
        return DTYPE

    @property
    def skipped(self) -> tuple[str, ...]:
        """Damaged parts: none, they were skipped in the first pass."""
        return ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the files."""
        return tuple(dict.fromkeys(part.path for part in self.side.parts))

    def units(self) -> Index:
        """Return the edges of the parts, each of which is read from its first row on: (n_parts + 1,)."""
        return np.append(0, np.cumsum(self.side.counts)).astype(np.int64)

    def read(self, first: int, last: int) -> Rows:
        """Return rows ``first .. last - 1``: (last - first, width), contiguous."""
        return self.take(np.arange(first, last, dtype=np.int64))

    def take(self, rows: Index) -> Rows:
        """Return rows of increasing numbers: (m,) to (m, width), contiguous."""
        rows = np.asarray(rows, dtype=np.int64)
        found = np.empty((len(rows), self.width), dtype=DTYPE)
        if not rows.size:
            return found
        edges = self.units()
        first, last = np.searchsorted(edges, [rows[0], rows[-1]], side="right").tolist()
        start = int(edges[first - 1])
        for part, before, batch in self.side.batches(first - 1, last):
            a, b = np.searchsorted(rows, [start, start + batch.num_rows]).tolist()
            if a < b:
                found[a:b] = self._rows(part.path, before, batch)[rows[a:b] - start]
            start += batch.num_rows
            if start > rows[-1]:
                return found
        raise DamagedError(f"{self.name!r} has changed while it was read")

    def scan(self, n_rows: int) -> Iterator[Rows]:
        """Yield all rows once, from the first on, at most ``n_rows`` at a time: each (m, width)."""
        done = 0
        for part, before, batch in self.side.batches():
            rows = self._rows(part.path, before, batch)
            done += len(rows)
            if done > self.n_rows:
                break
            yield from (rows[start : start + n_rows] for start in range(0, len(rows), n_rows))
        if done != self.n_rows:
            raise DamagedError(f"{self.name!r} has changed while it was read")

    def _rows(self, path: str, before: int | None, batch: Any) -> Rows:
        out = np.empty((batch.num_rows, self.width), dtype=DTYPE)
        start = 0
        for reader, code in zip(self.readers, self.encoding.codes, strict=True):
            cells = reader.cells(batch[reader.name], path, before, code.levels)
            out[:, start : start + code.width] = code.transform(cells)
            start += code.width
        return out
