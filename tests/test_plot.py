"""Pictures: what is drawn, not how it looks."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import btests
from btests.nulls.distributions import NormalDistribution
from btests.plot import null_histogram, plot_effects

mpl.use("Agg")

_RNG = np.random.default_rng(0)
X, Y = _RNG.normal(size=(2, 100, 2))


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize("null", [btests.SignFlip(), btests.Normal(), btests.ThirdCumulant(), btests.CrossMMD()])
def test_observed_value_and_threshold_are_lines(null: btests.Null) -> None:
    result = btests.btest(X, Y, kernel=btests.Gaussian(1.0), block_size=2, null=null, seed=1)
    axes = result.plot(alpha=0.1)
    places = [float(np.asarray(line.get_xdata())[0]) for line in axes.lines]
    assert result.statistic in places
    assert result.threshold(0.1) in places
    assert f"{result.pvalue:.4g}" in axes.get_title()


def test_draws_in_given_axes() -> None:
    _, ax = plt.subplots()
    assert btests.btest(X, Y, seed=1).plot(ax=ax) is ax


def test_shares_of_draws_and_of_closed_forms_add_up() -> None:
    draws = btests.btest(X, Y, seed=1).null_distribution
    edges, shares = null_histogram(draws, 0.0)
    assert len(edges) == len(shares) + 1
    assert shares.sum() == pytest.approx(1.0)
    _, shares = null_histogram(NormalDistribution(2.0), 0.0)
    assert shares.sum() == pytest.approx(0.998)


def test_blocks() -> None:
    result = btests.btest(X, Y, block_size=10, seed=1)
    axes = result.plot(kind="blocks")
    assert sum(patch.get_height() for patch in axes.patches) == result.n_blocks
    with pytest.raises(ValueError, match="one block"):
        btests.btest(X, Y, seed=1).plot(kind="blocks")


def test_columns_of_a_comparison() -> None:
    rng = np.random.default_rng(1)
    a = {"cost $ and $": rng.normal(size=200), "paid": rng.choice(["card", "cash"], 200).tolist()}
    b = {"cost $ and $": rng.normal(2.0, 1.0, size=200), "paid": ["", *rng.choice(["card", "cash"], 199).tolist()]}
    b["day"] = a["day"] = np.arange(200).astype("datetime64[D]")
    found = btests.compare(a, b, seed=1)
    axes = found.plot()
    axes.figure.canvas.draw()  # a dollar sign is no formula
    assert len(axes.patches) == 3
    for column in found.columns:
        drawn = column.plot()
        drawn.figure.canvas.draw()
        assert [text.get_text() for text in drawn.get_legend().get_texts()] == ["a", "b"]


def test_control_characters_are_escapes() -> None:
    rng = np.random.default_rng(1)
    a, b = ({"a\x00\r\x1b": rng.normal(size=40), "z": rng.normal(size=40)} for _ in "ab")
    found = btests.compare(a, b, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of glyphs that are missing
        for axes in (found.plot(), found.columns[0].plot(), found.columns[1].plot()):
            axes.figure.canvas.draw()


def test_many_columns_are_cut() -> None:
    rng = np.random.default_rng(1)
    found = btests.compare(rng.normal(size=(40, 35)), rng.normal(size=(40, 35)), seed=1)
    axes = plot_effects(found.columns)
    assert len(axes.patches) == 30
    assert "30 of 35" in axes.get_title()


def test_wealth() -> None:
    test = btests.SequentialTest()
    test.update(X, Y + 1.0)
    axes = test.plot(alpha=0.01)
    wealth, limit = axes.lines
    assert np.asarray(limit.get_ydata())[0] == pytest.approx(2.0)
    assert np.asarray(wealth.get_ydata())[-1] == pytest.approx(test.result().log_wealth / np.log(10.0))


def test_history_of_a_long_run_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("btests.sequential.sequential_test._MOST_POINTS", 8)
    test = btests.SequentialTest(btests.Gaussian(1.0))
    rng = np.random.default_rng(0)
    test.update(rng.normal(size=(1000, 1)), rng.normal(size=(1000, 1)))
    points = np.asarray(test.plot().lines[0].get_xdata())
    assert len(points) <= 10
    assert points[0] == 0
    assert points[-1] == test.result().n_pairs
    assert (np.diff(points) > 0).all()


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    result = btests.btest(X, Y, seed=1)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"btests\[plot\]"):
        result.plot()


def test_missing_cells_are_in_the_legend_and_times_have_round_ticks() -> None:
    rng = np.random.default_rng(2)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, size=(2, 400))
    values = rng.normal(size=(2, 400))
    values[1, :100] = np.nan
    found = btests.compare(*({"day": days[k], "x": values[k]} for k in (0, 1)), seed=1)
    axes = found["x"].plot()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a, 0\xa0% missing", "b, 25\xa0% missing"]
    ticks = [text.get_text() for text in found["day"].plot().get_xticklabels()]
    assert ticks == ["Jan 2024", "Apr 2024", "Jul 2024", "Oct 2024"]


def _gray(color: object) -> float:
    red, green, blue, *_ = mpl.colors.to_rgba(color)  # type: ignore[arg-type]
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_samples_differ_in_print_without_colours() -> None:
    found = btests.compare(
        {"x": X[:, 0], "c": ["u", "v"] * 50}, {"x": Y[:, 0] + 1, "c": ["u", "u", "v", "u"] * 25}, seed=1
    )
    filled, outlined = found["x"].plot().patches
    assert (filled.get_fill(), outlined.get_fill()) == (True, False)
    assert outlined.get_linestyle() != "solid"
    plain, hatched = (bars.patches[0] for bars in found["c"].plot().containers)
    assert (plain.get_hatch(), hatched.get_hatch()) == (None, "///")
    assert _gray(hatched.get_facecolor()) - _gray(plain.get_facecolor()) > 0.5
    for kind in ("null", "blocks"):
        lines = btests.btest(X, Y, block_size=10, seed=1).plot(kind=kind).lines
        assert len({line.get_linestyle() for line in lines}) == len(lines) == 2
