"""Sheets of workbooks (Excel, OpenDocument) as delimited text, whose cells are read by the rules of CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from btests._imports import optional
from btests._text import shortly
from btests.data.archive import check_unpacked_size, choose
from btests.data.errors import DamagedError


def sheet_text(source: str | bytes, wanted: str | None, where: str, most_bytes: int | None) -> bytes:
    """Return a sheet of a workbook, in a file or its contents, as the text of a CSV file; the first sheet for None."""
    calamine = optional("python_calamine", "python -m pip install 'btests[excel]'")
    if isinstance(calamine, str):
        raise ValueError(f"{where!r} is a workbook, and reading it needs python-calamine; {calamine}")
    check_unpacked_size(source, where, most_bytes)
    try:
        book = calamine.load_workbook(io.BytesIO(source) if isinstance(source, bytes) else source)
        names = list(book.sheet_names)
        sheet = choose(names[:1] if wanted is None else names, wanted, where, "sheet")
        rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
    except (calamine.CalamineError, OSError, IndexError, KeyError) as error:
        raise DamagedError(f"{where!r} is not a readable workbook, or it is damaged: {shortly(error)}") from None
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # of the compiled reader, and no Exception
            raise DamagedError(f"{where!r} is not a readable workbook, or it is damaged: {shortly(error)}") from None
        raise
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
