"""Whole tables from files, folders, patterns and standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from btests._memory import free_bytes
from btests.comparison.format import option
from btests.data import files
from btests.data.csv_dialect import DelimiterError
from btests.data.errors import shortly
from btests.data.files import TABLES, check_same_columns
from btests.data.optional import arrow
from btests.data.table import read_table, table_of_bytes

Found = TypeVar("Found")

#: Memory that a comparison takes at least, in sizes of its files; of compressed files it is several times more.
TIMES_SIZE = 4


def read(path: str, delimiter: str | None = None, skipped: list[str] | None = None) -> Any:
    """Return the table in a file, in the parts of a pattern or a folder, or on standard input for ``-``.

    Damaged parts are excluded and named in ``skipped`` if it is given, and an error otherwise.
    """
    with naming_delimiter():
        if path == "-":
            return _checked(table_of_bytes(_standard_input(), "standard input", delimiter), "standard input")
        parts = TABLES.files(path)
        _require_memory(path, sum(os.stat(part).st_size for part in parts))
        tables = []
        for part in parts:
            table = good_part(partial(read_table, part, delimiter), len(parts) > 1, skipped)
            if table is not None:
                tables.append((part, _checked(table, part)))
    if not tables:
        raise ValueError(f"{path!r} has no part that can be read: {skipped[-1] if skipped else ''}")
    return tables[0][1] if len(tables) == 1 else _joined(tables)


def good_part(read: Callable[[], Found], several: bool, skipped: list[str] | None) -> Found | None:
    """Return the value of ``read()``; None if the part is damaged, one of ``several``, and named in ``skipped``."""
    advice = f"; {option('skip_bad_parts', True)} goes on without such parts"
    return files.good_part(read, skipped, advice) if several else read()


@contextmanager
def naming_delimiter() -> Iterator[None]:
    """Name the option to set where text is read with the wrong delimiter."""
    try:
        yield
    except DelimiterError as error:
        raise ValueError(f"{error.what} add {option('delimiter', error.delimiter)}") from None


def _standard_input() -> bytes:
    """Return the bytes of standard input, which can be read only once and must fit into memory."""
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    most = max(1, free_bytes() // TIMES_SIZE)
    data = sys.stdin.buffer.read(most)
    if len(data) == most and sys.stdin.buffer.read(1):
        raise ValueError(
            f"standard input has more than {most / 1e9:.3g} GB, and is read into memory; save it to a file first, "
            "which is read in pieces"
        )
    return data


def _require_memory(path: str, size: int) -> None:
    """Raise if a table that is read whole would leave too little memory for the tests."""
    needed, free = TIMES_SIZE * size, free_bytes()
    if needed > free:
        raise ValueError(
            f"{path!r} has {size / 1e9:.3g} GB and takes at least {needed / 1e9:.3g} GB of memory, of which "
            f"{free / 1e9:.3g} are free; compare a part of it"
        )


def _checked(table: Any, where: str) -> Any:
    names = table.column_names
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise ValueError(f"{where!r} has more than one column called {', '.join(map(repr, doubles))}")
    if table.num_columns == 0:
        raise ValueError(f"{where!r} has no columns")
    if table.num_rows == 0:
        raise ValueError(f"{where!r} has a header and no rows")
    return table


def _joined(tables: list[tuple[str, Any]]) -> Any:
    pa = arrow()
    first, order = tables[0][0], tables[0][1].column_names
    for part, table in tables[1:]:
        check_same_columns(first, order, part, table.column_names)
    try:
        return pa.concat_tables([table.select(order) for _, table in tables], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(f"the parts from {first!r} on have columns of different types: {shortly(error)}") from None
