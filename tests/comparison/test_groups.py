"""All groups of one table: the tests, what is said about them, and what is refused."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import btests
from btests.comparison.encoding import Encoding
from btests.comparison.group_tests import group_against_others
from btests.comparison.groupby import LEAST_ROWS, MOST_GROUPS, balanced_rows, groups_of
from btests.comparison.sources import Loaded
from btests.ksample import labelled_test
from btests.multiple_testing import holm
from tests.bounds import FALSE_ALARM, count_bounds
from tests.comparison.conftest import Shell

MONTHS = ("April", "May", "June", "July")


def seasons(n: int, seed: int, *, warm: float = 3.0) -> pd.DataFrame:
    """Return months with a temperature, which is higher in July, a wind and a sky, with holes."""
    rng = np.random.default_rng(seed)
    month = rng.choice(MONTHS, n)
    wind = np.where(rng.random(n) < 0.1, np.nan, rng.gamma(2.0, 3.0, n))
    sky = rng.choice(["clear", "cloud", "rain"], n)
    temp = rng.normal(size=n) + warm * (month == "July")
    return pd.DataFrame({"month": month, "temp": temp, "wind": wind, "sky": sky})


def groups(table: Any, **options: Any) -> btests.GroupComparison:
    """Return the comparison of the groups by month."""
    found = btests.compare(table, by="month", seed=1, **options)
    assert isinstance(found, btests.GroupComparison)
    return found


FOUND = groups(seasons(400, 0))


def test_the_group_and_the_column_are_named() -> None:
    assert FOUND.different
    assert FOUND.to_dict()["verdict"]["text"] == "month: the 4 groups differ in temp, most in July (1 of 3 columns)."
    assert FOUND.columns[0].group == "July"
    assert [column.different for column in FOUND.columns] == [True, False, False]
    found = {frozenset(pair.groups) for pair in FOUND.pairs if pair.different}
    assert found == {frozenset(("July", other)) for other in MONTHS[:3]}
    assert FOUND.columns[0].changes[0].quantity == "mean"


def test_pairs_are_all_and_corrected_by_holm() -> None:
    names = [group.name for group in FOUND.groups]
    assert names == list(MONTHS)
    assert {pair.groups for pair in FOUND.pairs} == set(combinations(names, 2))
    alone, corrected = (np.array([getattr(p, key) for p in FOUND.pairs]) for key in ("pvalue", "pvalue_corrected"))
    np.testing.assert_array_equal(np.maximum(holm(alone), FOUND.pvalue), corrected)
    assert (np.diff(alone) >= 0.0).all()
    for pair in FOUND.pairs:
        assert pair.effect == (pytest.approx(np.sqrt(max(0.0, pair.mmd2) / 2)) if pair.different else 0.0)


def test_the_joint_test_is_that_of_the_pooled_encoded_rows() -> None:
    table = seasons(400, 0)
    cells = groups_cells(table)
    encoding = Encoding.fit(cells)
    points = np.hstack([code.transform(own) for code, own in zip(encoding.codes, cells, strict=True)])
    labels = pd.factorize(table["month"])[0].astype(np.int64)
    plain = labelled_test(points, labels, seed=1)
    assert (FOUND.result.statistic, FOUND.result.pvalue) == (plain.statistic, plain.pvalue)


def groups_cells(table: pd.DataFrame) -> list[Any]:
    """Return the columns of a table other than the month, as one side."""
    from btests.comparison.cells import pool

    own = pa.Table.from_pandas(table.drop(columns="month"), preserve_index=False)
    return [pool(name, own[name], own[name].slice(0, 0)) for name in own.column_names]


def test_names_of_groups_do_not_matter() -> None:
    table = seasons(300, 3, warm=0.4)
    other = table.assign(month=table["month"].map({"April": 9, "May": 2, "June": 7, "July": 1}))
    one, two = groups(table), groups(other)
    assert (one.pvalue, one.result.pvalue) == (two.pvalue, two.result.pvalue)
    assert [column.pvalue for column in one.columns] == [column.pvalue for column in two.columns]
    assert [column.effect for column in one.columns] == [column.effect for column in two.columns]
    assert [(p.pvalue_corrected, p.mmd2) for p in one.pairs] == [(p.pvalue_corrected, p.mmd2) for p in two.pairs]
    assert [group.name for group in two.groups] == ["1", "2", "7", "9"]


def test_the_same_seed_repeats_everything() -> None:
    again = groups(seasons(400, 0))
    assert again == FOUND
    assert min(FOUND.pvalue, *(pair.pvalue for pair in FOUND.pairs)) > 0.0


def test_the_verdict_is_corrected_for_both_tests() -> None:
    columns = min(column.pvalue_corrected for column in FOUND.columns)
    assert FOUND.pvalue == min(1.0, 3.0 * FOUND.result.pvalue, 1.5 * columns)
    alone = groups(seasons(300, 1), columns="temp")
    assert alone.pvalue == alone.result.pvalue == alone.columns[0].pvalue
    assert len(alone.to_dict()["tests"]) == 1


def test_drawn_rows_are_balanced_and_do_not_depend_on_numbers() -> None:
    numbers = np.random.default_rng(0).choice([0, 1, 2, -1], 1000, p=[0.7, 0.2, 0.05, 0.05])
    rows = balanced_rows(numbers, 400, 1000, 5)
    counts = np.bincount(numbers[rows])
    assert len(rows) <= 400
    assert counts[2] == (numbers == 2).sum()
    assert counts[0] == counts[1]
    other = np.where(numbers < 0, -1, 2 - numbers)
    np.testing.assert_array_equal(rows, balanced_rows(other, 400, 1000, 5))
    np.testing.assert_array_equal(balanced_rows(numbers, 2000, 1000, 5), np.flatnonzero(numbers >= 0))


def test_a_group_against_the_others() -> None:
    cells = groups_cells(seasons(50, 2))[0]
    numbers = np.random.default_rng(0).integers(0, 3, 50)
    sides, order = group_against_others(cells, numbers, 1)
    np.testing.assert_array_equal(np.sort(order), np.arange(50))
    np.testing.assert_array_equal(sides.values[sides.n_a :], cells.values[numbers == 1])


def test_max_rows_is_of_each_group() -> None:
    found = groups(seasons(400, 0), max_rows=40)
    assert {group.tested for group in found.groups} == {40}
    assert found.details["rows"]["tested"] == 160
    assert any("160 were tested, chosen at random (`max_rows`)" in note for note in found.notes)


def test_a_kernel_without_a_bound_has_no_effect() -> None:
    found = groups(seasons(200, 0), kernel="energy")
    assert all(pair.effect is None for pair in found.pairs)
    assert "-" in str(found)


def test_a_given_number_of_draws_is_used() -> None:
    found = groups(seasons(200, 0), null=btests.SignFlip(99))
    assert found.result.pvalue == 0.01
    assert min(pair.pvalue for pair in found.pairs) == 0.01


def test_rows_without_a_label_and_small_groups_are_excluded() -> None:
    table = seasons(300, 0)
    table.loc[:4, "month"] = None
    table.loc[10:12, "month"] = "May the 4th"
    found = groups(table)
    assert "5 rows have no value of 'month' and were excluded" in found.notes
    small = f"1 group of 'month' has fewer than {LEAST_ROWS} rows and was excluded: May the 4th (3 rows)"
    assert small in found.notes
    assert found.details["excluded_groups"] == [{"name": "May the 4th", "rows": 3}]
    assert found.details["rows"]["tested"] == 292


def test_two_groups_are_two_sides() -> None:
    table = seasons(300, 0)
    two = table[table["month"].isin(["May", "July"])].reset_index(drop=True)
    found = btests.compare(two, by="month", seed=1)
    named = btests.compare(table, by="month", value_a="July", value_b="May", seed=1)
    assert isinstance(found, btests.Comparison)
    assert found.pvalue == named.pvalue
    assert found.names == ("month = July", "month = May")
    assert any("side a is month = July, side b is month = May" in note for note in found.notes)
    two.loc[:2, "month"] = "June"  # too few rows for a group
    found = btests.compare(two, by="month", seed=1)
    assert isinstance(found, btests.Comparison)
    assert any("June (3 rows)" in note for note in found.notes)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["x"] * 60, "column 'month' has one value, x; it must have one for each group"),
        ([None] * 60, "has no values"),
        ([str(j) for j in range(60)], f"has 60 different values .* at most {MOST_GROUPS} groups are compared at once"),
        ([str(j // 3) for j in range(60)], f"fewer than two groups of 'month' have {LEAST_ROWS} rows or more"),
        ([[j % 3] for j in range(60)], "which cannot split a table"),
    ],
)
def test_labels_that_make_no_groups(labels: list[Any], message: str) -> None:
    table = pa.table({"u": np.arange(60.0), "month": pa.array(labels)})
    with pytest.raises(ValueError, match=message):
        btests.compare(table, by="month")
    with pytest.raises(ValueError, match=r"`by` names 'moth' \(did you mean 'month'\?\), which is not in the table"):
        btests.compare(table, by="moth")
    with pytest.raises(ValueError, match="has no column but 'month'"):
        btests.compare(table.select(["month"]), by="month")


def test_labels_of_several_forms_are_one_group() -> None:
    values = [1.0, float("nan"), 2.0, 1.0, 3.0, 2.0] * 10
    found = groups_of(Loaded(pa.table({"g": pa.chunked_array([values[:7], values[7:]]), "u": values}), "t"), "g")
    assert found.names == ("1.0", "2.0", "3.0")
    assert found.n_unlabelled == 10
    assert np.bincount(found.numbers[found.numbers >= 0]).tolist() == [20, 20, 10]
    chunks = pa.chunked_array([pa.array(["b", "a"] * 9), pa.array(["c", "a"] * 9)]).dictionary_encode()
    found = groups_of(Loaded(pa.table({"g": chunks, "u": np.arange(36.0)}), "t"), "g")
    assert [found.names[j] for j in found.numbers[[0, 1, 18, 19]]] == ["b", "a", "c", "a"]


def test_times_with_a_zone_have_no_note_about_a_second_side() -> None:
    table = seasons(200, 0)
    found = groups(table.assign(when="2024-01-0" + pd.Series(np.arange(200) % 9 + 1).astype(str) + "T10:00:00Z"))
    assert not any("time zone" in note for note in found.notes)
    assert "when" in {column.name for column in found.columns}


def test_few_rows_say_that_nothing_could_be_found() -> None:
    table = {"month": np.repeat(["a", "b", "c"], 8), "u": np.arange(24.0) % 5}
    found = groups(table, alpha=1e-4)
    assert "none could be" in found.to_dict()["verdict"]["text"]


def test_the_shell_prints_groups_pairs_and_columns(shell: Shell) -> None:
    seasons(400, 0).to_csv("w.csv", index=False)
    shown = shell("w.csv", "--by", "month")
    assert shown.status == 1
    lines = shown.out.splitlines()
    assert lines[0] == "month: the 4 groups differ in temp, most in July (1 of 3 columns)."
    assert any(line.startswith("* temp") and "July" in line for line in lines)
    assert any(line.startswith("  July") and "3 of 3" in line for line in lines)
    assert "* differ, at level 0.05, corrected for 6 pairs by Holm's method" in lines
    assert max(map(len, lines)) <= 100
    same = shell("w.csv", "--by", "month", "--columns", "wind,sky")
    assert same.status == 0
    by_number = seasons(400, 0).replace({"month": dict(zip(MONTHS, "4567", strict=True))})
    assert "most in month = 7 " in groups(by_number).to_dict()["verdict"]["text"]
    assert same.out.startswith("month: no difference found between the 4 groups at level 0.05")


def test_the_shell_writes_json_and_a_page(shell: Shell) -> None:
    seasons(400, 0).to_csv("w.csv", index=False)
    found = shell("w.csv", "--by", "month", "--json", "--report", "w.html")
    assert found.status == 1
    assert found.json["schema"] == "btests.compare-groups/1"
    assert found.json["command"] == "btests compare w.csv --by month --seed 0"
    page = Path("w.html").read_text()
    assert found.json["verdict"]["text"] in page
    assert "pairs-map" in page


def test_the_document_shows_real_output(shell: Shell) -> None:
    text = (Path(__file__).parents[2] / "docs/compare.md").read_text()
    start = text.index("items: the 6 groups differ")
    shown = text[start : text.index("\n```", start)].splitlines()
    shell("--demo")
    printed = shell("current.csv", "--by", "items", "--report", "items.html").out.splitlines()
    assert [line for line in printed if "  time  " not in line] == [line for line in shown if "  time  " not in line]


def test_every_key_is_in_the_schema() -> None:
    text = (Path(__file__).parents[2] / "docs/compare-schema.md").read_text()
    text = text[text.index("btests.compare-groups/1") :]
    document = FOUND.to_dict()
    first = [document[key][0] for key in ("groups", "pairs", "columns")]
    parts = [document, document["verdict"], document["rows"], *first]
    absent = {key for part in parts for key in part if f"`{key}`" not in text}
    assert absent == set()


@pytest.mark.statistical
def test_level_of_mixed_tables() -> None:
    """The p-values of groups of one distribution are at most 5 % in 5 % of trials; fails once in 10^6 times."""
    n_trials, rejected, joint = 200, 0, 0
    for seed in range(n_trials):
        found = btests.compare(seasons(120, 1000 + seed, warm=0.0), by="month", seed=seed)
        assert isinstance(found, btests.GroupComparison)
        rejected += found.different
        joint += found.result.pvalue <= 0.05
    # The verdict is conservative: columns depend on one another, and Holm's and Bonferroni's corrections do not use it.
    assert rejected <= count_bounds(n_trials, 0.05, 0.05, FALSE_ALARM / 2.0)[1]
    low, high = count_bounds(n_trials, 0.05, 0.05, FALSE_ALARM / 2.0)
    assert low <= joint <= high
