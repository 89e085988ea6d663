"""Tables read in pieces: order of rows, types that show late, cells that no drawn row showed, and numbers of rows."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import btests
from btests.comparison.joint import DEFAULT_KERNELS
from btests.comparison.reservoir import Draw, Reservoir
from btests.data import fragment
from btests.data.column_type import ColumnType
from tests.comparison.conftest import Shell
from tests.comparison.test_large import in_pieces, mixed


def column_csv(path: str, cells: list[str], *, seed: int) -> str:
    """Write a CSV file of one column and another of noise."""
    noise = np.random.default_rng(seed).normal(size=len(cells)).round(3)
    lines = [f"{cell},{number}" for cell, number in zip(cells, noise, strict=True)]
    Path(path).write_text("\n".join(["cell,noise", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("key", ["size", "colour", "day"])
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_sorted_files_that_are_alike_are_alike(shell: Shell, key: str, suffix: str) -> None:
    # Blocks of neighbours, or a sample of the first rows, would differ: one file runs upwards, the other downwards.
    # The seed is fixed, and with it the answer: nothing here fails by chance.
    rng = np.random.default_rng(12)
    paths = []
    for name, direction in (("a", "ascending"), ("b", "descending")):
        table = mixed(rng, 6000).sort_by([(key, direction)])
        paths.append(f"{name}.{suffix}")
        if suffix == "parquet":
            pq.write_table(table, paths[-1], row_group_size=500)
        else:
            pa_csv.write_csv(table, paths[-1])
    found = in_pieces(*paths)
    assert found.result.order == "exact"
    assert found.pvalue > 0.05


def test_sorted_files_that_differ_differ(shell: Shell) -> None:
    rng = np.random.default_rng(13)
    for name, shift in (("a", 0.0), ("b", 0.4)):
        pq.write_table(mixed(rng, 6000, shift=shift).sort_by("size"), f"{name}.parquet", row_group_size=500)
    found = in_pieces("a.parquet", "b.parquet")
    assert found.result.pvalue == 0.0005
    assert found.columns[0].name == "size"


def test_dates_are_read_in_the_format_that_fits_both_files(shell: Shell) -> None:
    # Days of 1 January to 12 January, and of a whole year, both with the month first.
    rng = np.random.default_rng(14)
    column_csv("a.csv", [f"01/{day:02d}/2020" for day in rng.integers(1, 13, 2000)], seed=1)
    day = np.datetime64("2020-01-01") + rng.integers(0, 366, 2000)
    column_csv("b.csv", [f"{date:%m/%d/%Y}" for date in day.tolist()], seed=2)
    pieces, whole = in_pieces("a.csv", "b.csv"), btests.compare("a.csv", "b.csv", seed=1)
    assert pieces["cell"].a["max"] == whole["cell"].a["max"] == "2020-01-12"
    assert pieces.effect_test.summary.mean() == pytest.approx(whole.effect_test.summary.mean(), rel=0.1)


LATE = {
    "decimal": (["7.5"], "number"),
    "missing": ([""], "number"),
    "letter": (["x"], "category"),
    "truth": (["true"], "category"),
    "huge": (["12345678901234567890"], "number"),
    "blanks": (["  8 "], "number"),
}


@pytest.mark.parametrize("name", LATE)
def test_a_type_that_shows_late_holds_for_all_rows(shell: Shell, name: str) -> None:
    last, kind = LATE[name]
    rng = np.random.default_rng(14)
    cells = [[str(cell) for cell in rng.integers(0, 9, 4000)] for _ in range(2)]
    paths = [column_csv("a.csv", cells[0] + last, seed=1), column_csv("b.csv", cells[1], seed=2)]
    if name in ("letter", "truth"):
        with pytest.raises(ValueError, match=r"'cell' is text in a\.csv and numbers in b\.csv"):
            in_pieces(*paths)
        paths[1] = column_csv("b.csv", cells[1] + last, seed=2)
    found = in_pieces(*paths, max_rows=None)
    cell = next(column for column in found.columns if column.name == "cell")
    assert cell.kind == kind
    assert found.result.n_x == 4001


def test_times_of_text_grow_with_their_cells() -> None:
    seen, cells = ColumnType.nothing(), []
    for text in (["", None], ["2024-01-01"], ["2024-01-02 10:30:00"], ["2024-01-02 10:30:00.5"]):
        column = pa.array(text).filter(pa.array([cell != "" for cell in text]))
        cells.append(column)
        seen = seen.after(column, "")
    assert seen.dtype == pa.timestamp("ns")
    assert all(len(seen.read(column)) == len(column) for column in cells)
    assert seen.after(pa.array(["soon"]), "").dtype == pa.string()
    assert ColumnType.nothing().after(pa.array(["12:30", "01:02:03"]), "").dtype == pa.time32("s")


def test_dates_are_judged_by_all_rows(shell: Shell) -> None:
    rng = np.random.default_rng(15)
    days = [np.datetime64("2024-01-01") + rng.integers(0, 90, 4000).astype("timedelta64[D]") for _ in range(2)]
    texts = [[f"{d.day:02d}/{d.month:02d}/{d.year}" for d in side.tolist()] for side in days]
    a, b = column_csv("a.csv", texts[0], seed=1), column_csv("b.csv", texts[1], seed=2)
    found = in_pieces(a, b)
    assert next(column for column in found.columns if column.name == "cell").kind == "time"
    # No drawn row has the one that is odd, under this seed.
    b = column_csv("b.csv", [*texts[1], "soon"], seed=2)
    for found in (in_pieces(a, b), btests.compare(a, b, seed=0)):
        assert next(column for column in found.columns if column.name == "cell").kind == "category"
        assert any("'cell' holds dates as text, not all of one form" in note for note in found.notes)


def test_levels_and_holes_that_no_drawn_row_has_have_a_place(shell: Shell) -> None:
    rng = np.random.default_rng(16)
    cells = [[str(cell) for cell in rng.choice(["red", "blue"], 4000)] for _ in range(2)]
    a = column_csv("a.csv", [*cells[0], "green", ""], seed=1)
    b = column_csv("b.csv", cells[1], seed=2)
    found = in_pieces(a, b)
    code = next(code for code in found.encoding.codes if code.name == "cell")
    assert (code.levels, code.has_other, code.has_missing) == (("blue", "red"), False, False)
    assert found.result.n_x == 4002


def test_codes_marks_and_huge_numbers(shell: Shell) -> None:
    rng = np.random.default_rng(17)
    n = 4000
    for name in "ab":
        levels = np.where(rng.random(n) < 0.1, "-", rng.integers(0, 50, n).astype(str))
        table = pa.table(
            {
                "zip": pa.array(rng.integers(1, 6, n).astype(float)),
                "level": pa.array(levels),
                "stamp": pa.array(2**60 + rng.integers(0, 50, n)),
            }
        )
        pq.write_table(table, f"{name}.parquet")
    found = in_pieces("a.parquet", "b.parquet", categories="zip", missing="-")
    kinds = {column.name: column.kind for column in found.columns}
    assert kinds == {"zip": "category", "level": "number", "stamp": "number"}
    assert set(next(code for code in found.encoding.codes if code.name == "zip").levels) == set("12345")
    assert any("was subtracted" in note for note in found.notes)
    some = in_pieces("a.parquet", "b.parquet", categories="zip", missing="-", exclude="stamp")
    x, y = (some.encoding.transform(f"{name}.parquet", ["-"]).astype(np.float32) for name in "ab")
    alone = btests.btest(x, y, kernel=some.result.kernel, block_size=some.result.block_size, seed=0)
    streams = alone.block_values if some.result.statistic == alone.statistic else None
    swapped = btests.btest(y, x, kernel=some.result.kernel, block_size=some.result.block_size, seed=0)
    assert np.allclose(some.result.block_values, swapped.block_values if streams is None else streams, rtol=1e-9)


def test_numbers_of_rows_are_left_out_and_measures_are_not(shell: Shell) -> None:
    rng = np.random.default_rng(18)
    n = 9000
    for name, start in (("a", 0), ("b", n)):
        table = pa.table(
            {
                "order": np.arange(start, start + n),
                "spread": rng.integers(0, n, n),
                "peaked": np.round(n * rng.beta(3, 3, n)).astype(int),
                "noise": rng.normal(size=n),
            }
        )
        pq.write_table(table, f"{name}.parquet")
    found = in_pieces("a.parquet", "b.parquet")
    assert found.excluded == (("order", "it numbers the rows, 0 to 17999"),)
    named = in_pieces("a.parquet", "b.parquet", columns=("order", "noise"))
    assert {column.name for column in named.columns} == {"order", "noise"}


def test_drawn_rows_do_not_depend_on_how_they_come() -> None:
    column = pa.record_batch({"i": np.arange(200_000)})
    drawn = []
    for step in (200_000, 70_000, 999):
        drawing = Reservoir(Draw(5000, 2**30, seed=4))
        for first in range(0, 200_000, step):
            drawing.add(column.slice(first, step))
        drawn.append(pa.concat_tables(drawing.tables())["i"].to_numpy())
    assert len(drawn[0]) == 5000
    assert np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[0], drawn[2])
    # Each of ten stretches gets a tenth of the rows: a binomial, of deviation 21.2, that is off by more than 130 in one
    # of 10^9 drawings; there are ten of them, and one seed.
    counts = np.bincount(drawn[0] // 20_000, minlength=10)
    assert np.abs(counts - 500).max() < 130


def test_long_texts_are_drawn_less_often() -> None:
    drawing = Reservoir(Draw(10**6, 10**6, seed=4))
    for _ in range(20):
        drawing.add(pa.record_batch({"text": ["x" * 1000] * 500}))
    tables = drawing.tables()
    assert drawing.n_rows == 10_000
    assert 500 < sum(map(len, tables)) < 1001
    assert sum(table.nbytes for table in tables) <= 10**6


def test_columns_that_are_not_compared_are_not_read(shell: Shell) -> None:
    rng = np.random.default_rng(19)
    for name in "ab":
        table = mixed(rng, 3000).append_column("tags", pa.array([[1, 2]] * 3000))
        pq.write_table(table, f"{name}.parquet")
    with pytest.raises(ValueError, match="column 'tags' holds no lists, or lists in a table that is read in pieces"):
        in_pieces("a.parquet", "b.parquet")
    found = in_pieces("a.parquet", "b.parquet", common=True)
    why = "holds no lists, or lists in a table that is read in pieces, which are not compared"
    assert found.excluded == (("tags", why),)
    some = in_pieces("a.parquet", "b.parquet", columns=["size", "day"])
    assert {column.name for column in some.columns} == {"size", "day"}


def test_nulls_that_need_all_rows_are_refused(shell: Shell) -> None:
    rng = np.random.default_rng(20)
    for name in "ab":
        pq.write_table(mixed(rng, 3000), f"{name}.parquet")
    refused = shell.refused("a.parquet", "b.parquet", "--memory", "1kB", "--null", "permutation")
    assert "--null permutation needs all rows in memory at once" in refused
    assert "--max-rows" in refused
    drawn = shell("a.parquet", "b.parquet", "--memory", "1kB", "--null", "permutation", "--max-rows", "200", "--json")
    assert drawn.json["test"]["n_x"] == 200
    for null, kernel in (("normal", "gaussian"), ("sign-flip", "laplacian")):
        found = in_pieces("a.parquet", "b.parquet", null=null, kernel=kernel)
        assert found.result.n_x == 3000
        assert found.effect_test.kernel == found.result.kernel


@pytest.mark.parametrize("memory", ["much", "-1GB", "0", 1.5, True])
def test_memory_that_is_none(memory: Any, shell: Shell) -> None:
    pq.write_table(mixed(np.random.default_rng(0), 30), "a.parquet")
    with pytest.raises((ValueError, TypeError), match="memory must be a number of bytes"):
        btests.compare("a.parquet", "a.parquet", memory=memory)


def test_json_lines_that_begin_like_times(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    # In pieces so small that the first ones hold nothing but what looks like times.
    monkeypatch.setattr(fragment, "_BYTES", 2**12)
    rng = np.random.default_rng(21)
    for name in "ab":
        days = [f"2024-01-{day:02d}" for day in rng.integers(1, 29, 3000)]
        lines = [
            f'{{"when": "{day}", "n": {n}}}' for day, n in zip([*days, "soon"], rng.integers(0, 9, 3001), strict=True)
        ]
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = in_pieces("a.jsonl", "b.jsonl")
    when = next(column for column in found.columns if column.name == "when")
    assert when.kind == "category"
    assert "2024-01-01" in next(code for code in found.encoding.codes if code.name == "when").levels
    with Path("a.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"when": "late", "n": 1, "extra": 2}\n')
    with pytest.raises(
        ValueError, match=r"'a\.jsonl' has 'extra' in lines \d+ to 3002, which its first lines do not have"
    ):
        in_pieces("a.jsonl", "b.jsonl")


def test_arrays_in_files(shell: Shell) -> None:
    rng = np.random.default_rng(22)
    for name in "ab":
        array = rng.normal(size=(4000, 3))
        array[::7, 1] = np.nan
        np.save(f"{name}.npy", np.asfortranarray(array) if name == "a" else array)
    found = in_pieces("a.npy", "b.npy")
    x, y = (found.encoding.transform(f"{name}.npy").astype(np.float32) for name in "ab")
    alone = btests.btest(x, y, kernel=DEFAULT_KERNELS, block_size=found.result.block_size, seed=0)
    other = btests.btest(y, x, kernel=DEFAULT_KERNELS, block_size=found.result.block_size, seed=0)
    assert found.result.pvalue in (alone.pvalue, other.pvalue)  # by the sums of the sides, either is dealt first
    assert found.result.n_x == 4000


def test_cells_of_several_lines(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragment, "_HEAD", 2**10)  # cut off within a cell, as a rule
    rng = np.random.default_rng(23)
    for name in "ab":
        cells = ['"one\ntwo, three"', '"four\n\nfive"', "six"]
        column_csv(f"{name}.csv", [cells[k] for k in rng.integers(0, 3, 3000)], seed=int(rng.integers(99)))
    found = in_pieces("a.csv", "b.csv")
    levels = next(code for code in found.encoding.codes if code.name == "cell").levels
    assert set(levels) == {"one\ntwo, three", "four\n\nfive", "six"}
    assert found.result.n_x == 3000


def test_text_that_begins_like_parquet(shell: Shell) -> None:
    rng = np.random.default_rng(24)
    for name in "ab":
        lines = [f"{u},{v}" for u, v in zip(rng.integers(0, 9, 3000), rng.integers(0, 5, 3000), strict=True)]
        Path(f"{name}.csv").write_text("PAR1,v\n" + "\n".join(lines) + "\n", encoding="utf-8")
    found = in_pieces("a.csv", "b.csv")
    assert {column.name for column in found.columns} == {"PAR1", "v"}


def test_decimals_that_floats_cannot_hold_are_compared_in_pieces_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for name, shift in (("a", 0), ("b", 10**8)):
        cells = [Decimal(10**25 + shift + int(v)) for v in rng.integers(0, 10**8, 3000)]
        table = pa.table({"z": pa.array(cells, pa.decimal128(38, 0)), "y": rng.integers(50, size=3000)})
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=500)
    files = str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")
    whole, pieces = (btests.compare(*files, memory=memory, seed=1) for memory in (None, 1000))
    assert whole["z"].changed
    assert pieces["z"].changed
    assert pieces.result.pvalue < 0.01
    assert pieces.effect_test.summary.mean() == pytest.approx(whole.effect_test.summary.mean(), rel=0.05)
