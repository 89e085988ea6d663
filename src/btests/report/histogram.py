"""Drawings of a column in both samples: histograms and bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from btests.report.number_format import percent
from btests.report.svg import (
    Caption,
    PlotArea,
    Scale,
    bottom_axis,
    clipped,
    element,
    left_axis,
    points,
)
from btests.report.ticks import number_marks, ticks, time_ticks

#: Maximum distance of a marked value from the histogram on an unbroken axis, in widths of the histogram.
_FAR = 3.0
_BREAK = 44.0

# Width of a letter of the label of a mark, in pixels.
_LETTER = 6.8

_ROW = 30.0

# Width of the bars of missing cells, and how many times longer than all others they may be.
_MISSING = 56.0
SQUEEZED = 4.0

_NAMES = 110.0


@dataclass(frozen=True, slots=True)
class Mark:
    """Marked value: its position, its label, and the CSS class of its line."""

    value: float
    label: str
    kind: str


def _share_marks(top: float) -> list[tuple[float, str]]:
    return [(value, percent(value)) for value in ticks(0.0, top, 4)]


def _steps(x: Scale, y: Scale, edges: Sequence[float], heights: Sequence[float]) -> list[tuple[float, float]]:
    """Return the outline of a histogram from its first edge to its last."""
    outline = [(x(edges[0]), y(0.0))]
    for i, height in enumerate(heights):
        outline += [(x(edges[i]), y(height)), (x(edges[i + 1]), y(height))]
    return [*outline, (x(edges[-1]), y(0.0))]


def _pair(outline_a: Sequence[tuple[float, float]], outline_b: Sequence[tuple[float, float]]) -> Markup:
    """Return the outlines of both samples, which begin and end at the base line, filled so that neither is hidden."""
    outlines = {"a": outline_a, "b": outline_b}
    return Markup().join(element("path", class_=f"area {side}", d=points(own)) for side, own in outlines.items())


def overlaid(caption: Caption, label: str, edges: Sequence[float], chart: Mapping[str, Any]) -> Markup:
    """Return the histograms of both samples of a chart on top of each other: shares of rows in common bins."""
    return _both(
        caption,
        label,
        edges,
        chart,
        _steps,
        marks=number_marks(edges[0], edges[-1], form=chart.get("form") or "number"),
    )


def over_time(caption: Caption, label: str, moments: Sequence[float], chart: Mapping[str, Any]) -> Markup:
    """Return both samples of a chart as lines over time: shares of rows between moments in seconds since 1970."""
    return _both(caption, label, moments, chart, _line, marks=time_ticks(moments[0], moments[-1]))


def _line(x: Scale, y: Scale, edges: Sequence[float], shares: Sequence[float]) -> list[tuple[float, float]]:
    """Return a line through the middles of bins, from zero to zero."""
    middles = [(x(low) + x(high)) / 2 for low, high in pairwise(edges)]
    inner = [(place, y(share)) for place, share in zip(middles, shares, strict=True)]
    return [(middles[0], y(0.0)), *inner, (middles[-1], y(0.0))]


def _both(
    caption: Caption,
    label: str,
    edges: Sequence[float],
    chart: Mapping[str, Any],
    outline: Callable[[Scale, Scale, Sequence[float], Sequence[float]], list[tuple[float, float]]],
    *,
    marks: Sequence[tuple[float, str]],
) -> Markup:
    """Return the outlines of the shares of both samples over common edges, and bars of missing cells beside them."""
    missing = chart.get("missing") or (0.0, 0.0)
    frame = PlotArea(right=10.0 + _MISSING * any(missing))
    largest = max([*chart["a"], *chart["b"], 1e-12])
    # Bars that would squeeze all others are cut.
    top = 1.05 * max([largest, *(share for share in missing if share <= SQUEEZED * largest)])
    x, y = Scale((edges[0], edges[-1]), frame.x), Scale((0.0, top), frame.y)
    return frame.drawing(
        caption,
        left_axis(frame, "share of rows per bin", _share_marks(top), y),
        _pair(outline(x, y, edges, chart["a"]), outline(x, y, edges, chart["b"])),
        bottom_axis(frame, label, marks, x),
        _missing_bars(frame, missing, y, top) if any(missing) else Markup(),
    )


def _missing_bars(frame: PlotArea, missing: Sequence[float], y: Scale, top: float) -> Markup:
    """Return the shares of missing cells of both samples as bars to the right of a drawing."""
    first, base, width = frame.x[1] + 14.0, frame.y[0], 0.34 * (_MISSING - 14.0)
    parts = [element("line", class_="axis", x1=first - 4, x2=first + 2 * width + 6, y1=base, y2=base)]
    for k, (side, share) in enumerate(zip("ab", missing, strict=True)):
        place, end = first + k * (width + 2.0), y(min(share, top))
        parts.append(element("rect", class_=f"bar {side}", x=place, y=end, width=width, height=base - end))
        if share > top:
            ends = {"x1": place - 1, "x2": place + width + 1, "y1": end + 14, "y2": end + 9}
            parts.append(element("line", class_="cut", **ends))
    parts.append(element("text", "missing", class_="tick middle", x=first + width, y=base + 17))
    return Markup().join(parts)


def single(
    caption: Caption,
    labels: tuple[str, str],
    edges: Sequence[float],
    counts: Sequence[float],
    marks: Sequence[Mark],
) -> Markup:
    """Return one histogram with marked values; the axis includes them."""
    frame = PlotArea(top=14.0 + 14.0 * len(marks))
    # A distant value would squeeze the histogram: the axis is broken before it.
    limit = edges[-1] + _FAR * (edges[-1] - edges[0])
    near = [mark.value for mark in marks if mark.value <= limit]
    is_broken = len(near) < len(marks)
    low, high = min([edges[0], *near]), max([edges[-1], *near])
    room = 0.03 * (high - low)
    top = max([*counts, 1e-12]) * 1.03
    end = frame.x[1] - (_BREAK if is_broken else 0.0)
    x, y = Scale((low - room, high + room), (frame.x[0], end)), Scale((0.0, top), frame.y)
    outline = _steps(x, y, edges, counts)
    whole = [mark for mark in number_marks(0.0, top, 4) if mark[0] == round(mark[0])]  # counts are integers
    # Labels are drawn above all lines.
    places = [x(mark.value) if mark.value <= limit else frame.x[1] - 4 for mark in marks]
    lines, notes = zip(
        *(_pointer(frame, mark, row, places) for row, mark in enumerate(marks)),
        strict=True,
    )
    return frame.drawing(
        caption,
        left_axis(frame, labels[1], whole, y),
        element("path", class_="area plain", d=points(outline)),
        *lines,
        *notes,
        bottom_axis(frame, labels[0], number_marks(low - room, high + room, 5), x),
        _gap(end + _BREAK / 2, frame.y[0]) if is_broken else Markup(),
    )


def _gap(place: float, base: float) -> Markup:
    """Return the symbol of a broken axis."""
    strokes = [
        element("line", class_="axis", x1=place + shift - 3, x2=place + shift + 3, y1=base + 6, y2=base - 6)
        for shift in (-3, 3)
    ]
    words = element("text", "axis broken", class_="tick end", x=place - 8, y=base - 24)
    return Markup().join([element("rect", class_="gap", x=place - 3, y=base - 3, width=6, height=6), *strokes, words])


def _pointer(frame: PlotArea, mark: Mark, row: int, places: Sequence[float]) -> tuple[Markup, Markup]:
    """Return a line from the axis upwards and the label beside its top, on the side that has room.

    If both have, the side where no longer line of a row above crosses the label.
    """
    place, height, length = places[row], 12.0 + 14.0 * row, _LETTER * len(mark.label)
    rooms = {"start": frame.width - place - 6, "end": place - 6}
    spans = {"start": (place, place + length), "end": (place - length, place)}

    def merit(side: str) -> tuple[bool, bool, float]:
        low, high = spans[side]
        return length <= rooms[side], not any(low <= other <= high for other in places[:row]), rooms[side]

    side = max(rooms, key=merit)
    text, shift = clipped(mark.label, rooms[side]), 5 if side == "start" else -5
    return (
        element("line", class_=f"mark {mark.kind}", x1=place, x2=place, y1=frame.y[0], y2=height - 9),
        element("text", text, class_=f"note {side} {mark.kind}", x=place + shift, y=height),
    )


def paired(
    caption: Caption,
    label: str,
    levels: Sequence[str],
    share_a: Sequence[float],
    share_b: Sequence[float],
) -> Markup:
    """Return two bars for each level, its name to the left and the shares to the right."""
    frame = PlotArea(height=64.0 + _ROW * len(levels), left=_NAMES, right=54.0, top=20.0)
    top = longest(share_a, share_b)
    x = Scale((0.0, top), frame.x)
    marks = _share_marks(top)
    parts = [element("text", clipped(label, frame.width - 6), class_="label", x=2, y=12)]
    for value, _ in marks:
        parts.append(element("line", class_="grid", x1=x(value), x2=x(value), y1=frame.y[1], y2=frame.y[0]))
    for row, (level, a, b) in enumerate(zip(levels, share_a, share_b, strict=True)):
        y = frame.y[1] + row * _ROW
        shown = element("tspan", clipped(level, _NAMES - 12))
        parts.append(element("text", shown, element("title", level), class_="tick end", x=_NAMES - 6, y=y + 18))
        for side, share, shift in (("a", a, 2.0), ("b", b, 15.0)):
            width = max(x(min(share, top)) - frame.x[0], 0.0)
            parts.append(element("rect", class_=f"bar {side}", x=frame.x[0], y=y + shift, width=width, height=12))
            if share > top:
                # Two slanted strokes: this bar is longer than drawn.
                cut = frame.x[1] - 14
                for place in (cut, cut + 5):
                    ends = {"x1": place, "x2": place + 4, "y1": y + shift + 13, "y2": y + shift - 1}
                    parts.append(element("line", class_="cut", **ends))
            parts.append(element("text", percent(share), class_="value", x=frame.x[0] + width + 4, y=y + shift + 10))
    return frame.drawing(caption, *parts, bottom_axis(frame, "share of rows", marks, x))


def longest(share_a: Sequence[float], share_b: Sequence[float]) -> float:
    """Return the share that fills the width: the largest, or the second if the largest would dwarf all others.

    Examples
    --------
    >>> longest([0.3, 0.2], [0.5, 0.1]), longest([0.004, 0.99], [0.002, 0.98])
    (0.5, 0.005)
    """
    largest = sorted((max(pair) for pair in zip(share_a, share_b, strict=True)), reverse=True)
    second = 1.25 * largest[1] if len(largest) > 1 else 0.0
    return second if 0 < second < largest[0] / 6 else max([*largest, 1e-12])
