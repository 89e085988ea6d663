"""The study of power: its peers against their definitions, its machinery, and its tables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from btests.data.sample import Sample
from btests.kernels import Energy, Gaussian
from btests.plan import Array
from btests.selection import JoinedFamily, MedianFamily
from studies.harness.counts import Row, read_csv
from studies.power import __main__ as command
from studies.power import methods, peers, penguins, permutations, tables, trials
from studies.power.methods import DEFAULT, GROUPS, PEERS, VARIANTS, Variant
from studies.power.problems import PROBLEMS, SIZES
from studies.power.trials import Cell
from tests.bounds import count_bounds

IN_NUMPY = [method for method in PEERS if not method.package]


@pytest.fixture(autouse=True)
def without_hyppo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take hyppo for missing: its compiler has aborted in processes with as many libraries as those of tests."""
    monkeypatch.setitem(sys.modules, "hyppo", None)


def two_samples(n_x: int, n_y: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_x, 2)), rng.standard_normal((n_y, 2)) + 0.5


def all_subsets(n_rows: int, size: int) -> permutations.Subsets:
    """Every subset once, the last rows first."""
    return np.array(sorted(combinations(range(n_rows), size), reverse=True))


def brute_force_mmd(x: Array, y: Array, kernel: Callable[[Array, Array], float], *, unbiased: bool) -> float:
    def mean(a: Array, b: Array, *, same: bool) -> float:
        values = [kernel(p, q) for (i, p), (j, q) in product(enumerate(a), enumerate(b)) if not (same and i == j)]
        return float(np.mean(values))

    return mean(x, x, same=unbiased) + mean(y, y, same=unbiased) - 2.0 * mean(x, y, same=False)


def energy_kernel(p: Array, q: Array) -> float:
    return -float(np.linalg.norm(p - q))


def gaussian_kernel(p: Array, q: Array) -> float:
    return float(np.exp(-np.sum((p - q) ** 2)))


@pytest.mark.parametrize(("kernel", "unbiased"), [(energy_kernel, False), (gaussian_kernel, True)])
@pytest.mark.parametrize("sizes", [(4, 4), (5, 3), (40, 2)])
def test_relabelled_statistics_are_those_of_relabelled_samples(
    kernel: Callable[[Array, Array], float], unbiased: bool, sizes: tuple[int, int]
) -> None:
    x, y = two_samples(*sizes)
    pooled = np.concatenate([x, y])
    gram = np.array([[kernel(p, q) for q in pooled] for p in pooled])
    if unbiased:
        np.fill_diagonal(gram, 0.0)
    subsets = all_subsets(len(pooled), sizes[1])[:30]
    expected = [
        brute_force_mmd(np.delete(pooled, subset, axis=0), pooled[subset], kernel, unbiased=unbiased)
        for subset in subsets
    ]
    assert permutations.mmd_values(gram, subsets, unbiased=unbiased) == pytest.approx(expected, abs=1e-12)


def test_few_rows_are_gathered_and_many_multiplied_to_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    gram = np.random.default_rng(0).standard_normal((50, 50))
    gram += gram.T
    subsets = permutations.random_subsets(50, 3, 600, np.random.default_rng(1))
    gathered = permutations.sums_within(gram, subsets)
    monkeypatch.setattr(permutations, "_FEW", 0.0)
    assert permutations.sums_within(gram, subsets) == pytest.approx(gathered, abs=1e-12)


def test_random_subsets_are_subsets() -> None:
    subsets = permutations.random_subsets(9, 4, 100, np.random.default_rng(0))
    assert subsets.shape == (101, 4)
    assert subsets[0].tolist() == [5, 6, 7, 8]
    assert all(len(set(subset)) == 4 for subset in subsets.tolist())


def test_pvalue_over_all_relabellings_is_exact() -> None:
    """Of 20 splits of 0 .. 5, two have the largest energy: 012 and its mirror image, whatever their rounding."""
    rows = np.arange(6.0)[:, None]
    gram = -np.abs(rows - rows.T)
    values = permutations.mmd_values(gram, all_subsets(6, 3), unbiased=False)
    assert permutations.permutation_pvalue(values) == 2 / 20
    assert permutations.permutation_pvalue(np.array([1.0, 2.0, 3.0, 1.0 + 1e-15])) == 1.0


@pytest.mark.parametrize("sizes", [(12, 12), (14, 8), (8, 14)])
def test_observed_statistic_is_the_first(sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each permutation test hands its observed value over first, also where x is the shorter sample."""
    seen: list[Array] = []

    def spy(values: Array) -> float:
        seen.append(values)
        return 0.5

    monkeypatch.setattr(peers, "permutation_pvalue", spy)
    x, y = two_samples(*sizes)
    peers.energy(x, y, 0)
    assert seen[-1][0] == pytest.approx(brute_force_mmd(x, y, energy_kernel, unbiased=False))
    pooled = np.concatenate([x, y])
    squares = [float(np.sum((p - q) ** 2)) for p, q in combinations(pooled, 2)]
    median = float(np.median(squares))
    peers.mmd_median(x, y, 0)
    expected = brute_force_mmd(x, y, lambda p, q: float(np.exp(-np.sum((p - q) ** 2) / median)), unbiased=True)
    assert seen[-1][0] == pytest.approx(expected)
    peers.mmd_fuse(x, y, 0)
    assert seen[-1][0] == pytest.approx(fused(x, y))


def gaussian(width: float) -> Callable[[Array, Array], float]:
    return lambda p, q: float(np.exp(-0.5 * np.sum(((p - q) / width) ** 2)))


def laplacian(width: float) -> Callable[[Array, Array], float]:
    return lambda p, q: float(np.exp(-np.sqrt(2.0) * np.sum(np.abs(p - q)) / width))


def fuse_kernels(pooled: Array) -> list[Callable[[Array, Array], float]]:
    """The kernels of MMD-FUSE, by their definition."""
    found = []
    for order, make in ((2, gaussian), (1, laplacian)):
        distances = [float(np.linalg.norm(p - q, ord=order)) for p, q in combinations(pooled, 2)]
        low, high = np.quantile(distances, (0.05, 0.95))
        found += [make(float(width)) for width in np.linspace(low / 2, 2 * high, 10)]
    return found


def fused(x: Array, y: Array) -> float:
    pooled, n = np.concatenate([x, y]), min(len(x), len(y))
    root = np.sqrt(n * (n - 1))
    terms = []
    for kernel in fuse_kernels(pooled):
        squares = sum(2.0 * kernel(p, q) ** 2 for p, q in combinations(pooled, 2))
        terms.append(np.exp(root * brute_force_mmd(x, y, kernel, unbiased=True) / np.sqrt(squares / (n * (n - 1)))))
    return float(np.log(np.sum(terms)) / root)


def test_flips_swap_pairs() -> None:
    """The paired statistic under a sign is that of the samples with the pair swapped."""
    x, y = two_samples(5, 5)
    signs = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])

    def gram_of(a: Array, b: Array) -> Array:
        pooled = np.concatenate([a, b])
        return np.asarray(np.exp(-((pooled[:, None] - pooled) ** 2).sum(axis=2)))

    swapped = signs[:, 1] < 0
    a, b = np.where(swapped[:, None], y, x), np.where(swapped[:, None], x, y)
    values = peers._flipped(gram_of(x, y), signs)
    assert values[1] == pytest.approx(peers._flipped(gram_of(a, b), signs)[0])


def test_aggregation_by_hand() -> None:
    """One kernel: the corrected quantile is the smallest that at most the level of the other draws exceeds."""
    draws = np.arange(100.0)[None]
    for observed, rejects in ((93.5, False), (97.5, True)):
        values = np.concatenate([[[observed]], draws], axis=1)
        assert peers.aggregate(values, draws) is rejects
    # Two kernels with the same draws need no correction; two with opposite draws share the level.
    values = np.concatenate([[[96.0], [0.0]], np.repeat(draws, 2, axis=0)], axis=1)
    assert peers.aggregate(values, np.repeat(draws, 2, axis=0))
    assert not peers.aggregate(values, np.concatenate([draws, draws[:, ::-1]]))


@pytest.mark.parametrize("method", IN_NUMPY, ids=lambda method: method.name)
@pytest.mark.parametrize("sizes", [(30, 30), (40, 12)])
def test_level(method: methods.Method, sizes: tuple[int, int]) -> None:
    """Rejections of 30 nulls stay below a bound that a level of .05 exceeds once in a million runs."""
    n_trials = 30
    hits = 0
    for trial in range(n_trials):
        rng = np.random.default_rng([7, trial])
        hits += method.rejects(rng.lognormal(size=(sizes[0], 2)), rng.lognormal(size=(sizes[1], 2)), trial)
    assert hits <= count_bounds(n_trials, 0.0, 0.06)[1]


@pytest.mark.parametrize("method", PEERS, ids=lambda method: method.name)
@pytest.mark.filterwarnings("ignore")
def test_every_test_finds_a_large_difference(method: methods.Method) -> None:
    if method.missing:
        pytest.skip(method.missing)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((200, 2)), rng.standard_normal((200, 2)) + 2.0
    assert method.rejects(x, y, 0)
    assert method.rejects(x, y[:100], 0)


def test_problems_draw_what_they_say() -> None:
    for problem in PROBLEMS:
        assert problem.is_null or len(problem.effects) == len(SIZES)
        x, y = problem.samples(*SIZES[0], np.random.default_rng(0))
        assert len(x) == len(y) == SIZES[0][0]
        assert x.shape == y.shape
        assert np.isfinite(x).all()
        assert np.isfinite(y).all()
    assert len([problem for problem in PROBLEMS if not problem.is_null]) >= 12
    assert len({problem.name for problem in PROBLEMS}) == len(PROBLEMS)


@pytest.mark.parametrize("name", ["correlation, d = 5", "covariance, d = 100"])
def test_problems_change_shape_and_not_scale(name: str) -> None:
    """Variances of all coordinates stay 1, within eight standard errors."""
    problem = next(problem for problem in PROBLEMS if problem.name == name)
    rows = problem.draw_y(*SIZES[1])(20_000, np.random.default_rng(1))
    kurtosis = float(np.mean(rows**4) / np.mean(rows**2) ** 2)
    assert np.var(rows, axis=0) == pytest.approx(1.0, abs=8.0 * np.sqrt((kurtosis - 1.0) / len(rows)))


def test_joined_families_have_all_kernels() -> None:
    x, y = two_samples(30, 30)
    family = MedianFamily((0.5, 2.0))
    joined = JoinedFamily((family, (Energy(),)))
    assert joined.kernels(Sample(x), Sample(y)) == (*family.kernels(Sample(x), Sample(y)), Energy())


def test_a_variant_that_this_version_lacks_says_so() -> None:
    method = Variant("none", (MedianFamily(),), "unheard of").method()
    assert "unheard of" in method.missing
    names = [variant.name for variant in VARIANTS]
    assert len(set(names)) == len(names)


def test_trials_repeat_and_tests_share_their_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell("peers", PROBLEMS[0].name, 100, 100, "energy", 3)
    first, again = (trials.count(cell, range(3), seed=1)[0] for _ in range(2))
    assert {**first, "seconds": 0.0} == {**again, "seconds": 0.0}
    assert first["seconds"] > 0.0
    seen: list[float] = []

    def spy(self: methods.Method, x: Array, y: Array, seed: int) -> bool:
        seen.append(float(x[0, 0] + y[0, 0]))
        return False

    monkeypatch.setattr(methods.Method, "rejects", spy)
    for name in ("energy", DEFAULT):
        trials._warmed_up("peers", name)
        seen.clear()
        trials.one_trial(Cell("peers", PROBLEMS[0].name, 100, 100, name, 1), 5, seed=1)
        x, y = PROBLEMS[0].samples(100, 100, np.random.default_rng([1, 0, 100, 100, 5]))
        assert seen == [float(x[0, 0] + y[0, 0])]
    trials._warmed_up.cache_clear()


def test_slow_tests_have_fewer_trials_or_none() -> None:
    assert [trials.trials_of(seconds, 200, 10.0) for seconds in (0.05, 0.5, 2.0, 11.0)] == [200, 200, 100, 0]
    assert trials.trials_of(2.0, 4, 10.0) == 4
    costs = {("energy", 100, 100): 0.05, (DEFAULT, 100, 100): 20.0}
    cells = trials.cells_of("peers", {(100, 100): 7}, costs, 10.0)
    assert {(cell.method, cell.trials) for cell in cells} == {("energy", 7)}
    assert len({cell.name for cell in cells}) == len(cells) == len(PROBLEMS)


def rows_of(hits: dict[tuple[str, str], int], seconds: dict[str, float]) -> list[Row]:
    names = ("group", "problem", "n_x", "n_y", "method", "trials", "rejections", "seconds")
    return [dict(zip(names, ("peers", p, 100, 100, m, 100, k, seconds[m]), strict=True)) for (p, m), k in hits.items()]


def test_tables_by_hand() -> None:
    a, b, null = PROBLEMS[0].name, PROBLEMS[1].name, PROBLEMS[-1].name
    rates = {(a, DEFAULT): 80, (a, "energy"): 82, (a, "MMDAgg"): 70}
    rates |= {(b, DEFAULT): 50, (b, "energy"): 40, (b, "MMDAgg"): 65}
    rates |= {(null, DEFAULT): 4, (null, "energy"): 5, (null, "MMDAgg"): 3}
    rows = rows_of(rates, {DEFAULT: 1.0, "energy": 0.5, "MMDAgg": 20.0})
    costs = {(name, 100, 100): 0.0 for name in (DEFAULT, "energy", "MMDAgg")} | {("MMD-FUSE", 100, 100): 34.4}
    text = tables.tables(rows, "peers", costs, {"hyppo MMD": "hyppo is not installed"})
    lines = text.splitlines()
    assert lines[0] == "Not run: hyppo MMD (hyppo is not installed)."
    columns = next(line for line in lines if line.startswith("| problem")).strip("| ").split(" | ")

    def entry(row: str, column: str) -> str:
        return (
            next(line for line in lines if line.startswith(f"| {row} |"))
            .strip("| ")
            .split(" | ")[columns.index(column)]
        )

    assert entry(a, DEFAULT) == ".80"
    assert entry(a, "energy") == "**.82**"
    assert entry(null, "energy") == ".05"
    assert entry("mean power", DEFAULT) == ".650"
    assert entry("CPU ms a test", "MMDAgg") == "200"
    assert entry("CPU ms a test", "MMD-FUSE") == "too slow: 34 s"
    assert f"default within .03 of the best or ahead on 1 of 2 problems; largest deficit .15 ({b})." in text
    assert "peers of at most its CPU time (energy): default within .03 of the best or ahead on 2 of 2" in text
    assert ".71 to .87" in text
    assert "Trials: 100." in text


@pytest.mark.parametrize("group", GROUPS)
def test_an_interrupted_study_resumes(group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if group == "peers":
        monkeypatch.setattr(methods, "PEERS", tuple(m for m in PEERS if not m.package))
    else:
        monkeypatch.setattr(methods, "VARIANTS", (*VARIANTS[:1], Variant("lacking", (MedianFamily(),), "unheard of")))
    some = (PROBLEMS[0], PROBLEMS[-1])
    monkeypatch.setattr(trials, "ALL" if group == "fisher" else "PROBLEMS", some)
    options = ["--quick", "--trials", "2", "--workers", "1", "--out", str(tmp_path)]
    options += [] if group == "peers" else [f"--{group}"]
    name = "power.csv" if group == "peers" else f"power-{group}.csv"

    def counted() -> list[Row]:
        result = CliRunner().invoke(command.main, options, catch_exceptions=False)
        assert result.exit_code == 0
        assert "### n = 100 a side" in result.output
        assert ("lacking" in result.output) == (group == "families")
        return [{**row, "seconds": 0.0} for row in read_csv(tmp_path / name)]

    first = counted()
    assert len(first) == len(some) * (len(methods.methods(group)) - (group == "families"))
    folder = tmp_path / "tasks" / name.removesuffix(".csv")
    tasks = [file for file in sorted(folder.iterdir()) if "seconds" not in file.name]
    tasks[0].unlink()
    stored = tasks[1].stat().st_mtime_ns
    assert counted() == first
    assert tasks[1].stat().st_mtime_ns == stored


def test_rows_that_are_no_size_are_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(command.main, ["--rows", "123", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "600" in result.output


def test_trials_by_size() -> None:
    full = command.trials_by_size(False, None, ())
    assert min(full.values()) >= 10
    assert full[100, 100] == 200
    assert command.trials_by_size(False, 7, (200,)) == {(200, 200): 7}
    assert list(command.trials_by_size(True, None, ())) == [(100, 100)]


def test_penguins_say_when_they_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(penguins, "find_spec", lambda name: None)
    assert "not installed" in penguins.section()
    assert penguins.row("scaled", DEFAULT, [0.01, 0.03]) == ("scaled", "default", "0.0100", "0.0300", "0.0200")


def test_kernel_of_the_variants_is_the_one_asked_for() -> None:
    """One fixed kernel of a family of one gives the p-value of the test with it."""
    x, y = two_samples(40, 40)
    one = Variant("one", ((Gaussian(1.0),),)).method()
    assert one.is_ours
    assert 0.0 < float(one.test(x, y, 0)) <= 1.0


@pytest.mark.parametrize("group", GROUPS)
def test_tables_of_the_docs_come_from_the_counts_beside_them(group: str) -> None:
    docs = Path(__file__).parents[2] / "docs"
    rows = read_csv(docs / ("power.csv" if group == "peers" else f"power-{group}.csv"))
    text = (docs / "power.md").read_text(encoding="utf-8")
    names = [method.name for method in methods.methods(group) if any(row["method"] == method.name for row in rows)]
    for size in {(row["n_x"], row["n_y"]) for row in rows}:
        grid = tables._grid(rows, *size)
        # All lines but the last, the CPU time, which tells of tests that were too slow as well.
        for line in tables.power_table(grid, names, size, {}).splitlines()[:-1]:
            assert line in text
        assert tables.interval_table(grid, names) in text
