"""The study of real pairs of tables: draws, answers of the tools, a quick run, and the tables in the docs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from studies.harness.counts import Row, read_csv
from studies.real_pairs import __main__ as command
from studies.real_pairs import methods
from studies.real_pairs.pairs import DIFFER, PAIRS, RELATIONS, SAME, UNKNOWN, Frame, Pair
from studies.real_pairs.tables import answer, is_right, shown, tables
from studies.real_pairs.trials import Cell
from tests.bounds import count_bounds

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = "python -m studies.real_pairs --seed 2013"

pd = pytest.importorskip("pandas")


def place_of(name: str) -> int:
    """Return the place of a pair, or skip the test where its data are not installed."""
    place = [pair.name for pair in PAIRS].index(name)
    if PAIRS[place].missing:
        pytest.skip(f"{PAIRS[place].package} is not installed")
    return place


def table(n: int, shift: float = 0.0) -> Frame:
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    names = pd.Series(np.where(x > 0.0, "up", "down"), dtype=object)
    return pd.DataFrame({"id": np.arange(n), "x": x + shift, "name": names})


def test_halves_have_every_row_once() -> None:
    pair = Pair("halves", "pandas", SAME, lambda: (table(31),))
    a, b = pair.draw(np.random.default_rng(0), whole=True)
    assert (len(a), len(b)) == (15, 16)
    assert sorted([*a["id"], *b["id"]]) == list(range(31))


def test_permuted_columns_keep_their_values_but_not_their_relations() -> None:
    frame = table(400)
    a, b = Pair("permuted", "pandas", RELATIONS, lambda: (frame,)).draw(np.random.default_rng(0), whole=True)
    assert sorted([*a["x"], *b["x"]]) == sorted(frame["x"])
    assert ((a["x"] > 0.0) == (a["name"] == "up")).all()
    # Rows match by chance; half of them with 200 rows, and all of them with probability 2^-200.
    assert not ((b["x"] > 0.0) == (b["name"] == "up")).all()


def test_draws_of_two_tables_have_a_quarter_of_the_rows_or_the_named_ones() -> None:
    rng = np.random.default_rng(0)
    for sizes, expected in ((None, (30, 30)), ((100, 7), (100, 7))):
        pair = Pair("two", "pandas", DIFFER, lambda: (table(120), table(400, 1.0)), sizes)
        assert tuple(map(len, pair.draw(rng, whole=False))) == expected


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_pairs_have_the_same_columns_on_both_sides(pair: Pair) -> None:
    if pair.missing:
        pytest.skip(f"{pair.package} is not installed")
    a, b = pair.draw(np.random.default_rng(0), whole=False)
    assert list(a.columns) == list(b.columns)
    assert min(len(a), len(b)) >= 20


# Not hyppo, whose compiler has aborted in processes with as many libraries as those of tests: see test_a_quick_run.
@pytest.mark.parametrize("method", methods.METHODS[:3], ids=lambda method: method.name)
def test_tools_find_a_large_shift_and_name_its_column(method: methods.Method) -> None:
    if method.missing:
        pytest.skip(f"{method.package} is not installed")
    a, b = table(60).drop(columns=["id"]), table(61, 3.0).drop(columns=["id"])
    found = method.find(a, b, 1)
    assert (found.different, found.n_columns) == (True, 2)
    assert 1 <= found.n_marked <= 2


def test_mmd_takes_complete_rows_of_columns_that_are_mostly_there() -> None:
    a, b = table(60), table(600)
    for frame in (a, b):
        frame.loc[::10, "x"] = np.nan
        frame["rare"] = np.where(frame["id"] < 5, 1.0, np.nan)
        frame["constant"] = 1.0
    x, y = methods.scaled_rows(a, b, np.random.default_rng(0))
    assert (x.shape, y.shape) == ((54, 2), (methods.MOST_ROWS, 2))
    assert np.concatenate([x, y]).std(axis=0) == pytest.approx(1.0)


def row(**changes: object) -> Row:
    own: Row = {"pair": "halves", "truth": SAME, "whole": True, "n_a": 1500, "n_b": 20, "columns": 3}
    own |= {"method": "btests compare", "release": "btests 0", "trials": 1, "different": 0, "any": 0, "marked": 0}
    return own | {"tested": 3, "pvalue": 0.25, "seconds": 0.5} | changes


def test_an_answer_says_whether_it_is_right() -> None:
    assert answer(row()) == "no difference, 0 of 3, p .2500; right"
    assert answer(row(different=1, marked=2, pvalue=1e-9)) == "differ, 2 of 3, p < .0001; **wrong**"
    assert answer(row(truth=RELATIONS, method="hyppo MMD")) == "no difference, p .2500; **wrong**"
    assert answer(row(truth=UNKNOWN)) == "no difference, 0 of 3, p .2500"
    shares = {"method": "evidently", "any": 1, "marked": 1, "pvalue": float("nan")}
    assert answer(row(**shares)) == "1 of 3; half right, any **wrong**"
    assert answer(row(truth=UNKNOWN, **shares)) == "1 of 3"
    assert is_right(DIFFER, True)
    assert shown(3, 100) == "3 (1 to 9 %)"


def test_a_tool_that_is_not_available_is_said_to_be_so() -> None:
    text = tables([row(), row(whole=False, trials=100, different=4, seconds=20.0)], COMMAND)
    assert (
        "| halves | 1,500 and 20 | 3 | nothing differs | no difference, 0 of 3, p .2500; right | not available |"
        in text
    )
    assert "| halves | 1,500 and 20 | nothing differs | 100 | 4 (1 to 10 %) | not available |" in text
    assert "| right verdicts on all rows | 1 of 1 | not available |" in text
    assert "| halves | 0.50 / 0.20 | not available / not available |" in text


def test_a_quick_run_writes_sums_and_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of("wine, cultivars 0 v 1")
    monkeypatch.setattr(command, "cells", lambda quick: iter([Cell(place, True, 1), Cell(place, False, 2)]))
    done = CliRunner().invoke(command.main, ["--quick", "--out", str(tmp_path), "--workers", "1"])
    assert done.exit_code == 0, done.output
    rows = read_csv(tmp_path / "real-pairs.csv")
    # Not `method.missing`, which imports packages that warn; the run is in processes of its own.
    assert {row["method"] for row in rows} == {method.name for method in methods.METHODS if find_spec(method.package)}
    rows = [row for row in rows if row["method"] == "btests compare"]
    found = [(row["n_a"], row["n_b"], row["trials"], row["tested"]) for row in rows]
    assert found == [(59, 71, 1, 13), (20, 20, 2, 26)]
    assert (tmp_path / "real-pairs.md").read_text() in done.output


def test_the_tables_in_the_docs_come_from_the_sums_beside_them() -> None:
    text = (DOCS / "real-pairs.md").read_text(encoding="utf-8")
    assert tables(read_csv(DOCS / "real-pairs.csv"), COMMAND) in text


def test_false_alarms_of_the_document_are_as_rare_as_they_should_be() -> None:
    # Each count is above its bound with probability 1e-6 at most.
    for row in read_csv(DOCS / "real-pairs.csv"):
        if row["truth"] == SAME and row["method"] == "btests compare":
            assert row["different"] <= count_bounds(row["trials"], 0.0, methods.ALPHA)[1], row
