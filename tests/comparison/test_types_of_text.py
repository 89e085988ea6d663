"""Types of text are the same, whether files are read whole or in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from btests.comparison.sources import load
from btests.comparison.table_side import TableSide, open_side
from btests.data.column_type import ColumnType
from btests.data.csv_table import TextTable, typed
from btests.data.text_format import TextFormat

INT, REAL, BOOL, TEXT = pa.int64(), pa.float64(), pa.bool_(), pa.string()
WHOLE = pa.decimal128(37, 0)

# Cells of each part of a table, and the type of all.
COLUMNS: Mapping[str, tuple[list[list[str]], Any]] = {
    "integers": ([["1", " 22 ", ""]], INT),
    "reals": ([["1", "2.5", "-3e-7"]], REAL),
    "no cells": ([["", "NA"]], pa.null()),
    "truths": ([["true", "false"]], BOOL),
    "beyond 64 bits": ([["12345678901234567890", "1"]], WHOLE),
    "reals beyond 64 bits": ([["12345678901234567890", "1.5"]], REAL),
    "words": ([["1", "x"]], TEXT),
    "days": ([["2024-01-31", "2024-02-29"]], pa.date32()),
    "a day that does not exist": ([["2024-01-31", "2024-02-30"]], TEXT),
    "moments": ([["2024-01-31 10:00:00", "2024-02-29"]], pa.timestamp("s")),
    "times of day": ([["10:00", "23:59:59"]], pa.time32("s")),
    "two parts": ([["1", "2"], ["2.5"]], REAL),
    "a part without cells": ([["", ""], ["7"]], INT),
    "words in a later part": ([["1", "2"], ["x"]], TEXT),
    "days and moments": ([["2024-01-31"], ["2024-01-31 10:00:00.5"]], pa.timestamp("ns")),
    "truths and numbers": ([["true"], ["1"]], TEXT),
    "numbers and truths": ([["1"], ["true"]], TEXT),
    "numbers that become words": ([["1", "2.5"], ["x"], ["3"]], TEXT),
}

# The same beside semicolons, where a comma may be the decimal mark.
COMMAS: Mapping[str, tuple[list[list[str]], Any]] = {
    "decimal commas": ([["1,5", "2"]], REAL),
    "commas in words": ([["1,5", "x"]], TEXT),
    "commas and points": ([["1,5", "2.25"]], TEXT),
    "groups of digits": ([["1.234,5", "2,5"]], REAL),
    "commas in a later part": ([["1"], ["2,5"]], REAL),
    "points, and commas later": ([["1.25"], ["2,5"]], TEXT),
}


def written(folder: Path, parts: list[list[str]], delimiter: str) -> str:
    for number, cells in enumerate(parts):
        lines = [f"cell{delimiter}row", *(f"{cell}{delimiter}{row}" for row, cell in enumerate(cells))]
        (folder / f"part-{number}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(folder)


def in_pieces(side: TableSide) -> Any:
    """Return the column, with the type that is found as batches of all parts come."""
    batches = [
        (batch["cell"], part.commas) for part in side.parts for batch in part.batches(("cell",)) if batch.num_rows
    ]
    seen = ColumnType.nothing()
    for cells, commas in batches:
        seen = seen.after(cells, commas)
    return pa.chunked_array([seen.read(cells) for cells, _ in batches], seen.dtype)


@pytest.mark.parametrize(
    ("parts", "dtype", "text"),
    [
        *((*case, TextFormat(delimiter=",")) for case in COLUMNS.values()),
        *((*case, TextFormat(delimiter=";")) for case in COMMAS.values()),
    ],
    ids=[*COLUMNS, *COMMAS],
)
def test_whole_and_in_pieces(tmp_path: Path, parts: list[list[str]], dtype: Any, text: TextFormat) -> None:
    path = written(tmp_path, parts, text.delimiter or ",")
    whole = load(path, "table", text=text).table["cell"]
    assert whole.type == dtype
    found = in_pieces(open_side(path, "a", text, None))
    assert found.type == dtype
    assert found.to_pylist() == whole.to_pylist()


def test_a_decimal_comma_that_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, [["1.234", "2,5"]], ";")
    text = TextFormat(delimiter=";", decimal=",")
    assert load(path, "table", text=text).table["cell"].to_pylist() == [1234.0, 2.5]


def test_large_whole_numbers_keep_their_digits() -> None:
    cells = pa.table({"cell": pa.array(["9223372036854775808", "9223372036854775809"])})
    found = typed([TextTable("a.csv", cells, "")])["cell"].to_pylist()
    assert found[1] - found[0] == 1
