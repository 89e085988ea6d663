"""Scales, ticks and lines of the drawings."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from btests.report.heatmap import zero_line
from btests.report.number_format import MINUS, NOTHING, TIMES, number
from btests.report.svg import SHADES, Scale, clipped, element, shade
from btests.report.ticks import number_marks, seconds, ticks, time_ticks
from tests.report.reading import read

finite = st.floats(-1e12, 1e12, allow_nan=False)


@given(low=finite, width=st.floats(1e-6, 1e12))
def test_ticks_are_in_range_and_few(low: float, width: float) -> None:
    high = low + width
    found = ticks(low, high)
    assert len(found) <= 15
    assert found == sorted(found)
    slack = 1e-6 * width
    assert all(low - slack <= value <= high + slack for value in found)


@given(low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6))
def test_ticks_can_be_told_apart(low: float, width: float) -> None:
    texts = [text for _, text in number_marks(low, low + width)]
    assert len(set(texts)) == len(texts)


@given(start=st.floats(-6e10, 2e11), width=st.floats(2.0, 3e10))
def test_time_ticks_are_in_range_and_few(start: float, width: float) -> None:
    found = time_ticks(start, start + width)
    assert all(start <= value <= start + width for value, _ in found)
    assert len(found) <= 42


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        ("2013-01-01", "2013-12-31", ["Jan 2013", "Apr 2013", "Jul 2013", "Oct 2013"]),
        ("2013-01-01T00:30", "2013-01-01T04:00", ["01:00", "02:00", "03:00", "04:00"]),
        ("2000-01-01", "2040-01-01", ["2000", "2010", "2020", "2030", "2040"]),
    ],
)
def test_time_ticks_are_round(low: str, high: str, wanted: list[str]) -> None:
    assert [text for _, text in time_ticks(seconds(low), seconds(high))] == wanted


def test_a_scale_without_width_is_its_middle() -> None:
    assert Scale((1.0, 1.0), (0.0, 10.0))(1.0) == 5.0


def test_zero_line_of_a_circle() -> None:
    grid = [[25.3 - (r - 10) ** 2 - (c - 10) ** 2 for c in range(21)] for r in range(21)]
    pieces = zero_line(grid)
    assert len(pieces) > 20
    for piece in pieces:
        for r, c in piece:
            assert math.hypot(r - 10, c - 10) == pytest.approx(math.sqrt(25.3), abs=0.06)
    # A closed line: every end is the start or the end of exactly one other piece.
    ends = sorted((round(r, 9), round(c, 9)) for piece in pieces for r, c in piece)
    assert ends[::2] == ends[1::2]


def test_no_line_where_one_side_is_everywhere() -> None:
    assert zero_line([[1.0, 2.0], [3.0, 1.0]]) == []


@given(value=st.floats(-1, 1))
def test_shades_are_even(value: float) -> None:
    assert shade(value, 1.0) == -shade(-value, 1.0)
    assert abs(shade(value, 1.0)) <= SHADES
    assert shade(value, 0.0) == 0


@given(text=st.text(max_size=100), width=st.floats(0, 300))
def test_clipped_text_fits(text: str, width: float) -> None:
    assert len(clipped(text, width)) <= max(int(width / 6.72), 2) + 1


def test_elements_escape_text_and_attributes() -> None:
    assert (
        element("text", '<b a="c">', class_='"><i>')
        == '<text class="&#34;&gt;&lt;i&gt;">&lt;b a=&#34;c&#34;&gt;</text>'
    )


@given(value=st.floats(-1e300, 1e300))
def test_numbers_are_near_what_they_stand_for(value: float) -> None:
    assert read(number(value)) == pytest.approx(value, rel=5.1e-4, abs=1e-320)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.00012345, f"{MINUS}0.0001234"),
        (2.5e-9, f"2.5{TIMES}10⁻⁹"),
        (-1e12, f"{MINUS}10¹²"),
        (None, NOTHING),
        (0, "0"),
        (0.0, "0"),
        (123456.7, "123,500"),
        (10**15, "10¹⁵"),
        (99999.0, "100,000"),
        (math.inf, "∞"),
    ],
)
def test_numbers_in_words(value: float | None, text: str) -> None:
    assert number(value) == text
