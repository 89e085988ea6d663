"""Table of a comparison as fragments of files, outside memory, and the memory that it takes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from btests._imports import arrow
from btests.comparison.cells import KINDS, kind_of
from btests.comparison.compare_options import Options, require_columns, require_common_columns
from btests.comparison.format import SAME_FILES, option
from btests.comparison.groupby import RowFilter
from btests.comparison.sources import distinct_names, good_part, naming_delimiter, naming_memory
from btests.data.cell_checks import check_same_columns
from btests.data.column_type import ColumnType
from btests.data.csv_parser import note_on_header
from btests.data.errors import DamagedError
from btests.data.files import TABLES, digests
from btests.data.fragment import Fragment, open_fragment
from btests.data.text_format import TextFormat, spoken

# Bytes that a record batch may have at least, whatever the limit.
_LEAST = 2**26


@dataclass(frozen=True, slots=True)
class TableSide:
    """One table as fragments of files.

    Attributes
    ----------
    name : str
        Name in messages.
    parts : tuple of Fragment
        The files, or pieces of them.
    names : tuple of str
        Names of all columns.
    read : tuple of str
        Names of the columns that are read.
    where : RowFilter or None
        Filter of rows; None is all rows.
    types : tuple of ColumnType
        Types of the columns that are read; empty before the first pass.
    n_rows : int
        Number of rows; 0 before the first pass.
    counts : tuple of int
        Number of rows of each part; empty before the first pass.
    """

    name: str
    parts: tuple[Fragment, ...]
    names: tuple[str, ...]
    read: tuple[str, ...] = ()
    where: RowFilter | None = None
    types: tuple[ColumnType, ...] = ()
    n_rows: int = 0
    counts: tuple[int, ...] = ()

    @property
    def several(self) -> bool:
        """Whether there is more than one part."""
        return len(self.parts) > 1

    @property
    def odd(self) -> tuple[tuple[str, Any], ...]:
        """Columns of types that cannot be compared, such as lists, with their types."""
        return tuple(
            (field.name, field.type)
            for part in self.parts
            for field in part.schema
            if kind_of(field.type) not in (*KINDS, "empty")
        )

    @property
    def stamps(self) -> tuple[tuple[str, int, int], ...]:
        """Path, size and time of every file."""
        found = [(os.path.abspath(part.path), os.stat(part.path)) for part in self.parts]
        return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in found)

    def table(self, pieces: Sequence[Any]) -> Any:
        """Return drawn rows as one table of all columns; columns that are not read are empty."""
        pa = arrow()
        found = [_typed(piece, self) for piece in pieces]
        whole = pa.concat_tables(found).combine_chunks() if found else self._schema().empty_table()
        odd = dict(self.odd)
        for place, name in enumerate(self.names):
            if name not in self.read:
                whole = whole.add_column(place, name, pa.nulls(whole.num_rows, odd.get(name, pa.null())))
        return whole

    def batches(self, first: int = 0, last: int | None = None) -> Iterator[tuple[Fragment, int | None, Any]]:
        """Yield the rows of all parts, or of some, typed: the part, the number of rows of its file before, a table.

        The number is None where rows are filtered.
        """
        columns = self.read if self.where is None else (*self.read, self.where.by)
        for part in self.parts[first:last]:
            done = part.first_row
            for batch in part.batches(columns):
                rows = batch if self.where is None else self.where.rows(batch)
                if rows.num_rows:
                    yield (
                        part,
                        done if self.where is None else None,
                        self._reread(part, arrow().Table.from_batches([rows])),
                    )
                done += batch.num_rows

    def _reread(self, part: Fragment, rows: Any) -> Any:
        try:
            return _typed(rows, self)
        except arrow().ArrowInvalid:
            raise DamagedError(f"{part.path!r} has changed while it was read") from None

    def _schema(self) -> Any:
        return arrow().schema([own.field(name) for name, own in zip(self.read, self.types, strict=True)])


def open_side(
    path: str, name: str, text: TextFormat, skipped: list[str] | None, memory: int | None = None
) -> TableSide:
    """Return a table of one file or several; damaged parts are named in ``skipped`` if it is given.

    What must be read at once may take ``memory`` bytes.
    """
    files = TABLES.files(path)
    most = None if memory is None else max(_LEAST, memory)
    with naming_delimiter(), naming_memory(option("memory")):
        found = [good_part(partial(open_fragment, file, text, most), len(files) > 1, skipped) for file in files]
    parts = tuple(part for part in found if part is not None)
    if not parts:
        raise ValueError(f"{path!r} has no part that can be read: {skipped[-1] if skipped else ''}")
    return TableSide(name, parts, _names(parts))


def open_sides(paths: list[str], options: Options, skipped: list[str] | None, memory: int | None) -> list[TableSide]:
    """Return files that are read in pieces, with the columns to read."""
    names = distinct_names([base_name(path) for path in paths], paths)
    opened = [open_side(path, name, options.text, skipped, memory) for path, name in zip(paths, names, strict=True)]
    everywhere = [set(side.names) for side in opened]
    tables = [(side.name, side.names) for side in opened]
    require_columns("columns", options.columns, tables, everywhere=not options.common)
    if len(tables) > 1:
        require_common_columns(tables)
    found = []
    for side in opened:
        odd = {name for name, _ in side.odd}
        read = tuple(
            name
            for name in side.names
            if all(name in names for names in everywhere)
            and name not in odd
            and name not in options.exclude
            and (not options.columns or name in options.columns)
            and name != options.by
        )
        found.append(replace(side, read=read))
    return found


def note_on_copies(sides: Sequence[TableSide]) -> list[str]:
    """Return a remark if the files of two tables have the same sizes, and the same bytes at fixed places."""
    sizes = [[size for _, size, _ in side.stamps] for side in sides]
    if len(sides) < 2 or sizes[0] != sizes[1]:
        return []
    a, b = (digests([part.path for part in side.parts]) for side in sides)
    return [SAME_FILES] if a == b else []


def notes_on_text(sides: Sequence[TableSide], options: Options) -> list[str]:
    """Return a remark on each file whose encoding was found, and is not UTF-8, or whose first line holds numbers."""
    parts = {part.path: part for side in sides for part in side.parts if part.commas is not None}
    found = []
    for path, part in parts.items():
        if options.encoding is None and part.encoding is not None:
            found.append(f"{path} was read as {spoken(part.encoding)}")
        found += note_on_header(part.names, path)
    return found


def _names(parts: Sequence[Fragment]) -> tuple[str, ...]:
    """Return the columns of all parts; raise if the parts have different columns."""
    first = parts[0]
    doubles = sorted({name for name in first.names if first.names.count(name) > 1})
    if doubles:
        raise ValueError(f"{first.path!r} has more than one column called {', '.join(map(repr, doubles))}; rename one")
    for part in parts[1:]:
        check_same_columns(first.path, first.names, part.path, part.names)
    return first.names


def _typed(rows: Any, side: TableSide) -> Any:
    """Return a table with the types of the side, in the order of its columns."""
    columns = [own.read(rows[name]) for name, own in zip(side.read, side.types, strict=True)]
    return arrow().table(columns, schema=side._schema())


def with_texts(side: TableSide, column: str) -> TableSide:
    """Return a side whose JSON lines hold text in a column, without inference of times."""
    return replace(side, parts=tuple(replace(part, texts=(*part.texts, column)) for part in side.parts))


def base_name(path: str) -> str:
    """Return the name of a file without its path."""
    return Path(path).name or path


#: Approximate bytes of a piece.
PIECE_BYTES = 2**26


def cut(side: TableSide, n_bytes: int | None = None) -> TableSide:
    """Return a side whose files are split into pieces of about ``n_bytes`` bytes, if their format allows it.

    Paths are absolute: a worker may have another working directory.
    """
    parts: list[Fragment] = []
    counts: list[int] = []
    for part, count in zip(side.parts, side.counts, strict=True):
        pieces = replace(part, path=os.path.abspath(part.path)).split(n_bytes or PIECE_BYTES)
        parts.extend(pieces)
        counts.extend([count] if len(pieces) == 1 else [_counted(piece, side) for piece in pieces])
    return replace(side, parts=tuple(parts), counts=tuple(counts))


def _counted(piece: Fragment, side: TableSide) -> int:
    """Return the number of rows of a piece that belong to a side."""
    if side.where is None:
        return piece.n_rows_about  # which is exact for a piece
    return sum(side.where.rows(batch).num_rows for batch in piece.batches((side.read[0], side.where.by)))
