"""Small drawings of a column in both samples, for rows of tables and for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from btests.report.histogram import SQUEEZED, longest
from btests.report.svg import element, points

# Pixels of a drawing, of each bar of missing cells, and of the gap before these.
_WIDTH, _HEIGHT = 112.0, 24.0
_BAR, _GAP = 6.0, 4.0

# Colours as attributes: they are the same on light and dark pages, and in notebooks without our style.
_A, _B = "#4C93C2", "#D55E00"


def sparkline(chart: Mapping[str, Any] | None) -> Markup:
    """Return the shares of both samples: an area and a line over the bins, or two bars for each level.

    Two more bars are those of missing cells.

    Parameters
    ----------
    chart : mapping or None
        Chart of a column, as in docs/compare-schema.md.

    Returns
    -------
    Markup
        An SVG element that screen readers skip, since the row says the same in words; empty without a chart.
    """
    missing = [float(share) for share in (chart or {}).get("missing") or ()]
    if not chart or not chart["a"] or not any(chart["a"] + chart["b"] + missing):
        return Markup()
    a, b = ([float(share) for share in chart[side]] for side in ("a", "b"))
    if chart["type"] == "bars":
        if any(missing):
            a, b = [*a, missing[0]], [*b, missing[1]]
        drawn = _bars(a, b, longest(a, b))
    else:
        largest = max(a + b)
        top = max([largest, *(share for share in missing if share <= SQUEEZED * largest or not largest)])
        width = _WIDTH - (2.0 * _BAR + _GAP) * any(missing)
        drawn = _lines(a, b, top, width)
        if any(missing):
            drawn += [_bar(k, share / top, width + _GAP + k * _BAR, 0.85 * _BAR) for k, share in enumerate(missing)]
    return element(
        "svg",
        *drawn,
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        width=_WIDTH,
        height=_HEIGHT,
        class_="spark",
        aria_hidden="true",
    )


def _lines(a: Sequence[float], b: Sequence[float], top: float, width: float) -> list[Markup]:
    area = [(0.0, _HEIGHT - 1.0), *_corners(a, top, width), (width, _HEIGHT - 1.0)]
    line = points(_corners(b, top, width))
    return [
        element("path", d=points(area), fill=_A, fill_opacity="0.6"),
        element("path", d=line, fill="none", stroke=_B, stroke_width="1.6"),
    ]


def _corners(shares: Sequence[float], top: float, width: float) -> list[tuple[float, float]]:
    """Return the corners of a histogram, from left to right."""
    each = width / len(shares)
    heights = [_HEIGHT - 1.0 - (_HEIGHT - 3.0) * share / top for share in shares]
    return [(x, y) for i, y in enumerate(heights) for x in (i * each, (i + 1) * each)]


def _bars(a: Sequence[float], b: Sequence[float], top: float) -> list[Markup]:
    each = _WIDTH / max(4, len(a))
    found = []
    for i, shares in enumerate(zip(a, b, strict=True)):
        found += [_bar(k, share / top, (i + 0.1 + 0.4 * k) * each, 0.36 * each) for k, share in enumerate(shares)]
    return found


def _bar(k: int, share: float, x: float, width: float) -> Markup:
    """Return a bar of the first sample, filled, or of the second, hollow; ``share`` is that of the largest height."""
    height = (_HEIGHT - 3.0) * min(share, 1.0)
    outline = {"fill": "none", "stroke": _B} if k else {"fill": _A}
    return element("rect", x=x, y=_HEIGHT - 1.0 - height, width=width, height=height, **outline)
