"""Tables of SQLite databases, which are opened for reading only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from btests._imports import arrow
from btests._memory import amount
from btests._text import shortly
from btests.data.archive import choose
from btests.data.errors import DamagedError, LargeError

# Rows that are converted at a time.
_ROWS = 2**14

_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


def sqlite_table(file: str, wanted: str | None, most_bytes: int | None) -> Any:
    """Return a table of a database; the only one for None. Texts of which all are times become times.

    Raises
    ------
    LargeError
        If its cells take more than ``most_bytes`` bytes.
    """
    address = f"{Path(file).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            name = choose([row[0] for row in database.execute(_TABLES)], wanted, file, "table")
            quoted = name.replace('"', '""')
            cursor = database.execute(f'SELECT * FROM "{quoted}"')
            names = [column[0] for column in cursor.description]
            chunks = list(_chunks(cursor, file, most_bytes))
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
        raise DamagedError(f"{file!r} is not a readable database, or it is damaged: {shortly(error)}") from None
    return arrow().table([_joined(list(parts)) for parts in zip(*chunks, strict=True)] or [[]] * len(names), names)


def _chunks(cursor: sqlite3.Cursor, file: str, most_bytes: int | None) -> Iterator[list[Any]]:
    """Yield the columns of some rows at a time."""
    size = 0
    while rows := cursor.fetchmany(_ROWS):
        columns = [_array(cells) for cells in zip(*rows, strict=True)]
        size += sum(column.nbytes for column in columns)
        if most_bytes is not None and size > most_bytes:
            raise LargeError(f"{file!r} takes more than {amount(most_bytes)} in memory, which is what it may take")
        yield columns


def _array(cells: tuple[Any, ...]) -> Any:
    """Return cells of a column, which may be of several types, as an array of the widest."""
    pa = arrow()
    types = {type(cell) for cell in cells} - {type(None)}
    if types == {int, float}:
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    if bytes in types and len(types) > 1:
        raise sqlite3.DataError("a column holds bytes and other values")
    if len(types) > 1:
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    return pa.array(cells)


def _joined(parts: list[Any]) -> Any:
    """Return the chunks of a column as one of their widest type."""
    pa = arrow()
    order = [pa.null(), pa.int64(), pa.float64(), pa.string(), pa.binary()]
    widest = max((part.type for part in parts), key=order.index)
    return _times(pa.chunked_array([part.cast(widest, safe=False) for part in parts], widest))


def _times(column: Any) -> Any:
    """Return a column of texts as times if all of them are."""
    pa = arrow()
    if column.type != pa.string():
        return column
    for dtype in (pa.date32(), pa.timestamp("us")):
        try:
            return column.cast(dtype)
        except pa.ArrowInvalid:
            continue
    return column
