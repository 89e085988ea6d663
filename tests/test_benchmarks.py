"""The benchmarks run, on sizes that say nothing about speed: no time is asserted anywhere."""

from __future__ import annotations

import json
import math
import sys
from itertools import chain
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmarks import (
    cluster,
    comparing,
    families,
    features,
    features_at_scale,
    growth,
    isolated,
    large,
    limits,
    memory,
    methods,
    peers,
    quadratic,
    run,
    scaling,
    shares,
    simulation,
    startup,
)
from benchmarks.clock import best_interleaved
from benchmarks.tables import Table, show
from btests import Gaussian, _core
from btests.statistics import MMD

compiled = pytest.mark.skipif(not _core.is_available(), reason="the compiled loops were not built")


def test_table_prints_and_dumps() -> None:
    table = Table("Title", ("name", "n"), [("a", 1000), ("b", None)], ["A note."])
    assert table.markdown().splitlines() == [
        "## Title",
        "",
        "| name |     n |",
        "| ---- | ----: |",
        "| a    | 1 000 |",
        "| b    |       |",
        "",
        "A note.",
    ]
    assert json.loads(json.dumps(table.plain()))["rows"][0] == {"name": "a", "n": 1000}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        ("x", "x"),
        (12345, "12 345"),
        (0.012345, "0.0123"),
        (123.45, "123"),
        (0.0, "0"),
        (1.23e-9, "1.2e-09"),
    ],
)
def test_cells_have_three_digits(cell: str | float | None, text: str) -> None:
    assert show(cell) == text


def test_best_time_is_the_least_of_its_turns() -> None:
    ticks = iter([0.0, 5.0, 10.0, 12.0, 20.0, 29.0])
    assert best_interleaved([lambda: None], [lambda: next(ticks)], seconds=0.0, least=3, most=3) == [2.0]


def test_limit_is_arithmetic_or_one_read_of_the_data() -> None:
    rates = limits.Rates(products=10.0, exponentials=5.0, read=100.0)
    assert rates.seconds(evaluations=10.0, d=2, n_bytes=1.0) == pytest.approx(10 * (2 / 10 + 1 / 5))
    assert rates.seconds(evaluations=10.0, d=2, n_bytes=1e6) == pytest.approx(1e4)


def test_evaluations_are_counted_as_the_statistic_needs_them() -> None:
    b = 6
    pairs = 2 * math.comb(b, 2) + b * (b - 1)  # xx and yy without order, xy without i = j
    assert shares.Case(10 * b, 2, b).evaluations() == 10 * pairs


@compiled
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_limits_and_shares(dtype: str) -> None:
    rates = limits.measure_rates(dtype, seconds=0.0, read_bytes=2**16)
    assert min(rates.products, rates.exponentials, rates.read) > 0
    measured = [shares.measure(shares.Case(200, 2, b, 0.5), dtype, seconds=0.0) for b in (2, 14)]
    text = shares.shares_table(measured).markdown()
    assert dtype in text
    assert "share" in text
    assert (measured[0].reads() is None, measured[1].reads() is None) == (False, True)
    assert dtype in limits.limits_table({dtype: rates}, seconds=0.0).markdown()


@compiled
def test_loops_in_the_wrong_arithmetic_are_not_timed() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), rng.normal(size=(80, 3))
    shares.check_values(MMD(Gaussian(2.0)), x, y, 20)
    single = MMD(Gaussian(2.0), "float32")
    shares.check_values(single, x, y, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(shares._TOLERANCES, "float32", shares._TOLERANCES["float64"])
        with pytest.raises(RuntimeError, match="differ from plain numpy"):
            shares.check_values(single, x, y, 20)


def test_more_than_the_limit_is_not_a_success() -> None:
    measured = shares.Measured(shares.Case(100, 2, 10, 0.5), "float64", 2.0, 1.0, None, None, 1.0, 1.0, 1.0)
    text = shares.shares_table([measured]).markdown()
    assert "ABOVE THE LIMIT" in text
    assert "share met" not in text


def test_machine_names_its_instruction_set() -> None:
    assert _core.instruction_set() in limits.machine_table().markdown()
    assert limits.cache_sizes() == sorted(limits.cache_sizes())


def test_memory_is_measured_in_a_new_process() -> None:
    peak = memory.measure(500, 3, 20)
    assert peak.data == pytest.approx(2 * 500 * 3 * 8 / 1e6)
    assert 0 <= peak.above < 1000


def test_slope_of_a_power_law() -> None:
    x = [1.0, 2.0, 4.0, 8.0, 16.0]
    exponent, half = growth.slope(x, [3.0 * v**1.5 for v in x])
    assert exponent == pytest.approx(1.5)
    assert half < 1e-6
    bent, width = growth.slope(x, [3.0 * v**1.5 * (1.1 if v == 4.0 else 1.0) for v in x])
    assert abs(bent - 1.5) < width


def test_growth() -> None:
    series = growth.Series("n at B = 4", "n", ((40, 4), (80, 4), (160, 4)), 1.0)
    assert "n at B = 4" in growth.growth_table([series], seconds=0.0).markdown()
    for quick in (True, False):
        assert all(n >= 2 * b for s in growth.all_series(quick=quick) for n, b in s.sizes)


def test_startup(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(startup.COMMANDS) >= {name for _, *names, _ in startup.QUESTIONS for name in names if name}
    monkeypatch.setattr(startup, "COMMANDS", dict.fromkeys(startup.COMMANDS, ("-c", "pass")))
    assert "btests --help" in startup.startup_table(1).markdown()


def test_permutation_tests_agree_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    pairwise = ModuleType("sklearn.metrics.pairwise")  # a stand-in: the suite does not install peers
    pairwise.__dict__["rbf_kernel"] = lambda z, gamma: np.exp(-gamma * ((z[:, None] - z[None]) ** 2).sum(axis=-1))
    for name, module in (("sklearn", None), ("sklearn.metrics", None), (pairwise.__name__, pairwise)):
        monkeypatch.setitem(sys.modules, name, module or ModuleType(name))
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 0.2
    a, b = methods.numpy_products(x, y, 2000), methods.scikit_learn(x, y, 2000)
    assert 0.01 < a < 0.99
    # Two estimates of one p-value from 2000 permutations each; five standard deviations: false alarms 6e-7.
    assert abs(a - b) < 5 * math.sqrt(2 * 0.25 / 2000)


def test_quadratic_tests_stand_beside_the_published_times() -> None:
    table = quadratic.quadratic_table(40, 2, seconds=0.0)
    assert [row[3] for row in table.rows] == [129.0, 407.0, 387.0, 0.27, None]
    assert all(isinstance(row[5], float) and row[5] > 0.0 for row in table.rows)
    assert all(row[4] is None for row in table.rows), "the published times are of n = 2000"
    assert "extrapolated" in table.markdown()


@pytest.mark.parametrize("name", list(methods.METHODS))
def test_every_method_gives_a_p_value_or_says_how_to_get_it(name: str) -> None:
    outcome = isolated.run_isolated(name, 70, 20, gibibytes=16.0, seconds=60.0)
    if outcome.failure is None:
        assert outcome.pvalue is not None
        assert 0.0 <= outcome.pvalue <= 1.0
    else:
        assert "pip install" in outcome.failure
        assert not name.startswith(("btests", "numpy"))


def test_what_fails_says_why() -> None:
    name = "numpy, permutations as one product"
    # 1e5 rows need a Gram matrix of 320 GB, whatever the machine.
    outcome = isolated.run_isolated(name, 100_000, 1, gibibytes=2.0, seconds=60.0)
    assert outcome == isolated.Outcome(None, None, "memory: more than 2 GiB")


def test_survival_doubles_until_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def pretend(name: str, n: int, permutations: int, *, gibibytes: float, seconds: float) -> isolated.Outcome:
        return isolated.Outcome(n / 100, 0.5) if n < 100 else isolated.Outcome(None, None, "time: more than 1 s")

    monkeypatch.setattr(peers, "run_isolated", pretend)
    table = peers.survival_table([peers.REFERENCE], 10, first=20, gibibytes=1.0, seconds=1.0)
    assert list(table.rows[0]) == [peers.REFERENCE, None, 80, 0.8, "n = 160: time: more than 1 s"]
    assert "quadratic test" in table.markdown()
    assert len(peers.peers_table(50, 10, gibibytes=1.0, seconds=1.0).rows) == len(methods.METHODS)


def test_run_writes_json_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "numbers.json"
    arguments = ["--quick", "--only", "machine", "--out", str(out)]
    assert run.main(arguments) == 0
    assert "## The machine" in capsys.readouterr().out
    assert json.loads(out.read_text(encoding="utf-8"))["tables"][0]["title"] == "The machine"
    with pytest.raises(SystemExit):
        run.main(arguments)
    assert run.main([*arguments, "--force"]) == 0


@compiled
def test_families_are_timed_beside_one_kernel() -> None:
    table = families.family_table([shares.Case(400, 2, 20)], seconds=0.0)
    assert table.rows[0][:3] == (400, 2, 20)
    assert table.rows[0][-1] in ("met", "MISSED")


def test_files_beside_memory() -> None:
    table = large.large_table(3000, lambda text: None)
    assert [row[0] for row in table.rows] == ["in memory", "from .npy", "from .parquet"]
    assert [row[5] for row in table.rows] == ["yes"] * 3


def test_growth_from_files() -> None:
    table = large.growth_table((2000, 3000, 4000), lambda text: None)
    assert [row[5] for row in table.rows] == [1.0, 1.5]


def test_model_is_fitted_and_asked_about_more_rows() -> None:
    sizes = [(1000, 10), (1000, 100), (4000, 50)]
    row, value, error = scaling.fit(sizes, [n * (3e-7 + 2 * (b - 1) * 1e-9) for n, b in sizes])
    assert [row, value] == pytest.approx([3e-7, 1e-9])
    assert error < 1e-9
    costs = scaling.Costs(row, value, 1e-3, 1e-3)
    assert len(scaling.forecast_table(costs, error).rows) == 36
    few, many = (scaling.forecast(costs, 1e10, 1000, n, exchange=False) for n in (10, 1000))
    assert few.compute == pytest.approx(100 * many.compute)
    assert scaling.forecast(costs, 1e13, 1000, 1000, exchange=False).bottleneck == "block values on the client"
    assert scaling.measure_join() > 0.0


@pytest.mark.parametrize("hours", [math.inf, 2.0, 0.5])
def test_simulated_workers_that_die_lose_nothing(hours: float) -> None:
    cluster = simulation.Cluster(20, 60.0, 0.1, hours_to_failure=hours, dispatch_seconds=0.01)
    rng = np.random.default_rng(3)
    found = simulation.simulate(cluster, 300, lambda i: [i], lambda lists: sorted(chain(*lists)), rng)
    assert found.value == list(range(300))  # each once
    assert (found.n_failures > 0) == (found.n_again > 0) == math.isfinite(hours)
    assert 0.0 < simulation.utilisation(cluster, found) <= 1.0
    assert found.seconds > 300 * 60.0 / 20 * 0.8


def test_simulated_workers_that_die_too_fast_end_the_simulation() -> None:
    cluster = simulation.Cluster(20, 60.0, 0.1, hours_to_failure=0.001)
    found = simulation.simulate(
        cluster, 50, lambda i: [i], lambda lists: sorted(chain(*lists)), np.random.default_rng(3)
    )
    assert (found.value, found.seconds) == (None, math.inf)


def test_simulated_cluster_adds_real_summaries_to_the_same_bits() -> None:
    table = scaling.simulation_table(scaling.Costs(1e-7, 1e-9, 1e-3, 1e-3), lambda text: None, 20, 90)
    assert [row[-1] for row in table.rows[:-1]] == ["yes"] * 5


def test_tables_larger_than_memory(capfd: pytest.CaptureFixture[str]) -> None:
    assert comparing.main(["--rows", "3000", "--memory", "1kB"]) in (0, 1)
    printed = capfd.readouterr()
    assert "all in the joint test; columns from 2000 of each" in printed.out
    assert "MB of memory" in printed.err


def test_forecast_of_features_does_not_wait_for_the_scheduler() -> None:
    costs = features_at_scale.FeatureCosts(2e-6, 1e-3, 1e-3, 500)
    table = features_at_scale.forecast_table(costs)
    (most,) = [row for row in table.rows if row[:2] == ("1e+12", 100)]
    assert most[-1] == "sums"
    assert all(row[-1] == "yes" for row in features_at_scale.simulation_table(costs, 20, 90).rows)


def test_cluster_table() -> None:
    pytest.importorskip("distributed")
    table = cluster.cluster_table(4000, 1, lambda text: None)
    assert [row[0] for row in table.rows] == ["plain, one thread", "1 worker", "2 workers"]
    assert {row[-1] for row in table.rows} == {"yes"}
    assert table.rows[0][4] is None


@compiled
def test_features_beside_their_limit_and_beside_blocks() -> None:
    table = features.shares_table([features.measure(features.Case(3, 8, 2), "float32", seconds=0.0)])
    assert table.rows[0][:4] == (3, 8, 2, "float32")
    assert all(float(str(cell)) > 0.0 for cell in table.rows[0][4:9])
    assert [row[:2] for row in features.blocks_table(2000, seconds=0.0).rows] == [(2000, "float64"), (2000, "float32")]
