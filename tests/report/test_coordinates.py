"""The map of numbered columns."""

from __future__ import annotations

from typing import Any

import pytest

from btests.report.coordinates import coordinate_map
from tests.report.sample import number_column


def columns(names: list[str], effects: dict[str, float]) -> list[dict[str, Any]]:
    """Return columns whose means differ by their effects, larger in a where these are positive."""
    found = []
    for rank, name in enumerate(names, start=1):
        column = number_column(name, rank, -effects.get(name, 0.0))
        found.append(column | {"effect": abs(effects.get(name, 0.0))})
    return found


def grid(drawing: str) -> list[tuple[str, float, float]]:
    """Return shade and place of the coloured rectangles."""
    rects = [own.partition("/>")[0] for own in drawing.split("<rect ")[1:]]
    parts = [dict(pair.split("=", 1) for pair in own.split()) for own in rects]
    return [(own["class"].strip('"'), float(own["x"].strip('"')), float(own["y"].strip('"'))) for own in parts]


def test_a_square_of_columns_is_a_grid_with_its_first_row_on_top() -> None:
    names = [f"pixel{i + 1}" for i in range(25)]
    # The columns are in the order of their change, and one of them is constant.
    found = coordinate_map(columns(names[::-1][:-1], {"pixel7": 0.5, "pixel24": -0.25}), [{"name": "pixel1"}])
    assert found is not None
    assert found.text == "2 of 24 numbered columns changed, pixel7 the most: 50\xa0%."
    assert "5 x 5" in found.title
    coloured = {shade: (x, y) for shade, x, y in grid(found.drawing) if shade != "w0"}
    width = (350.0 - 10.0 - 74.0) / 5
    height = (330.0 - 8.0 - 42.0) / 5
    assert coloured == {
        "wa6": pytest.approx((74.0 + 1 * width, 8.0 + 1 * height), abs=0.1),
        "wb3": pytest.approx((74.0 + 3 * width, 8.0 + 4 * height), abs=0.1),
    }


def test_names_with_two_numbers_are_a_grid() -> None:
    names = [f"p_{row}_{column}" for row in range(3) for column in range(8)]
    found = coordinate_map(columns(names, {"p_2_1": -0.3}), [])
    assert found is not None
    assert "3 x 8" in found.title
    assert [shade for shade, *_ in grid(found.drawing) if shade != "w0"] == ["wb6"]


def test_other_numbers_are_a_strip() -> None:
    names = [f"band {i}" for i in range(100, 120)]
    found = coordinate_map(columns(names, {"band 119": 0.2}), [])
    assert found is not None
    assert "20 in their order" in found.title
    assert {shade for shade, *_ in grid(found.drawing)} == {"w0", "wa6"}


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b", "c"],
        [f"x{i}" for i in range(8)],
        [f"x{i}" for i in range(20)] + [f"name {chr(97 + i)}" for i in range(21)],
        [f"x{10**i}" for i in range(17)],
    ],
    ids=["words", "few", "others", "gaps"],
)
def test_other_tables_have_no_map(names: list[str]) -> None:
    assert coordinate_map(columns(names, {names[0]: 0.5}), []) is None


def test_without_a_change_there_is_no_map() -> None:
    assert coordinate_map(columns([f"x{i}" for i in range(25)], {}), []) is None


@pytest.mark.parametrize("name", ["9" * 60_000 + "a", "9" * 5000])
def test_names_of_thousands_of_digits_are_no_numbers(name: str) -> None:
    names = [f"{name}{i}" for i in range(25)]
    assert coordinate_map(columns(names, {names[3]: 0.5}), []) is None
