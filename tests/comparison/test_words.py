"""Sentences on columns, relations and effects are those that a person would say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import btests
from btests.comparison.detectable import PowerSetting, detectable_share, detectable_shift

N = 300


def summary(a: Any, b: Any) -> str:
    """Return the change of a column in words."""
    return str(btests.compare({"x": np.asarray(a)}, {"x": np.asarray(b)}, seed=0)["x"].summary)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (np.full(N, 1), np.full(N, 7), "all 1 -> all 7"),
        (np.full(N, 1), np.arange(N) % 7 + 1, "all 1 -> 1 to 7"),
        (np.arange(N) % 2 * 1.5, np.full(N, 0.1), "0 to 1.5 -> all 0.1"),
        (np.repeat([0, 50, 100], N // 3), np.repeat([-3, 49, 106], N // 3), "above 100: 0 % -> 33.3 %"),
    ],
)
def test_change_of_a_number(a: Any, b: Any, text: str) -> None:
    assert summary(a, b) == text


def test_a_relation_of_two_categories_is_a_share() -> None:
    rng = np.random.default_rng(0)
    island = rng.permutation(np.repeat(["Biscoe", "Dream"], 400))
    sides = []
    for share in (0.8, 0.5):
        female = rng.random(800) < np.where(island == "Biscoe", share, 1.3 - share)
        sides.append({"island": island, "sex": np.where(female, "female", "male")})
    found = btests.compare(*sides, seed=0)
    text = found.relations[0].text
    assert found.relations[0].measure == "share by value"
    assert "island by sex: " in text or "sex by island: " in text
    assert f"  {text} (corrected p " in str(found)


def test_a_relation_of_a_number_and_a_category_is_a_mean() -> None:
    rng = np.random.default_rng(0)
    kind = rng.permutation(np.repeat(["old", "new"], 400))
    sides = [
        {"kind": kind, "mass": rng.normal(size=800) + shift * (2.0 * (kind == "old") - 1.0)} for shift in (0.5, -0.5)
    ]
    found = btests.compare(*sides, seed=0)
    assert found.relations[0].measure == "mean by value"
    assert found.relations[0].text.startswith("mean mass 0.")


def test_effects_are_shares_of_rows() -> None:
    rng = np.random.default_rng(0)
    a, b = ({"x": rng.normal(size=N) + shift, "y": rng.normal(size=N)} for shift in (0.0, 3.0))
    found = btests.compare(a, b, seed=0)
    assert found.effect == pytest.approx(0.87, abs=0.1)  # 2 Phi(1.5) - 1
    assert found.effect >= found["x"].effect
    assert f"about {100 * found.effect:.1f} % of the rows changed" in str(found)
    assert btests.compare(a, a, seed=0).effect == 0.0


def test_an_effect_is_about_an_estimate_or_at_least_a_bound() -> None:
    rng = np.random.default_rng(0)
    a, b = ({"x": (x := rng.normal(size=N)), "y": sign * x} for sign in (1, -1))
    found = btests.compare(a, b, seed=0)
    assert found.effect > found.columns[0].effect
    assert f"at least {100 * found.effect:.1f} % of the rows changed (lower bound by MMD^2)" in str(found)
    a, b = ({"x": rng.normal(size=N) + shift} for shift in (0.0, 0.4))
    assert " % of the rows changed (estimated)" in str(btests.compare(a, b, seed=0))
    found = btests.compare(a, b, seed=0, tolerance=0.12)
    assert not found.different
    assert found.effect == 0.12 < found.columns[0].effect
    assert "not significantly more than 12.0 % of the rows changed (about " in str(found)


def test_all_columns_changed_and_a_tolerance() -> None:
    rng = np.random.default_rng(0)
    a, b = ({"x": rng.normal(size=N) + shift, "y": rng.normal(size=N) + shift} for shift in (0.0, 3.0))
    assert "tolerance=0.05" in " ".join(btests.compare(a, b, seed=0).notes)


def test_a_small_change_that_would_have_been_shown() -> None:
    rng = np.random.default_rng(3)
    a, b = ({"x": rng.normal(size=N), "paid": rng.random(N) < 0.5} for _ in range(2))
    found = btests.compare(a, b, seed=0)
    assert not found.different
    document = found.to_dict()
    assert document["detectable"]["text"] in " ".join(str(found).split())
    assert btests.compare(a, b, seed=0, tolerance=0.05).to_dict()["detectable"] is None
    assert btests.compare(a, b, seed=0, alpha=1e-6).to_dict()["detectable"] is None


def test_longer_tables_show_smaller_changes() -> None:
    for change in (lambda design: detectable_share(design, 2), detectable_shift):
        sizes = [change(PowerSetting(n, n, n // 2, 0.01)) or np.nan for n in (50, 200, 800, 3200)]
        assert sizes == sorted(sizes, reverse=True)
        # Four times the rows, half the change.
        assert sizes[2] / sizes[3] == pytest.approx(2.0, rel=0.1)
        # The shorter of two tables decides.
        assert change(PowerSetting(800, 10**6, 400, 0.01)) == pytest.approx(sizes[2] / np.sqrt(2.0), rel=0.1)
    assert detectable_share(PowerSetting(4, 4, 4, 0.01), 2) is None


@pytest.mark.parametrize("width", [60, 80, 200])
def test_text_is_as_wide_as_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    a, b = ({f"a long name of column {j}": rng.normal(shift, 1 + shift, N) for j in range(9)} for shift in (0, 2))
    found = btests.compare(a, b, seed=0)
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("shutil.get_terminal_size", lambda fallback: __import__("os").terminal_size((width, 60)))
    wide = str(found).splitlines()
    assert max(map(len, wide)) <= width
    assert (max(map(len, wide)) > 80) == (width > 80)
