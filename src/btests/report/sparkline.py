"""Small drawings of a column in both samples, for rows of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from btests.report.svg import element, points

# Pixels of a drawing.
_WIDTH, _HEIGHT = 112.0, 24.0

# Colours as attributes: they are the same on light and dark pages, and in notebooks without our style.
_A, _B = "#4C93C2", "#D55E00"


def sparkline(chart: Mapping[str, Any] | None) -> Markup:
    """Return the shares of both samples: an area and a line over the bins, or two bars for each level.

    Parameters
    ----------
    chart : mapping or None
        Chart of a column, as in docs/compare-schema.md.

    Returns
    -------
    Markup
        An SVG element that screen readers skip, since the row says the same in words; empty without a chart.
    """
    if not chart or not chart["a"] or not any(chart["a"] + chart["b"]):
        return Markup()
    a, b = ([float(share) for share in chart[side]] for side in ("a", "b"))
    top = max(a + b)
    drawn = _bars(a, b, top) if chart["type"] == "bars" else _lines(a, b, top)
    return element(
        "svg",
        *drawn,
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        width=_WIDTH,
        height=_HEIGHT,
        class_="spark",
        aria_hidden="true",
    )


def _lines(a: Sequence[float], b: Sequence[float], top: float) -> list[Markup]:
    area = [(0.0, _HEIGHT - 1.0), *_steps(a, top), (_WIDTH, _HEIGHT - 1.0)]
    line = points(_steps(b, top))
    return [
        element("path", d=points(area, closed=True), fill=_A, fill_opacity="0.6"),
        element("path", d=line, fill="none", stroke=_B, stroke_width="1.6"),
    ]


def _steps(shares: Sequence[float], top: float) -> list[tuple[float, float]]:
    """Return the corners of a histogram, from left to right."""
    each = _WIDTH / len(shares)
    heights = [_HEIGHT - 1.0 - (_HEIGHT - 3.0) * share / top for share in shares]
    return [(x, y) for i, y in enumerate(heights) for x in (i * each, (i + 1) * each)]


def _bars(a: Sequence[float], b: Sequence[float], top: float) -> list[Markup]:
    each = _WIDTH / max(4, len(a))
    found = []
    for i, shares in enumerate(zip(a, b, strict=True)):
        for k, (share, color) in enumerate(zip(shares, (_A, _B), strict=True)):
            height = (_HEIGHT - 3.0) * share / top
            x, width = (i + 0.1 + 0.4 * k) * each, 0.36 * each
            outline = {"fill": "none", "stroke": color} if k else {"fill": color}
            found.append(element("rect", x=x, y=_HEIGHT - 1.0 - height, width=width, height=height, **outline))
    return found
