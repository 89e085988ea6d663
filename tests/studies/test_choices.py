"""The study of kernel choices: its machinery, and that the tables in the docs are those that its tallies give."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from btests import btest
from btests.selection import Aggregate
from studies.choices import cells as grid
from studies.choices import tables, trials
from studies.choices.__main__ import main
from studies.choices.cells import LIMITS, Cell
from studies.choices.curve import size_needed
from studies.choices.perturbed_uniform import HEIGHTS, perturbed_uniform, published_samples
from studies.choices.problems import BY_NAME, PROBLEMS, PUBLISHED_PROBLEMS
from studies.choices.ranking import rank, recommend
from studies.choices.selectors import CHOICES, CURVES, NULLS, PAIRED, PICKED, RERUN
from studies.harness.counts import Row, read_csv

DOCS = Path(__file__).parents[2] / "docs"


COLUMNS = ("study", "problem", "n", "is_null", "choice", "null", "trials", "rejections", "seconds")


def row(*values: object) -> Row:
    return dict(zip(COLUMNS, values, strict=True))


def without_time(rows: list[Row]) -> list[tuple[object, ...]]:
    return [tuple(r[name] for name in COLUMNS[:-1]) for r in rows]


def test_every_problem_goes_through_every_choice() -> None:
    for problem in PROBLEMS:
        picked = () if problem.picked is None else (PICKED,)
        cell = Cell("ranking", problem.name, 40, False, (*picked, *CHOICES), ("SignFlip",), 1)
        assert [r["choice"] for r in trials.count(cell, range(1), 1)] == [*picked, *CHOICES]


def test_trials_repeat() -> None:
    cell = Cell("curve", "blobs", 60, False, CURVES, ("SignFlip",), 3)
    first = trials.count(cell, range(3), seed=1)
    assert without_time(first) == without_time(trials.count(cell, range(3), seed=1))
    assert all(r["trials"] == 3 and r["seconds"] > 0.0 for r in first)


def test_a_choice_that_serves_several_nulls_is_the_one_that_serves_one() -> None:
    """The rows and the kernel handed on give the p-value of the whole test."""
    for name, choice in PAIRED.items():
        if isinstance(choice, Aggregate):
            continue
        many = Cell("pairs", "blobs", 40, True, (name,), ("SignFlip", "ThirdCumulant"), 20)
        found = {r["null"]: r["rejections"] for r in trials.count(many, range(20), 5)}
        expected = dict.fromkeys(found, 0)
        for trial in range(20):
            rng = np.random.default_rng([5, 0, 40, 1, trial])
            x, y = BY_NAME["blobs"].draw(40, rng), BY_NAME["blobs"].draw(40, rng)
            for null in expected:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("warnings.warn", lambda *args, **kwargs: None)
                    result = btest(x, y, kernel=choice, null=NULLS[null], block_size="sqrt", seed=trial, shuffle=False)
                expected[null] += result.rejects(0.05)
        assert found == expected


def test_an_interrupted_study_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [
        *(Cell("ranking", "coin", 30, is_null, tuple(CHOICES), ("SignFlip",), 2) for is_null in (False, True)),
        *(Cell("curve", "blobs", n, False, CURVES, ("SignFlip",), 2) for n in (30, 60)),
        Cell("published", PUBLISHED_PROBLEMS[0].name, 40, False, tuple(RERUN), ("SignFlip",), 2),
        Cell("pairs", "blobs", 40, True, ("MedianHeuristic()",), tuple(NULLS), 2),
        Cell("whole", "coin", 30, False, tuple(CHOICES), ("SignFlip",), 1),
        *(
            Cell(study, "blobs", 40, True, ("MedianHeuristic()", "MaxRatio()"), limit.nulls, 2)
            for study, limit in LIMITS.items()
        ),
    ]
    monkeypatch.setattr(grid, "cells", lambda quick: iter(few))
    options = ["--quick", "--out", str(tmp_path), "--workers", "1"]
    assert CliRunner().invoke(main, options, catch_exceptions=False).exit_code == 0
    first = without_time(read_csv(tmp_path / "choices.csv"))
    tasks = sorted((tmp_path / "tasks" / "choices").iterdir())
    assert len(tasks) == len(few)
    tasks[0].unlink()
    stored = tasks[1].stat().st_mtime_ns
    assert CliRunner().invoke(main, options, catch_exceptions=False).exit_code == 0
    assert without_time(read_csv(tmp_path / "choices.csv")) == first
    assert tasks[1].stat().st_mtime_ns == stored
    assert (tmp_path / "choices.png").stat().st_size > 10_000
    # One part again, and the others as they were counted before.
    other = tmp_path / "again"
    part = ["--quick", "--out", str(other), "--workers", "1", "--only", "pairs"]
    part += ["--rest", str(tmp_path / "choices.csv")]
    assert CliRunner().invoke(main, part, catch_exceptions=False).exit_code == 0
    assert len(list((other / "tasks" / "choices").iterdir())) == 1
    assert set(without_time(read_csv(other / "choices.csv"))) == set(first)
    assert "--only pairs --rest" in (other / "choices.md").read_text().splitlines()[0]


def test_cells_have_names_of_their_own() -> None:
    for quick in (False, True):
        names = [cell.name for cell in grid.cells(quick)]
        assert len(set(names)) == len(names)


def test_ranking_by_hand() -> None:
    """Powers .8, .4 and .9, .2: regrets 0 and .2 against .1 and 0; a liberal choice is not recommended."""
    hits = {("MedianHeuristic()", "p"): 80, ("MedianHeuristic()", "q"): 20, ("energy", "p"): 70, ("energy", "q"): 40}
    rows = [row("ranking", p, 9, False, c, "SignFlip", 100, h, 1.0) for (c, p), h in hits.items()]
    rows += [row("ranking", "p", 9, True, c, "SignFlip", 1000, 50, 2.0) for c in ("MedianHeuristic()", "energy")]
    first, second = rank(rows)
    assert (first.choice, first.worst_problem, second.worst_problem) == ("energy", "p", "q")
    assert (first.mean_regret, first.worst_regret) == pytest.approx((0.05, 0.1))
    assert (second.mean_regret, second.mean_power, second.time) == pytest.approx((0.1, 0.5, 1.0))
    assert recommend([first, second]).choice == "energy"
    liberal = [r for r in rows if not (r["is_null"] and r["choice"] == "energy")]
    liberal.append(row("ranking", "p", 9, True, "energy", "SignFlip", 1000, 200, 2.0))
    assert recommend(rank(liberal)).choice == "MedianHeuristic()"


def test_size_needed_lies_between_its_neighbours() -> None:
    curve = [
        row("curve", "blobs", n, False, "MedianHeuristic()", "SignFlip", 1000, h, 1.0)
        for n, h in ((400, 900), (800, 975))
    ]
    size = size_needed(curve)
    assert size is not None
    assert 400 < size < 800
    assert size_needed(curve[:1]) is None


@pytest.mark.parametrize(("d", "n_bumps"), [(1, 1), (1, 3), (2, 2)])
def test_perturbed_uniform_has_its_density(d: int, n_bumps: int) -> None:
    """The share of hills and valleys that was promised, within bounds that fail once in 1e9 runs (six sigma)."""
    n = 200_000
    x = perturbed_uniform(n, np.random.default_rng(3), d=d, n_bumps=n_bumps)
    assert x.shape == (n, d)
    assert x.min() >= 0.0
    assert x.max() <= 1.0
    # The signs are the first numbers drawn.
    signs = np.random.default_rng(3).choice([-1.0, 1.0], size=(n_bumps,) * d)
    cell = np.minimum((x * n_bumps).astype(int), n_bumps - 1)
    halves = np.where(x * n_bumps - cell < 0.5, 1.0, -1.0).prod(axis=1) * signs[tuple(cell.T)]
    v = (np.arange(20_000) + 0.5) / 10_000 - 1.0
    hill = float(np.mean(np.exp(-1.0 / (1.0 - v**2))))  # of one hill, over its own half of the cell
    expected = HEIGHTS[d] / n_bumps * hill**d
    assert float(halves.mean()) == pytest.approx(expected, abs=6.0 / math.sqrt(n))


def test_published_samples_share_rows_and_independent_ones_do_not() -> None:
    """The uniform sample begins the stream that the sampler reads: every other proposal of its first half is a row."""
    rng = np.random.default_rng(0)
    x, y = published_samples(500, rng, d=1, n_bumps=3)
    assert x.shape == y.shape == (500, 1)
    assert 0.25 < np.isin(x, y).mean() < 0.45
    x, y = BY_NAME["uniform, d = 1, P = 3"].samples(500, rng, is_null=False)
    assert not np.isin(x, y).any()


def test_the_tables_in_the_docs_come_from_the_counts_beside_them() -> None:
    command, _, printed = tables.tables(read_csv(DOCS / "choices.csv"), "the command").partition("\n\n")
    assert command == "Printed by `the command`."
    assert printed in (DOCS / "choices.md").read_text(encoding="utf-8")


def test_the_docs_say_what_the_rule_recommends() -> None:
    text = (DOCS / "choices.md").read_text(encoding="utf-8").split("### Ranking")[0]
    assert f"`{recommend(rank(read_csv(DOCS / 'choices.csv'))).choice}`" in text


def test_every_pair_that_misses_its_level_is_named_in_the_docs() -> None:
    text = (DOCS / "choices.md").read_text(encoding="utf-8").split("### Ranking")[0]
    for missed in tables.misses(read_csv(DOCS / "choices.csv")):
        assert f"`{tables.pair_name(missed)}`" in text
