"""No option is ignored without a word: it is refused, or a note says that it has no effect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import btests
from btests.comparison.dependence import Settings, groups_independence
from tests.comparison.conftest import Shell

RNG = np.random.default_rng(0)
TABLE: dict[str, Any] = {
    "g": np.repeat(["x", "y"], 40),
    "h": np.repeat(np.arange(40), 2),
    "u": RNG.normal(size=80),
    "v": RNG.integers(4, size=80),
}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "g", "unit": "g"}, "`by` and `unit` both name 'g': a group would be one unit"),
        ({"by": "h", "unit": "h"}, "`by` and `unit` both name 'h'"),
        ({"by": "g", "columns": ["g"]}, r"`columns` names 'g', which splits the table \(`by`\) and is not compared"),
        ({"by": "g", "exclude": ["g"]}, "`exclude` names 'g', which splits the table"),
        ({"by": "g", "unit": "h", "categories": ["h"]}, r"`categories` names 'h', which names the units \(`unit`\)"),
        ({"by": "g", "columns": ["u", "v"], "exclude": "u"}, "`columns` and `exclude` both name 'u'"),
        ({"value_a": 1, "value_b": 2}, "`value_a` and `value_b` are values of the column that `by` names"),
    ],
)
def test_a_column_has_one_role(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        btests.compare(TABLE, None if "by" in options else TABLE, **options)


@pytest.mark.parametrize("drawn", [True, False])
def test_a_checkpoint_that_is_not_needed(shell: Shell, files: tuple[str, str], drawn: bool) -> None:
    """Of rows that are drawn the joint test is in memory, and there is no work to save."""
    draw = ("--memory", "40kB", "--max-rows", "100") if drawn else ()
    found = shell("a.csv", "b.csv", "--checkpoint", "saved.npz", "--json", *draw).json
    why = "the rows that --max-rows draws are tested in memory" if drawn else "the tables fit into memory"
    assert f"{why}: the checkpoint 'saved.npz' was not needed" in found["notes"]
    assert not Path("saved.npz").exists()
    assert not any("saved.npz" in note for note in shell("a.csv", "b.csv", "--json", *draw).json["notes"])


def test_options_for_other_files(tmp_path: Path) -> None:
    packed = tmp_path / "a.parquet"
    pq.write_table(pa.table({"u": TABLE["u"], "g": TABLE["g"]}), packed)
    text = tmp_path / "a.csv"
    text.write_text("u;g\n" + "\n".join(f"{u};{g}" for u, g in zip(TABLE["u"], TABLE["g"], strict=True)) + "\n")
    note = "`delimiter` is for CSV files, and no table is one"
    assert note in btests.compare(packed, packed, delimiter=";", seed=0).notes
    assert note in btests.compare(packed, by="g", delimiter=";", seed=0).notes
    assert note not in btests.compare(packed, text, delimiter=";", seed=0).notes
    assert note not in btests.compare(text, by="g", delimiter=";", seed=0).notes
    assert note in groups_independence(str(packed), ["u"], ["g"], Settings(delimiter=";"))["notes"]
    whole = "`memory` is for files that can be read in pieces; these tables were read whole"
    assert whole in btests.compare(TABLE, by="g", memory="1GB", seed=0).notes
    assert whole not in btests.compare(packed, by="g", memory="1GB", seed=0).notes


def test_categories_that_are_not_tested() -> None:
    for y, notes in ((["g"], ["`categories` names 'v', which was not tested"]), ([], [])):
        found = groups_independence(TABLE, ["u"], y, Settings(categories=("v",), exclude=("h",)))
        assert [note for note in found["notes"] if "categories" in note] == notes


def test_units_of_both_tables_are_drawn_together() -> None:
    a, b = ({"h": TABLE["h"], "u": RNG.normal(size=80)} for _ in range(2))
    found = btests.compare(a, b, unit="h", max_rows=30, seed=0)
    assert "15 units in both tables of 'h'" in " ".join(found.notes)
    assert found.result.unit_rows == (30, 30)


def test_few_units_are_called_units() -> None:
    h = np.repeat(np.arange(4), 20)
    a, b = ({"h": h + k, "u": RNG.normal(size=80)} for k in (0, 10))
    text = " ".join(str(btests.compare(a, b, unit="h", seed=0)).split())
    assert "80 and 80, of 4 and 4 units" in text
    assert "so few rows" not in text
    assert "with so few units none could be" in text


@pytest.mark.parametrize("option", ["--workers", "--dask"])
def test_messages_name_the_option_that_was_given(shell: Shell, files: tuple[str, str], option: str) -> None:
    refused = shell.refused("a.csv", "b.csv", option, "2", "--max-rows", "100")
    assert f"{option} computes the joint test of all rows, and --max-rows draws some" in refused
    refused = shell.refused("a.csv", "b.csv", option, "2", "--null", "permutation", "--block-size", "50")
    assert "None" not in refused
    assert "--dask has no address" in shell.refused("a.csv", "b.csv", "--dask", "")
    refused = shell.refused("-", "b.csv", option, "2")
    assert f"{option} is for tables in files, which workers read themselves" in refused


@pytest.mark.parametrize("delimiter", [object(), b";", 5, "", ";;", "é", '"', "\n"])
@pytest.mark.parametrize("table", [TABLE, "a.csv"])
def test_a_delimiter_is_checked_also_where_it_has_no_effect(table: Any, delimiter: Any) -> None:
    with pytest.raises(
        (TypeError, ValueError), match="delimiter must be one ASCII character and no quote, or None, got"
    ):
        btests.compare(table, table, delimiter=delimiter)
