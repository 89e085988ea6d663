"""Paired bars: the shares of the levels of a category on both sides."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from btests.report.axes import Scale, bottom_axis, ticks
from btests.report.number_format import percent
from btests.report.svg import Caption, PlotArea, clipped, element

_ROW = 30.0
_NAMES = 110.0


def paired(
    caption: Caption,
    label: str,
    levels: Sequence[str],
    share_a: Sequence[float],
    share_b: Sequence[float],
) -> Markup:
    """Return two bars for each level, its name to the left and the shares to the right."""
    frame = PlotArea(height=64.0 + _ROW * len(levels), left=_NAMES, right=54.0, top=20.0)
    top = _longest(share_a, share_b)
    x = Scale((0.0, top), frame.x)
    marks = [(value, percent(value)) for value in ticks(0.0, top, 4)]
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


def _longest(share_a: Sequence[float], share_b: Sequence[float]) -> float:
    """Return the share that fills the width: the largest, or the second if the largest would dwarf all others.

    Examples
    --------
    >>> _longest([0.3, 0.2], [0.5, 0.1]), _longest([0.004, 0.99], [0.002, 0.98])
    (0.5, 0.005)
    """
    largest = sorted((max(pair) for pair in zip(share_a, share_b, strict=True)), reverse=True)
    second = 1.25 * largest[1] if len(largest) > 1 else 0.0
    return second if 0 < second < largest[0] / 6 else max([*largest, 1e-12])
