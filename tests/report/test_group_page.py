"""The page of several groups: its matrices, what is clipped, and what cannot get into it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from btests.report import GROUPS, render
from btests.report.group_page import MOST_GROUPS, pairs_figure, shown_groups
from btests.report.heatmap import Shaded, matrix
from btests.report.svg import SHADES, Caption
from tests.report.hostile import TEXTS
from tests.report.sample import comparison
from tests.report.test_page import Tags


def grouped(names: list[str], *, bounded: bool = True, different: bool = True) -> dict[str, Any]:
    """Return a comparison of groups with made-up numbers; the last group is far from all others."""
    sample = comparison()
    pairs = [
        {
            "groups": [one, two],
            "pvalue": 0.001,
            "pvalue_corrected": 0.01 if two == names[-1] else 0.7,
            "different": different and two == names[-1],
            "mmd2": 0.08 if two == names[-1] else 0.001,
            "effect": (0.2 if two == names[-1] else 0.0) if bounded else None,
        }
        for one, two in combinations(names, 2)
    ]
    column = {
        "name": "temp",
        "kind": "number",
        "pvalue": 0.0005,
        "pvalue_corrected": 0.001,
        "different": different,
        "group": names[-1] if different else None,
        "effect": 0.3 * different,
        "effects": [0.3 * different * (name == names[-1]) for name in names],
        "summary": "mean 1 -> 2",
        "changes": [],
        "encoding": "arcsinh(value)",
        "rank": 1,
    }
    return {
        **{key: sample[key] for key in ("version", "test", "excluded", "settings", "command", "seconds")},
        "command_note": None,
        "memory_bytes": None,
        "schema": GROUPS,
        "table": "weather.csv",
        "by": "month",
        "verdict": {
            "different": different,
            "pvalue": 0.0015,
            "alpha": 0.05,
            "attainable": True,
            "text": "month: the groups differ.",
        },
        "tests": [
            {"name": "joint", "title": "all columns jointly", "pvalue": 0.0005},
            {"name": "columns", "title": "columns one by one", "pvalue": 0.001},
        ],
        "rows": {"given": 1000, "tested": 990, "at_once": 900, "unlabelled": 10},
        "groups": [{"name": name, "rows": 100, "tested": 99} for name in names],
        "excluded_groups": [{"name": "few", "rows": 3}],
        "pairs": pairs,
        "effect": {"kernel": "Gaussian(bandwidth=1.0)", "kernel_short": "Gaussian(1)"},
        "columns": [column, {**column, "name": "sky", "different": False, "group": None, "effect": 0.0}],
        "notes": ["a note"],
    }


TWELVE = [f"month {j}" for j in range(12)]


def test_the_page_has_a_matrix_with_a_number_for_each_pair() -> None:
    page = render(grouped(TWELVE))
    assert page.count('class="w0"') >= 2 * 55  # each of the pairs without an effect, on both sides of the diagonal
    assert page.count(">20*</text>") == 2 * 11
    assert "month 0 and month 11: 20" in page
    assert "There is room for" not in page
    assert Tags(page).ids.most_common(1)[0][1] == 1


def test_fifty_groups_are_clipped_with_a_sentence() -> None:
    page = render(grouped([f"g{j}" for j in range(50)]))
    assert f"There is room for {MOST_GROUPS} of the 50 groups: those that differ most from all others." in page
    assert page.count(">20*</text>") == 2 * (MOST_GROUPS - 1)
    assert "The 300 most significant of 1225 pairs" in page


def test_shown_groups_are_those_with_the_largest_effects() -> None:
    data = grouped([f"g{j}" for j in range(6)])
    assert shown_groups([f"g{j}" for j in range(6)], data["pairs"], 2) == [0, 5]
    data["pairs"][-1] |= {"effect": 0.9}
    assert shown_groups([f"g{j}" for j in range(6)], data["pairs"], 2) == [4, 5]


def test_without_a_bound_cells_hold_mmd2() -> None:
    drawn = pairs_figure(grouped(TWELVE, bounded=False), range(12))
    assert ">0.08*</text>" in drawn
    assert "MMD² 0.08" in drawn
    assert "Rows that differ, at least about" not in render(grouped(TWELVE, bounded=False))


def test_without_a_difference_there_is_no_matrix_of_columns() -> None:
    page = render(grouped(TWELVE, different=False))
    assert "columns-map" not in page
    assert "0 of 66" in page


@pytest.mark.parametrize("text", TEXTS)
def test_names_are_text(text: str) -> None:
    data = grouped([text, text + "2", "x"])
    data["by"] = data["table"] = data["columns"][0]["name"] = text
    plain = Tags(render(grouped(["a", "a2", "x"])))
    assert Tags(render(data)).tags == plain.tags
    assert Tags(render(data)).names <= plain.names | {"transform"}  # of long names, which stand upright


def test_names_of_columns_do_not_overlap() -> None:
    """Names that are wider than a cell stand upright, and lines of text are lower than a cell is wide."""
    for names, upright in (([str(j) for j in range(12)], False), ([f"September {j}" for j in range(24)], True)):
        cells = [[Shaded(0.5, "50*", "", True) for _ in names] for _ in names]
        drawn = matrix(Caption("m", "m", "m"), names, names, cells)
        assert ("rotate(-90" in drawn) == upright
        widths = {float(part.split('"')[0]) for part in drawn.split(' width="')[1:] if "." in part.split('"')[0]}
        assert min(widths) >= 13.0


def test_shades_are_lighter_or_darker_one_by_one() -> None:
    """Shades differ in lightness in print and on both kinds of screens, so that colours are not needed."""
    from importlib.resources import files

    style = files("btests.report").joinpath("assets/style.css").read_text()
    for theme in style.split("--w0: ")[1:]:
        colours = [theme[:7], *(theme.split(f"--m{k}: ")[1][:7] for k in range(1, SHADES + 1))]
        light = [_lightness(colour) for colour in colours]
        steps = np.diff(light)
        assert (steps > 0.0).all() or (steps < 0.0).all()


def _lightness(colour: str) -> float:
    """Return the relative luminance of #rrggbb."""
    parts = np.array([int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
