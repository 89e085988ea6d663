"""Odd files of text have one answer, whether they are read whole or in pieces, and notes say how they were read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import btests
from btests.comparison.identifiers import DistinctCount
from tests.comparison.conftest import Shell
from tests.workbooks import Formula, workbook

Answer = dict[str, Any]


def written(name: str, columns: dict[str, Sequence[Any]], delimiter: str = ",", header: bool = True) -> str:
    rows = [list(columns)] if header else []
    rows += [list(map(str, row)) for row in zip(*columns.values(), strict=True)]
    Path(name).write_text("".join(delimiter.join(row) + "\n" for row in rows), encoding="utf-8")
    return name


def answer(*files: str, **options: Any) -> Answer:
    """Return kinds of columns, excluded columns and notes, or the refusal."""
    try:
        found = btests.compare(*files, seed=1, **options)
    except ValueError as error:
        return {"refused": str(error)}
    return {
        "kinds": {column.name: column.kind for column in sorted(found.columns, key=lambda column: column.name)},
        "excluded": found.excluded,
        "notes": [note for note in found.notes if "read in pieces" not in note],
    }


def both_ways(*files: str, **options: Any) -> Answer:
    """Return the answer that is the same, whole and in pieces."""
    whole, pieces = answer(*files, **options), answer(*files, memory=1000, **options)
    assert whole == pieces
    return whole


Table = Callable[..., dict[str, Sequence[Any]]]


@pytest.fixture
def table(shell: Shell) -> Table:
    """Return a maker of tables with a column of reals, in a folder of its own."""
    rng = np.random.default_rng(0)

    def made(n: int = 60, **columns: Sequence[Any]) -> dict[str, Sequence[Any]]:
        return {**columns, "y": rng.normal(size=n).round(3).tolist()}

    return made


def test_files_without_a_header(table: Table) -> None:
    files = [written(f"{word}.csv", table(word=[word, "w"] * 30), header=False) for word in ("u", "v")]
    refused = both_ways(*files)["refused"]
    assert "no column in common: 'u', '" in refused
    assert "write a line with the names of the columns above them" in refused


def test_a_first_line_of_numbers(table: Table) -> None:
    files = [written(f"{g}.csv", {"1.5": [2, 3] * 20, "7": [4, g, 6, 7] * 10}) for g in (5, 6)]
    notes = both_ways(*files)["notes"]
    for name in files:
        assert any(f"first line of {name}, '1.5', ..., names its columns" in note for note in notes)
    files = [written(f"{g}.csv", {"0": [2, 3] * 20, "1": [4, g, 6, 7] * 10}) for g in (5, 6)]
    assert not any("first line" in note for note in both_ways(*files)["notes"])


def test_row_numbers_are_those_of_the_file(table: Table) -> None:
    """A row of a sample, or of a side of a table that is split, has no number in messages."""
    words = ["1"] * 5000
    words[4321] = "word"
    one, two = (written(name, table(5000, u=cells)) for name, cells in (("a.csv", words), ("b.csv", ["1"] * 5000)))
    assert "('word' in row 4322)" in answer(one, two)["refused"]
    words[:4321] = ["word"] * 4321
    drawn = answer(written("a.csv", table(5000, u=words)), two, memory=1000)["refused"]
    assert "('word')" in drawn
    big = written("c.csv", table(g=["u", "v"] * 30, x=["1e200" if row == 41 else str(row) for row in range(60)]))
    for options in ({}, {"memory": 1000}):
        refused = answer(big, by="g", value_a="u", value_b="v", **options)["refused"]
        assert "has a number beyond 1e150" in refused
        assert " in row " not in refused
    other = written("d.csv", table(g=["u", "v"] * 30, x=range(60)))
    for options in ({}, {"memory": 1000}):
        assert "in row 42;" in answer(big, other, **options)["refused"]


def test_near_names(table: Table, shell: Shell) -> None:
    written("first.csv", table(g=list(range(30)) * 2))
    assert "there is no file 'frist.csv'; did you mean 'first.csv'?" in shell.refused("frist.csv", "first.csv")
    with pytest.raises(FileNotFoundError, match=r"did you mean '.*first\.csv'\?"):
        btests.btest(str(Path("first.parquet").absolute()), np.zeros((9, 2)))
    assert "did you mean" not in shell.refused("c.csv", "first.csv")
    assert "--by names 'gg' (did you mean 'g'?)" in shell.refused("first.csv", "--by", "gg").replace("'y'", "'g'")
    for limit in ((), ("--memory", "1000")):
        told = shell.refused("first.csv", "--by", "g", "--a", "1", "--b", "99", *limit)
        assert "no row has g = 99" in told
        assert "there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11" in told
        assert "19 and 10 more" in told


def huge(table: Table, shift: int) -> dict[str, Sequence[Any]]:
    rng = np.random.default_rng(shift)
    return table(x=[2**53 + shift + int(step) for step in rng.integers(0, 1000, 60)])


def as_json(name: str, columns: dict[str, Sequence[Any]]) -> str:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


@pytest.mark.parametrize("write", [written, as_json])
@pytest.mark.parametrize("first", [2**53, 2**63 - 500, 2**63, 10**25])
def test_digits_of_huge_numbers(table: Table, write: Callable[..., str], first: int) -> None:
    """Numbers that are one as floats differ."""
    suffix = "csv" if write is written else "jsonl"
    cells = [[first + 2 * step for step in range(60)], [first + 2 * step + 1 for step in range(60)]]
    files = [write(f"{k}.{suffix}", {"x": own, "y": [0, 1] * 30}) for k, own in enumerate(cells)]
    notes = both_ways(*files, columns=["x", "y"])["notes"]
    assert any(f"{first} was subtracted" in note for note in notes)


@pytest.mark.parametrize("write", [written, as_json])
def test_digits_that_are_lost_are_noted(table: Table, write: Callable[..., str]) -> None:
    suffix = "csv" if write is written else "jsonl"
    made = [table(x=[0.5, *(2**53 + k + step for step in range(59))]) for k in (0, 9)]
    files = [write(f"{k}.{suffix}", own) for k, own in enumerate(made)]
    assert any(
        "'x' has whole numbers beyond 2^53 among others, which are rounded" in n for n in both_ways(*files)["notes"]
    )
    made = [table(x=[f"{k}e20" if suffix == "csv" else k * 1e20 for k in range(60)]) for _ in range(2)]
    files = [write(f"{k}.{suffix}", own) for k, own in enumerate(made)]
    assert not any("rounded" in note for note in both_ways(*files)["notes"])


AMOUNTS = {
    "%": (["12 %", "7%", "-3 %"], ["12.5 %", "8 %", "1 %"]),
    "$": (['"$1,234.50"', "$7", "-$8"], ["$9", "$8", '"$1,000,000"']),
    "€": (['"1.234,50 €"', "3 €", "5 €"], ['"1,5 €"', "2 €", "9 €"]),
    "CHF": (["CHF 1'234", "CHF 5", "CHF 7"], ["CHF 3.50", "CHF 5", "CHF 7"]),
}


@pytest.mark.parametrize("symbol", AMOUNTS)
def test_numbers_with_a_symbol(table: Table, symbol: str) -> None:
    files = [written(f"{k}.csv", table(price=cells * 20)) for k, cells in enumerate(AMOUNTS[symbol])]
    found = both_ways(*files)
    assert found["kinds"]["price"] == "number"
    assert any(f"'price' holds numbers with '{symbol}'" in note for note in found["notes"])


def test_thousands_separators(table: Table) -> None:
    for cells, kind in ((['"1,234"', '"1,234,567"', "12"], "number"), (['"1,234"', '"9,999"', "12"], "category")):
        files = [written(f"{side}.csv", table(count=cells * 20)) for side in "ab"]
        found = both_ways(*files)
        assert found["kinds"]["count"] == kind
        assert any("'count' holds numbers" in note for note in found["notes"])
        assert kind == "number" or any("`decimal='.'` or `decimal=','` says which" in note for note in found["notes"])
    assert (
        both_ways(*files, decimal=".")["kinds"]["count"] == both_ways(*files, decimal=",")["kinds"]["count"] == "number"
    )
    plain = written("c.csv", table(count=[*range(30)] * 2))
    many = written("d.csv", table(count=['"1,234"', '"1,234,567"', "12"] * 20))
    assert both_ways(plain, many)["kinds"]["count"] == "number"


@pytest.mark.parametrize(
    ("cells", "other"),
    [
        (["$5", "$7"], ["€5", "€7"]),
        (['"$1,234"', "$7"], ['"$2,345"', "$7"]),
        (["5 kg", "7 kg"], ["5 kg", "6 kg"]),
        (["192.168.100.101", "10.0.0.1"], ["192.168.100.101", "10.0.0.1"]),
        (["555 123", "555 456"], ["555 123", "555 789"]),
        (['"1,5"', '"2,75"'], ['"1,5"', '"2,25"']),
    ],
)
def test_text_that_is_no_number(table: Table, cells: list[str], other: list[str]) -> None:
    files = [written(f"{k}.csv", table(price=own * 30)) for k, own in enumerate((cells, other))]
    found = both_ways(*files)
    assert found["kinds"]["price"] == "category"
    assert bool(found["notes"]) == any("," in cell or cell == "$5" for cell in cells)


def test_texts_of_digits_are_no_numbers() -> None:
    """Of data frames, whose types somebody has chosen."""
    frame = {"x": np.array(["5", "7", "12"] * 20), "y": np.array(["1.5", "2.10"] * 30)}
    assert {column.kind for column in btests.compare(frame, frame, seed=0).columns} == {"category"}


def test_the_style_is_that_of_all_rows(table: Table) -> None:
    """One cell that was not drawn, or comes late, counts in pieces as it does in files that are read whole."""
    cells = ["$5", "$7"] * 2500
    for odd in ("free", '"$1,234.50"', "5"):
        for place in (0, 4999):
            own = [*cells[:place], odd, *cells[place + 1 :]]
            assert both_ways(written("a.csv", table(5000, p=own)), written("b.csv", table(5000, p=cells)))
    numbers, rest = ["5", "7"] * 50_000, ["-" * 80] * 100_000  # more than is read at a time
    a, b = (table(100_000, p=[*numbers[:-1], odd], rest=rest) for odd in ('"1,234,567"', "6"))
    found = both_ways(written("a.csv", a), written("b.csv", b))
    assert any("'p' holds numbers with thousands separators" in note for note in found["notes"])


def test_leading_zeros(table: Table) -> None:
    zips, late = ["01234", "12345", "98765"] * 20, [12345, 98765, 23456] * 20
    for other in (zips, late):
        found = both_ways(written("a.csv", table(zip=zips)), written("b.csv", table(zip=other)))
        assert found["kinds"]["zip"] == "category"
        assert any("'zip' holds digits with leading zeros" in note for note in found["notes"])
    found = both_ways(
        written("a.csv", table(x=["00.5", "1.5", "07"] * 20)), written("b.csv", table(x=[0.5, 2, 3] * 20))
    )
    assert found["kinds"]["x"] == "number"
    assert both_ways(*[written(f"{k}.csv", table(x=[0, 10, -5] * 20)) for k in "ab"])["kinds"]["x"] == "number"


def test_decimal_commas_in_words(table: Table) -> None:
    """A cell 1,5 of a column of text stays as it is."""
    rows = "".join(f"{cell};{row}\n" for row, cell in enumerate(["1,5", "2,5", "word"] * 20))
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("u;v\n" + rows, encoding="utf-8")
    for memory in (None, 1000):
        found = btests.compare("a.csv", "b.csv", delimiter=";", seed=1, memory=memory)
        levels = next(column for column in found.columns if column.name == "u").details["levels"]
        assert {level["level"] for level in levels} == {"1,5", "2,5", "word"}


def test_identifiers_are_judged_by_all_rows(table: Table) -> None:
    """Drawn rows hardly repeat a value that all rows repeat several times."""
    rng = np.random.default_rng(5)
    for excluded in (False, True):
        cells = [rng.choice(10**6 if excluded else 8000, 40_000, replace=not excluded) for _ in range(2)]
        for name, made in (("word", [[f"u{cell}" for cell in own] for own in cells]), ("id", cells)):
            files = [written(f"{k}.csv", table(40_000, **{name: own})) for k, own in enumerate(made)]
            whole, pieces = answer(*files), answer(*files, memory=1000)
            for found in (whole, pieces):
                assert (name in dict(found["excluded"])) == excluded
    assert 0.9 < DistinctCount.of(pa.array(np.arange(100_000))).n_distinct / 100_000 < 1.1  # six standard errors
    halves = [DistinctCount.of(pa.array([f"w{k % 3000}" for k in rows])) for rows in (range(4000), range(2000, 9000))]
    assert (halves[0] + halves[1]).n_distinct == 3000


def test_formulas_without_values(shell: Shell) -> None:
    """As programs write them that compute nothing: the cells are empty."""
    pytest.importorskip("python_calamine")
    rng = np.random.default_rng(6)
    for name in ("a.xlsx", "b.xlsx"):
        rows: list[list[Any]] = [["u", "sum"], *([float(cell), Formula("A2*2")] for cell in rng.normal(size=30))]
        Path(name).write_bytes(workbook({"notes": [["x"]], "data & more": rows}))
    found = btests.compare("a.xlsx::data & more", "b.xlsx::data & more", seed=1)
    said = "sheet 'data & more' of a.xlsx has 30 formulas without saved values in column B, read as empty cells"
    assert any(said in note for note in found.notes)
    assert dict(found.excluded)["sum"] == "all its cells are missing"
    rows = [["u", "sum"], *([float(cell), Formula("A2*2", 3.5 * row)] for row, cell in enumerate(rng.normal(size=30)))]
    Path("c.xlsx").write_bytes(workbook({"data": rows}))
    found = btests.compare("c.xlsx", "c.xlsx", seed=1)
    assert not any("formula" in note for note in found.notes)


def test_years_and_durations(tmp_path: Path) -> None:
    """Years have no commas, and durations have units, in sentences and on the page."""
    rng = np.random.default_rng(7)
    tables = [
        {"year": rng.integers(1999, 2012, 300) + shift, "wait": (rng.exponential(5e3 + shift, 300)).astype("m8[s]")}
        for shift in (0, 4000)
    ]
    tables[1]["year"] = tables[1]["year"] - 3995
    found = btests.compare(*tables, seed=1)
    assert re.search(r"mean \d h \d+ min -> \d h \d+ min", found["wait"].summary)
    assert re.search(r"\b20\d\d -> 20\d\d", found["year"].summary)
    found.to_html(tmp_path / "page.html")
    page = re.sub(r"<data[^>]*>|</data>", "", (tmp_path / "page.html").read_text(encoding="utf-8"))
    shown = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    assert not re.search(r"\b2,0\d\d\b", shown)
    assert re.search(r">\d+ h( \d+ min)?<", shown)
    for column in found.columns:
        labels = [label.get_text() for label in column.plot().get_xticklabels()]
        assert not any("," in label for label in labels)
        assert all("h" in label or label == "0 s" for label in labels) == (column.name == "wait")


@pytest.mark.parametrize(
    ("cells", "others", "said"),
    [
        (["2024-01-05", "13.01.2024"], ["2024-01-05"] * 2, "text in 0.csv ('13.01.2024' in row 2) and times"),
        (["2024-01-0" + day for day in "123456789"] + ["-"] * 3, ["2024-01-05"] * 12, "holds dates but for '-'"),
        ([f"{k} %" for k in range(11)] + ["n/k"], ["5 %", "7 %"] * 6, "holds numbers with a symbol but for 'n/k'"),
        (["$5", "$7"], ["\u20ac5", "\u20ac7"], "holds numbers with '$' in 0.csv and '\u20ac' in 1.csv: taken as text"),
    ],
)
def test_cells_that_keep_columns_text_are_named(table: Table, cells: list[str], others: list[str], said: str) -> None:
    n = 10 * len(cells)
    found = both_ways(*(written(f"{k}.csv", table(n, x=own * 10)) for k, own in enumerate((cells, others))))
    assert any(said in note for note in [found.get("refused", ""), *found.get("notes", ())])


# Cells of one column of two files, and its kind; some of its refusal if it has none.
PAIRS: dict[str, tuple[Sequence[Any], Sequence[Any], str]] = {
    "blanks": ([" 1 ", " 2 "], [1, 3], "number"),
    "signs": (["+1", "-2"], [1, 3], "number"),
    "words in quotes": (['"a"', "b"], ["a", '"b"'], "category"),
    "quotes in words": (['"a""b"', "b"], ["b", "c"], "category"),
    "lines in words": (['"a\nb"', "b"], ["b", "c"], "category"),
    "one row too long": (["1", "1,2"], [1, 2], "is ragged"),
    "days of two forms": (["2024-01-05", "2024-01-06"], ["05.01.2024", "31.01.2024"], "time"),
    "the month or the day first": (["01/02/2024", "03/04/2024"], ["01/02/2024", "05/06/2024"], "category"),
    "the month first in one file": (["01/02/2024", "03/04/2024"], ["01/02/2024", "01/31/2024"], "time"),
    "days and moments": (["2024-01-05", "2024-01-06"], ["2024-01-05 10:00", "2024-01-06 11:30"], "time"),
    "a zone in one file": (["2024-01-05T10:00:00Z", "2024-01-06T10:00:00Z"], ["2024-01-05T10:00:00"] * 2, "time"),
    "years of two digits": (["01/02/24", "03/04/24"], ["01/02/24", "05/06/24"], "category"),
    "times of day": (["10:30", "11:45"], ["10:30:15", "23:00:00"], "time"),
    "truths in other cases": (["True", "False"], ["true", "false"], "boolean"),
    "truths as words": (["yes", "no"], ["Yes", "No"], "category"),
    "truths and numbers": (["0", "1"], ["true", "false"], "is numbers in a.csv and true or false in b.csv"),
    "missing in one file": (["NA", "1", "2"], [1, 2, 3], "number"),
    "a dash in one file": (["-", "1", "2", "3"], [1, 2, 3, 4], "`missing='-'` reads such cells as missing"),
    "nothing in one file": (["", ""], ["u", "v"], "category"),
    "words in one file": ([1, 2], ["u", "v"], "('u' in row 1)"),
    "infinite": (["inf", "1"], [1, 2], "has an infinite number in row 1"),
    "powers": (["1e3", "2E-4"], [1, 2], "number"),
    "underscores": (["1_000", "2_000"], ["1_000", "3_000"], "category"),
    "fractions": (["1/2", "3/4"], ["1/2", "1/4"], "category"),
    "percent in one file": (["5 %", "7 %"], [0.05, 0.07], "text in a.csv ('5 %' in row 1) and numbers"),
    "zeros before digits in one file": (["01234", "12345"], [12345, 23456], "category"),
    "zero and minus zero": (["-0", "1"], [0, 1], "number"),
    "huge and real": ([2**60, 5], [0.5, 1.5], "number"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_odd_pairs(table: Table, case: str) -> None:
    one, two, kind = PAIRS[case]
    files = [written(f"{k}.csv", table(12 * len(own), x=list(own) * 12)) for k, own in (("a", one), ("b", two))]
    whole, pieces = answer(*files), answer(*files, memory=1000)
    for found in (whole, pieces):
        assert kind in found["refused"] if "refused" in found else found["kinds"]["x"] == kind
    assert whole.get("notes") == pieces.get("notes")


def test_notes_are_on_columns_that_are_compared(table: Table) -> None:
    files = [written(f"{k}.csv", table(24, x=["$1", "$2"] * 12)) for k in "ab"]
    assert "read as numbers" in " ".join(answer(*files)["notes"])
    for options in ({"exclude": "x"}, {"columns": "y"}):
        assert "read as numbers" not in " ".join(both_ways(*files, **options)["notes"])


def test_truths_and_numbers_are_the_same_categories(table: Table) -> None:
    files = [written(f"{k}.csv", table(24, x=list(own) * 12)) for k, own in (("a", "01"), ("b", ("false", "true")))]
    with pytest.raises(ValueError, match="compare it as categories with `categories='x'`, exclude it"):
        btests.compare(*files, seed=0)
    for memory in (None, 1000):
        assert btests.compare(*files, categories="x", memory=memory, seed=0)["x"].effect == 0.0


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_odd_encodings(shell: Shell, encoding: str, end: str) -> None:
    text = "größe,y\n" + "weiß,1\nrot,2\né,4\n" * 20
    Path("a.csv").write_bytes(text.replace("\n", end).encode(encoding))
    Path("b.csv").write_text(text.replace("rot", "blau"), encoding="utf-8")
    found = both_ways("a.csv", "b.csv")
    assert found["kinds"] == {"größe": "category", "y": "number"}
    assert any("was read as" in note for note in found["notes"]) == (encoding != "utf-8-sig")
