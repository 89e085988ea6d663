"""Tables of files that hold several: sheets of workbooks, tables of databases, members of archives.

One of them is named after ``::``.
"""

from __future__ import annotations

import csv
import io
import lzma
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from btests._imports import arrow, optional
from btests._memory import amount
from btests._text import close_match, shortened, shortly
from btests.data.compression import unpacked
from btests.data.errors import DamagedError, LargeError, check_memory, reading
from btests.data.formats import INSIDE
from btests.data.workbook_cells import note_on_formulas, refuse_far_cells

#: What zipfile raises at damaged archives, and at those of other programs; OverflowError at times before 1980.
ZIP_ERRORS = (
    *(OSError, EOFError, UnicodeDecodeError, KeyError, IndexError, NotImplementedError, RuntimeError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
)

# Names in a message at most, and characters of each.
_SHOWN, _NAME = 8, 60


def choose(names: Sequence[str], wanted: str | None, file: str, noun: str) -> str:
    """Return the table of a file that is wanted, or the only one.

    Parameters
    ----------
    names : sequence of str
        Names of all tables in the file.
    wanted : str or None
        Name after ``::``; None if the user named none.
    file : str
        Name of the file in messages.
    noun : str
        What the tables are, such as ``"sheet"``.

    Examples
    --------
    >>> choose(["a", "b"], "b", "x.db", "table"), choose(["a"], None, "x.db", "table")
    ('b', 'a')
    """
    if not names:
        raise ValueError(f"{file!r} holds no {noun}")
    if wanted in names:
        return str(wanted)
    shown = ", ".join(shortened(name, _NAME) for name in names[:_SHOWN])
    shown += f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        such = f"{file}{INSIDE}{shortened(names[0], _NAME)}"
        raise ValueError(f"{file!r} holds {len(names)} {noun}s, {shown}; name one of them, such as {such!r}")
    near = close_match(wanted, names)
    hint = "" if near is None else f"did you mean {f'{file}{INSIDE}{near}'!r}? "
    raise ValueError(f"there is no {noun} {wanted!r} in {file!r}; {hint or ''}there is {shown}")


def read_member(source: str | bytes, wanted: str | None, file: str, most_bytes: int | None) -> tuple[bytes, str]:
    """Return the contents and the name of a member of an archive, in a file or its contents; the only one for None."""
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            # Archives of macOS hold a second member for each, with its attributes.
            own = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
            names = [member.filename for member in own]
            array = f"{wanted}.npy"  # of an archive of arrays
            name = choose(names, array if array in names and wanted not in names else wanted, file, "file")
            with archive.open(name) as member:
                return unpacked(member, f"{file}{INSIDE}{name}", most_bytes), name
    except ZIP_ERRORS as error:
        raise DamagedError(f"{file!r} is not a readable zip file, or it is cut off: {shortly(error)}") from None


def check_unpacked_size(source: str | bytes, file: str, most_bytes: int | None) -> None:
    """Raise if the members of an archive declare more than ``most_bytes`` bytes in all; other files pass."""
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            declared = sum(member.file_size for member in archive.infolist())
    except ZIP_ERRORS:  # a workbook of the older kind, or damaged: raises on reading
        return
    if most_bytes is not None and declared > most_bytes:
        raise LargeError(f"{file!r} unpacks to {amount(declared)}, and may take {amount(most_bytes)}")


def sheet_text(
    source: str | bytes, wanted: str | None, where: str, most_bytes: int | None, notes: list[str] | None
) -> bytes:
    """Return a sheet of a workbook, in a file or its contents, as the text of a CSV file; the first sheet for None.

    Formulas without values are named in ``notes``.
    """
    calamine = optional("python_calamine", "python -m pip install 'btests[excel]'")
    if isinstance(calamine, str):
        raise ValueError(f"{where!r} is a workbook, and reading it needs python-calamine; {calamine}")
    check_unpacked_size(source, where, most_bytes)
    try:
        refuse_far_cells(source, where, most_bytes)
        book = calamine.load_workbook(io.BytesIO(source) if isinstance(source, bytes) else source)
        names = list(book.sheet_names)
        sheet = choose(names[:1] if wanted is None else names, wanted, where, "sheet")
        rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
        note = None if notes is None else note_on_formulas(source, sheet, where)
    except (calamine.CalamineError, *ZIP_ERRORS) as error:
        raise DamagedError(f"{where!r} is not a readable workbook, or it is damaged: {shortly(error)}") from None
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # of the compiled reader, and no Exception
            raise DamagedError(f"{where!r} is not a readable workbook, or it is damaged: {shortly(error)}") from None
        raise
    if notes is not None and note is not None:
        notes.append(note)
    if not rows:
        raise DamagedError(f"sheet {sheet!r} of {where!r} is empty")
    return _text(rows)


def _text(rows: Sequence[Sequence[Any]]) -> bytes:
    """Return rows of cells, the first of which is the header, as the text of a CSV file."""
    columns = []
    for place, (name, *cells) in enumerate(zip(*rows, strict=True), start=1):
        if name != "" or any(cell != "" for cell in cells):
            columns.append([_cell(name) or f"column {place}", *_texts(cells)])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(row for row in zip(*columns, strict=True) if any(row))
    return text.getvalue().encode("utf-8", "replace")


def _texts(cells: Sequence[Any]) -> list[str]:
    """Return the cells of a column as texts; days among times are midnights."""
    if any(isinstance(cell, datetime) for cell in cells):
        midnight = time()
        cells = [datetime.combine(cell, midnight) if type(cell) is date else cell for cell in cells]
    return list(map(_cell, cells))


def _cell(cell: Any) -> str:
    r"""Return a cell as text.

    Examples
    --------
    >>> [_cell(x) for x in (True, 2.0, 0.1, "a", timedelta(minutes=1), datetime(2024, 1, 2, 3))]
    ['true', '2', '0.1', 'a', '60.0', '2024-01-02 03:00:00']
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:  # a workbook has no other numbers
        return str(int(cell))
    if isinstance(cell, timedelta):
        return str(cell.total_seconds())
    return str(cell)


# Rows of a database that are converted at a time, and bytes of their texts and blobs, if they have more than one row.
_ROWS, _BYTES = 2**14, 2**23

# Bytes of a cell at most, as SQLite has it.
_LONGEST = 10**9

# Steps of SQLite between checks, and checks for some rows at most: half a minute, about, in which a view gives none.
_STEPS, _CHECKS = 2**22, 2**10

_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


def sqlite_table(file: str, wanted: str | None, most_bytes: int | None, n_checks: int = _CHECKS) -> Any:
    """Return a table of a database; the only one for None. Texts of which all are times become times.

    Raises
    ------
    LargeError
        If its cells take more than ``most_bytes`` bytes.
    DamagedError
        If it cannot be read, or SQLite is checked ``n_checks`` times before a view gives a row.
    """
    try:
        with closing(sqlite3.connect(_address(file), uri=True)) as database:
            if most_bytes is not None:  # of a cell, which a view may make
                database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(most_bytes, _LONGEST))
            name = choose([row[0] for row in database.execute(_TABLES)], wanted, file, "table")
            quoted = name.replace('"', '""')
            _limit(database, n_checks)
            cursor = database.execute(f'SELECT * FROM "{quoted}"')
            names = [column[0] for column in cursor.description]
            chunks = list(_chunks(cursor, file, most_bytes, n_checks))
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
        if str(error) == "interrupted":
            raise DamagedError(f"{file!r} has a view that gives no rows for too long, or never ends") from None
        raise DamagedError(f"{file!r} is not a readable database, or it is damaged: {shortly(error)}") from None
    return arrow().table([_joined(list(parts)) for parts in zip(*chunks, strict=True)] or [[]] * len(names), names)


def _address(file: str) -> str:
    """Return the address of a database that is only read.

    SQLite would write files beside a database with a write-ahead log; one that has none now is read as it is.
    """
    path = Path(file).resolve()
    with reading(file), path.open("rb") as opened:
        is_logged = opened.read(20)[18:] == b"\2\2"
    is_alone = is_logged and not Path(f"{path}-wal").exists()
    return f"{path.as_uri()}?mode=ro{'&immutable=1' if is_alone else ''}"


def _limit(database: sqlite3.Connection, n_checks: int) -> None:
    """Interrupt what the database computes from now on after so many checks."""
    checks = count(1)
    database.set_progress_handler(lambda: next(checks) > n_checks, _STEPS)


def _chunks(cursor: sqlite3.Cursor, file: str, most_bytes: int | None, n_checks: int) -> Iterator[list[Any]]:
    """Yield the columns of some rows at a time."""
    size = 0
    while rows := _some(cursor):
        _limit(cursor.connection, n_checks)
        columns = [_array(cells) for cells in zip(*rows, strict=True)]
        size += sum(column.nbytes for column in columns)
        check_memory(size, most_bytes, file)
        yield columns


def _some(cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
    """Return the next rows, as many as take a few megabytes; none at the end."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for row in cursor:
        rows.append(row)
        size += sum(len(cell) for cell in row if isinstance(cell, (str, bytes)))
        if len(rows) == _ROWS or size > _BYTES:
            break
    return rows


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
