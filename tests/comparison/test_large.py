"""Tables that are larger than the memory they may take: the same question, answered on all rows."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

import btests
from btests.comparison.joint import DEFAULT_KERNELS
from tests.comparison.conftest import Shell

# So little memory that any file is too large for it, and few rows are drawn.
LITTLE = "1kB"


def mixed(rng: np.random.Generator, n: int, *, shift: float = 0.0) -> Any:
    """Return a table of numbers, levels, truths, dates and holes."""
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(shift, 1.0, n).round(4))
    day = np.datetime64("2024-01-01") + rng.integers(0, 60, n).astype("timedelta64[D]")
    return pa.table(
        {
            "size": pa.array(size, from_pandas=True),
            "count": pa.array(rng.poisson(4, n)),
            "colour": pa.array(rng.choice(["red", "green", "blue"], n)),
            "flag": pa.array(rng.random(n) < 0.3),
            "day": pa.array(day),
        }
    )


def as_csv(table: Any, name: str) -> str:
    pa_csv.write_csv(table, f"{name}.csv")
    return f"{name}.csv"


def as_tsv(table: Any, name: str) -> str:
    pa_csv.write_csv(table, f"{name}.tsv", pa_csv.WriteOptions(delimiter="\t"))
    return f"{name}.tsv"


def as_gz(table: Any, name: str) -> str:
    path = Path(as_csv(table, name))
    Path(f"{name}.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    return f"{name}.csv.gz"


def as_parquet(table: Any, name: str) -> str:
    pq.write_table(table, f"{name}.parquet", row_group_size=700)
    return f"{name}.parquet"


def as_categories(table: Any, name: str) -> str:
    coded = table.set_column(2, "colour", table["colour"].dictionary_encode())
    return as_parquet(coded, f"{name}-coded")


def as_feather(table: Any, name: str) -> str:
    pa_feather.write_feather(table, f"{name}.feather", chunksize=900)
    return f"{name}.feather"


def as_stream(table: Any, name: str) -> str:
    coded = table.set_column(2, "colour", table["colour"].dictionary_encode())
    with pa.OSFile(f"{name}.arrow", "wb") as sink, pa.ipc.new_stream(sink, coded.schema) as writer:
        writer.write_table(coded, max_chunksize=900)
    return f"{name}.arrow"


def as_json(table: Any, name: str) -> str:
    text = table.to_pandas().assign(day=lambda t: t["day"].astype(str)).to_json(orient="records", lines=True)
    Path(f"{name}.jsonl").write_text(text, encoding="utf-8")
    return f"{name}.jsonl"


def as_parts(table: Any, name: str) -> str:
    Path(name).mkdir()
    for k in range(3):
        as_csv(table.slice(1000 * k, 1000 if k < 2 else None), f"{name}/part{k}")
    return f"{name}/*.csv"


FORMATS: list[Callable[[Any, str], str]] = [
    *(as_csv, as_tsv, as_gz, as_parquet, as_categories, as_feather, as_stream, as_json, as_parts),
]


def in_pieces(a: str, b: str | None = None, **options: Any) -> Any:
    """Return a comparison that was made in pieces."""
    found = btests.compare(a, b, memory=LITTLE, **{"seed": 0, **options})
    assert found.result.read == "in chunks"
    return found


@pytest.fixture
def tables(shell: Shell) -> tuple[Any, Any]:
    """Return two tables of one distribution and different lengths."""
    rng = np.random.default_rng(8)
    return mixed(rng, 5000), mixed(rng, 4500)


@pytest.mark.parametrize("write", FORMATS)
def test_the_joint_test_is_that_of_all_rows(write: Callable[[Any, str], str], tables: tuple[Any, Any]) -> None:
    paths = [write(table, name) for table, name in zip(tables, "ab", strict=True)]
    found = in_pieces(*paths, seed=3, block_size=67)
    rows = found.details["rows"]
    assert (rows["a"], rows["b"]) == (rows["a_given"], rows["b_given"]) == (5000, 4500)
    assert (rows["a_columns"], rows["b_columns"]) == (2000, 2000)
    x, y = (found.encoding.transform(path).astype(np.float32) for path in paths)
    family = DEFAULT_KERNELS
    alone = btests.btest(x, y, kernel=family, block_size=found.result.block_size, seed=3)
    assert (found.result.statistic, found.result.pvalue) == (alone.statistic, alone.pvalue)
    assert np.array_equal(found.result.block_values, alone.block_values)
    assert found.result.kernel == alone.kernel
    centre = next(c.kernel for c in alone.candidates if c.kernel == found.effect_test.kernel)
    fixed = btests.btest(x, y, kernel=centre, block_size=67, seed=3)
    # A family is computed at once, by other sums.
    assert np.isclose(found.effect_test.summary.mean(), fixed.summary.mean(), rtol=1e-9, atol=1e-12)


def test_formats_agree(tables: tuple[Any, Any]) -> None:
    answers = []
    for write in FORMATS:
        found = in_pieces(*(write(table, name) for table, name in zip(tables, "ab", strict=True)))
        answers.append(
            (found.pvalue, found.effect_test.summary.mean(), sorted((c.name, c.pvalue) for c in found.columns))
        )
    assert all(answer == answers[0] for answer in answers)


def test_a_difference_is_found_and_named(shell: Shell) -> None:
    rng = np.random.default_rng(9)
    a, b = as_parquet(mixed(rng, 4000), "a"), as_parquet(mixed(rng, 4000, shift=0.3), "b")
    found = shell(a, b, "--memory", LITTLE, "--json")
    assert found.status == 1
    assert found.json["columns"][0]["name"] == "size"
    assert found.json["test"]["pvalue"] == 0.0005
    # Three tests by Bonferroni's rule, of which columns and pairs count for three quarters.
    assert found.json["verdict"]["smallest_pvalue"] == 4 / 3 / 2000
    assert found.json["verdict"]["pvalue"] == pytest.approx(4 / 3 / 2000)
    assert found.json["settings"]["memory"] == 1000
    assert "--memory 1000" in found.json["command"]
    assert "the files were read in pieces: in memory they would take about" in found.json["notes"][-1]
    told = shell(a, b, "--memory", LITTLE)
    assert "4000 and 4000, in one block" in told.out
    assert "(all in the joint test; columns from 2000 of each, drawn at random)" in told.out


def test_the_page_says_how_many_rows_were_tested(tables: tuple[Any, Any]) -> None:
    found = in_pieces(*(as_parquet(table, name) for table, name in zip(tables, "ab", strict=True)))
    found.to_html("out.html")
    page = Path("out.html").read_text(encoding="utf-8")
    assert "of them, drawn at random" in page
    assert 'data-at="/rows/a_columns"' in page or "/rows/a_columns" in page


def test_sides_change_places(tables: tuple[Any, Any]) -> None:
    a, b = (as_parquet(table, name) for table, name in zip(tables, "ab", strict=True))
    one, two = in_pieces(a, b), in_pieces(b, a)
    assert one.pvalue == two.pvalue
    assert one.result.pvalue == two.result.pvalue
    assert np.isclose(one.effect_test.summary.mean(), two.effect_test.summary.mean(), rtol=1e-9)


def test_named_max_rows_are_all_that_is_tested(tables: tuple[Any, Any], shell: Shell) -> None:
    a, b = (as_parquet(table, name) for table, name in zip(tables, "ab", strict=True))
    found = shell(a, b, "--memory", LITTLE, "--max-rows", "300", "--json").json
    given = {"a_given": 5000, "b_given": 4500}
    assert found["rows"] == {"a": 300, "b": 300, "a_columns": 300, "b_columns": 300, **given}
    assert (found["test"]["n_x"], found["test"]["n_y"]) == (300, 300)
    assert found["notes"][-1].startswith("300 rows of each side were tested, drawn at random (--max-rows)")


def test_small_tables_take_the_way_they_took(tables: tuple[Any, Any]) -> None:
    a, b = (as_parquet(table, name) for table, name in zip(tables, "ab", strict=True))
    whole, told = btests.compare(a, b, seed=0), btests.compare(a, b, seed=0, memory="1GB")
    assert whole.result.read == told.result.read == "at once"
    assert whole.pvalue == told.pvalue


def test_one_table_with_both_sides(tables: tuple[Any, Any]) -> None:
    both = pa.concat_tables(
        [
            table.append_column("year", pa.array([year] * len(table)))
            for table, year in zip(tables, (2023, 2024), strict=True)
        ]
    )
    order = pa.array(np.random.default_rng(1).permutation(len(both)))
    for write in (as_parquet, as_csv):
        path = write(both.take(order), "both")
        apart = in_pieces(path, by="year")
        named = in_pieces(path, by="year", value_a="2023", value_b=2024.0)
        assert apart.names == named.names == ("year = 2023", "year = 2024")
        assert apart.pvalue == named.pvalue
        assert (apart.details["rows"]["a"], apart.details["rows"]["b"]) == (5000, 4500)
        assert ("year", "it splits the table into sides") in apart.excluded
    with pytest.raises(ValueError, match="no row has year = 1999; there are 202"):
        in_pieces(path, by="year", value_a=1999, value_b=2024)
    with pytest.raises(ValueError, match="more than two different values"):
        in_pieces(path, by="count")
    with pytest.raises(ValueError, match=r"`by` names 'month' .*which is not in both\.csv"):
        in_pieces(path, by="month")


@pytest.mark.parametrize("cell", ["", '""'])
def test_a_column_without_a_cell_in_text(shell: Shell, cell: str) -> None:
    for name in "ab":
        Path(f"{name}.csv").write_text("u,v\n" + "".join(f"{k % 7},{cell}\n" for k in range(50)), encoding="utf-8")
    assert in_pieces("a.csv", "b.csv").pvalue > 0.05
