"""Rows in delimited text files."""

from __future__ import annotations

import gzip
import io
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv

from btests import PrecisionWarning, btest
from btests.data import csv as csv_source
from btests.data import csv_rows
from btests.data.csv import open_csv
from btests.data.open import open_source
from tests.data.common import check_source, same

ROWS = np.random.default_rng(6).normal(size=(900, 3))


@pytest.fixture(autouse=True)
def _small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "UNIT_BYTES", 4000)
    monkeypatch.setattr(csv_source, "_BLOCK", 1000)


def text_of(rows: Any, header: str | None = "a,b,c", delimiter: str = ",", end: str = "\n") -> str:
    found = [delimiter.join(map(repr, row)) for row in rows.tolist()]
    return end.join(([header] if header is not None else []) + found) + end


def saved(path: Path, text: str | bytes) -> str:
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t"), (".csv.gz", ","), (".tab.gz", "\t")])
def test_numbers(tmp_path: Path, suffix: str, delimiter: str, end: str) -> None:
    text = text_of(ROWS, delimiter.join("abc"), delimiter, end)
    source = open_source(saved(tmp_path / f"rows{suffix}", text))
    check_source(source, ROWS)
    assert source.names == ("a", "b", "c")
    edges = source.units()
    assert edges is not None
    # Packed text, and lines that end in no newline, are parsed from the beginning.
    assert (len(edges) > 10) == (end != "\r" and not suffix.endswith(".gz"))
    check_source(open_source(source.name, columns=["c", "a"]), ROWS[:, [2, 0]])


@pytest.mark.parametrize(
    "text",
    [
        text_of(ROWS).rstrip("\n"),
        "\ufeff" + text_of(ROWS),
        "\n\n" + text_of(ROWS).replace("\n", "\n\n"),
        text_of(ROWS, end="\r\n\r\n"),
        '"a","b","c"\n' + text_of(ROWS, None),
        '"a\nnew line","b","c"\n' + text_of(ROWS, None),
        'a,b,c\n"' + text_of(ROWS, None, '","', '"\n"')[:-1],
        text_of(ROWS, None),
        "\ufeff" + text_of(ROWS, None),
    ],
)
def test_other_ways_to_write_the_same(tmp_path: Path, text: str) -> None:
    check_source(open_source(saved(tmp_path / "rows.csv", text)), ROWS)
    check_source(open_source(saved(tmp_path / "rows.csv.gz", text)), ROWS)


@pytest.mark.parametrize("note", ['"two\nlines, and ""quotes"""', '5" pipe', "a 'b' c", '""', 'x"y"z', '"\r\n\r\n"'])
def test_text_beside_numbers(tmp_path: Path, note: str) -> None:
    """Notes that are not read, some with newlines in quotes, some with quotes that quote nothing."""
    text = "note,x\n" + "".join(f"{note if i % 7 else 'plain'},{i}\n" for i in range(2000))
    path = saved(tmp_path / "rows.csv", text)
    check_source(open_source(path, columns=["x"]), np.arange(2000.0)[:, None])
    with pytest.raises(ValueError, match="has text in row 0, column 'note': 'plain'"):
        open_source(path)


cells = st.sampled_from(["1", "plain", '"a,b"', '"a\nb"', '"a""b"', 'q"q', "", '""', '"\n\n"', "'", '"x"\r'])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(cells, min_size=1, max_size=60), st.integers(5, 60), st.sampled_from(["\n", "\r\n"]))
def test_rows_are_where_the_parser_finds_them(tmp_path: Path, notes: list[str], unit_bytes: int, end: str) -> None:
    text = "note,x" + end + "".join(f"{note},{i}{end}" for i, note in enumerate(notes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "UNIT_BYTES", unit_bytes)
        path = saved(tmp_path / "rows.csv", text)
        options = csv.ParseOptions(newlines_in_values=True)
        try:
            wanted = csv.read_csv(io.BytesIO(text.encode()), parse_options=options).column("x").to_numpy()
            wanted = wanted.astype(np.float64)
        except (pa.ArrowInvalid, ValueError):  # a quote that is never closed
            return
        source = open_source(path, columns=["x"])
        same(source.read(0, source.n_rows), np.ascontiguousarray(wanted[:, None]))


def test_booleans_and_whole_numbers(tmp_path: Path) -> None:
    text = "yes,n\n" + "".join(f"{'true' if i % 3 else 'False'},{i}\n" for i in range(800))
    wanted = np.column_stack([np.arange(800) % 3 > 0, np.arange(800)]).astype(np.float64)
    check_source(open_source(saved(tmp_path / "rows.csv", text)), wanted)


def broken(cell: str, row: int = 777) -> str:
    found = text_of(ROWS).splitlines()
    found[row + 1] = f"1.5,{cell},2.5"
    return "\n".join(found) + "\n"


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("hello", "has text in row 777, column 'b': 'hello'; encode"),
        ("true", "has text in row 777, column 'b': 'true'"),
        ("2020-01-02", "has text in row 777, column 'b': '2020-01-02'"),
        ("", "has a missing cell in row 777, column 'b'"),
        ("NaN", "has a missing cell in row 777, column 'b'"),
        ("inf", "has an infinite cell in row 777, column 'b'"),
        ("1e305", "has a cell in row 777, column 'b', beyond 1e300"),
    ],
)
def test_bad_cells_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, cell: str, sentence: str
) -> None:
    for head in (2**20, 2000):  # seen at the door, or only when it is read
        monkeypatch.setattr(csv_source, "_HEAD", head)
        path = saved(tmp_path / f"rows{suffix}", broken(cell))
        with pytest.raises(ValueError, match=sentence) as error:
            open_source(path).read(0, 900)
        assert f"rows{suffix}'" in str(error.value)
        assert "\n" not in str(error.value)
    same(open_source(path, columns=["a"]).read(0, 5), ROWS[:5, :1].copy())


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_ragged_rows_are_named(tmp_path: Path, suffix: str) -> None:
    path = saved(tmp_path / f"rows{suffix}", broken("1,2"))
    with pytest.raises(ValueError, match="is ragged: row 777 has 4 cells and the first line has 3"):
        open_source(path).read(0, 900)


def test_damaged_and_strange_files(tmp_path: Path) -> None:
    packed = gzip.compress(text_of(ROWS).encode())
    for name, data, sentence in (
        ("empty.csv", b"", "is empty"),
        ("empty.csv.gz", gzip.compress(b""), "is not a delimited text file"),
        ("cut.csv.gz", packed[: len(packed) // 2], "cut.csv.gz' .*damaged"),
        ("spoilt.csv.gz", packed[:500] + b"\x00" * 300 + packed[800:], "spoilt.csv.gz' .*damaged"),
        ("header.csv", b"a,b\n", "has no rows"),
        ("header.csv.gz", gzip.compress(b"a,b\n"), "has no rows"),
        ("binary.csv", bytes(range(32)), "is not a delimited text file"),
        ("semi.csv", b"a;b\n1;2\n", "has one column, 'a;b'; if ';' separates its cells"),
        ("twice.csv", b"a,a\n1,2\n", "more than one column called 'a'"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(ValueError, match=sentence) as error:
            open_source(path)
        assert "\n" not in str(error.value)
    check_source(open_source(tmp_path / "semi.csv", delimiter=";"), np.array([[1.0, 2.0]]))
    with pytest.raises(ValueError, match="one ASCII character"):
        open_csv(str(tmp_path / "semi.csv"), delimiter=";;")
    with pytest.raises(ValueError, match="have no names"):
        open_source(saved(tmp_path / "numbers.csv", "1,2\n3,4\n"), columns=["a"])


def test_cut_off_while_it_was_read(tmp_path: Path) -> None:
    path = saved(tmp_path / "rows.csv", text_of(ROWS))
    source = open_source(path)
    os.truncate(path, os.path.getsize(path) - 100)
    same(source.read(0, 100), ROWS[:100])
    with pytest.raises(ValueError, match="was cut off while it was read"):
        source.read(0, 900)


def test_parts_of_text(tmp_path: Path) -> None:
    for i, part in enumerate(np.array_split(ROWS, 9)):
        saved(tmp_path / f"{i}.csv", text_of(part))
    check_source(open_source(tmp_path), ROWS)
    saved(tmp_path / "4.csv", "a,b,c\n1,2,3\n1,2\n")
    with pytest.raises(ValueError, match=r"4\.csv' is ragged: row 1 has 2 cells"):
        open_source(tmp_path).read(0, 402)
    source = open_source(tmp_path, skip_bad_parts=True)
    assert source.n_rows == 800
    assert "4.csv" in source.skipped[0]


def test_a_header_that_numbers_the_columns_is_no_row(tmp_path: Path) -> None:
    """Data frames whose columns nobody has named are written with 0, 1, 2 on top."""
    path = tmp_path / "frame.csv"
    path.write_text("0,1,2\n50.5,51.5,49.0\n0,1,2\n")
    source = open_csv(str(path))
    assert (source.n_rows, source.names) == (2, ("0", "1", "2"))
    np.testing.assert_array_equal(source.read(0, 2), [[50.5, 51.5, 49.0], [0.0, 1.0, 2.0]])
    path.write_text("0.0,1.0,2.0\n50.5,51.5,49.0\n")
    assert open_csv(str(path)).n_rows == 2
    path.write_text("0\n1\n")  # one column may well begin with a zero
    assert open_csv(str(path)).n_rows == 2


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
@pytest.mark.parametrize("header", ["u\n", ""])
@pytest.mark.parametrize("first", [2**53 + 1, 2**60, 10**25, -(2**60)])
def test_whole_numbers_that_floats_cannot_hold(tmp_path: Path, suffix: str, header: str, first: int) -> None:
    path = tmp_path / f"x.{suffix}"
    data = (header + "".join(f"{first + i % 2}\n" for i in range(40))).encode()
    path.write_bytes(gzip.compress(data) if suffix == "csv.gz" else data)
    with pytest.warns(PrecisionWarning, match=r"column ('u'|0) of .*x\.csv.* has whole numbers up to .*; beyond 2\^53"):
        btest(path, path, kernel="energy", seed=1)


@pytest.mark.filterwarnings("error")
def test_whole_numbers_that_floats_hold_and_floats_need_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for cells in (["9007199254740991", "-5"], ["1e300", "1.5"], ["9007199254740993.0", "2"]):
        path.write_text("u\n" + "\n".join(cells * 20) + "\n")
        open_source(path).read(0, 40)


def test_encodings_and_decimal_commas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text that `compare` reads: UTF-16, Latin-1, and decimal commas beside semicolons, also without a header."""
    text = "größe,n\n" + "".join(f"{i}.5,{i}\n" for i in range(900))
    wanted = np.column_stack([np.arange(900) + 0.5, np.arange(900)])
    for encoding in ("latin-1", "utf-16", "utf-8-sig"):
        for suffix in (".csv", ".csv.gz"):
            source = open_source(saved(tmp_path / f"{encoding}{suffix}", text.encode(encoding)))
            assert source.names == ("größe", "n")
            check_source(source, wanted)
    for header in ("größe;n\n", ""):
        rows = "".join(f"{i:,}x5;{i}\n".replace(",", ".").replace("x", ",") for i in range(500, 1400))
        path = saved(tmp_path / "commas.csv", header + rows)
        check_source(open_source(path, delimiter=";"), wanted + 500)
    monkeypatch.setattr(csv_source, "_HEAD", 2000)
    saved(tmp_path / "commas.csv", "u;v\n" + "1,5;2\n" * 900 + "1.5;2\n")
    with pytest.raises(ValueError, match=r"has text in row 900, column 'u': '1\.5'"):
        open_source(tmp_path / "commas.csv", delimiter=";").read(0, 901)


def test_text_in_latin_1_is_quoted(tmp_path: Path) -> None:
    path = saved(tmp_path / "latin.csv", ("a,b\n" + "1,2\n" * 900 + "1,größe\n").encode("latin-1"))
    check_source(open_source(path, columns=["a"]), np.ones((901, 1)))
    with pytest.raises(ValueError, match="has text in row 900, column 'b': 'gr"):
        open_source(path).read(0, 901)


def test_digits_that_floats_lose_beside_fractions(tmp_path: Path) -> None:
    for cell, is_warned in ((str(2**53 + 1), True), ("1e20", False)):
        path = tmp_path / "x.csv"
        path.write_text(f"u\n0.5\n{cell}\n", encoding="utf-8")
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            open_csv(path).read(0, 2)
        assert any("beyond 2^53" in str(one.message) for one in found) == is_warned
