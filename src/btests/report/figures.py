"""Drawings of the parts of a comparison, each with its description in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from btests.report.heatmap import Axis, regions
from btests.report.histogram import Mark, over_time, overlaid, paired, single
from btests.report.number_format import FORMS, number, percent, plural, pvalue
from btests.report.svg import Caption, clipped
from btests.report.ticks import moments, number_marks, time_ticks

Names = tuple[str, str]

# Width of the band of missing cells on the map, and of the range before it without ticks, in places.
_MISSING = 3
_CLEAR = 5

# Levels below a small drawing, and the width of each in pixels.
_ENDS, _LEVEL_WIDTH = 4, 80.0


def null_figure(place: int, test: Mapping[str, Any], alpha: float) -> Markup | None:
    """Return the null distribution of one test, with the observed value and the threshold in it."""
    null = test["null"]
    if not null or not null["counts"] or test["observed"] is None:
        return None
    marks = [Mark(test["observed"], f"observed: {number(test['observed'], 3)}", "seen")]
    if test["threshold"] is not None:
        marks.append(Mark(test["threshold"], f"threshold {number(test['threshold'], 3)}", "limit"))
    limit = "" if test["threshold"] is None else f" threshold at {percent(alpha)} {number(test['threshold'], 3)};"
    description = (
        f"{number(null['n_draws'])} values as they would be if both sides were identically distributed lie between"
        f" {number(null['edges'][0], 3)} and {number(null['edges'][-1], 3)}. Observed: {number(test['observed'], 3)};"
        f"{limit} p-value {pvalue(test['pvalue'])}."
    )
    title = f"What chance alone would give: {test['title']}"
    return single(
        Caption(f"test{place}", title, description),
        (squared(test["axis"]), "draws"),
        null["edges"],
        null["counts"],
        marks,
    )


def squared(label: str) -> str:
    """Return a label with a superscript two."""
    return label.replace("^2", "²")


def blocks_figure(blocks: Mapping[str, Any]) -> Markup | None:
    """Return the histogram of the block values, with zero and their mean; None for one block."""
    histogram = blocks["histogram"]
    if blocks["n"] < 2 or not histogram or not histogram["counts"] or blocks["mean"] is None:
        return None
    marks = [Mark(blocks["mean"], f"mean: {number(blocks['mean'], 3)}", "seen"), Mark(0.0, "0", "limit")]
    description = (
        f"{number(blocks['n'])} {plural(blocks['n'], 'block')} of {number(blocks['size'])} rows a side;"
        f" their values lie between {number(histogram['edges'][0], 3)} and {number(histogram['edges'][-1], 3)}"
        f" with mean {number(blocks['mean'], 3)}."
    )
    labels = (squared(blocks["axis"]), "blocks")
    return single(
        Caption("blocks", "Values of the blocks", description), labels, histogram["edges"], histogram["counts"], marks
    )


def column_figure(place: int, column: Mapping[str, Any], names: Names) -> Markup | None:
    """Return the distribution of a column on both sides: histograms, bars, or lines over time."""
    chart = column["chart"]
    if not chart or not chart["a"]:
        return None
    name, axis = f"column{place}", str(chart["axis"] or column["name"])
    if chart["type"] == "bars":
        return _bars(name, column, chart, axis, names)
    description = f"{column['summary']}. {_peaks(chart, names)}"
    edges = moments(chart)
    if edges:
        return over_time(Caption(name, chart["title"], description), axis, edges, chart)
    return overlaid(Caption(name, chart["title"], description), axis, chart["edges"], chart)


def _bars(name: str, column: Mapping[str, Any], chart: Mapping[str, Any], axis: str, names: Names) -> Markup:
    labels, a, b = list(chart["labels"]), list(chart["a"]), list(chart["b"])
    if any(chart["missing"] or ()):
        labels.append("missing")
        a.append(chart["missing"][0])
        b.append(chart["missing"][1])
    each = "; ".join(f"{level}: {percent(p)}, {percent(q)}" for level, p, q in zip(labels, a, b, strict=True))
    description = f"{column['summary']}. Share of rows in {names[0]} and in {names[1]}: {each}."
    return paired(Caption(name, chart["title"], description), axis, labels, a, b)


def form_of(part: Mapping[str, Any]) -> Callable[[float], str]:
    """Return the function that shows the numbers of a chart or an axis."""
    return FORMS[part.get("form") or "number"]


def bin_names(chart: Mapping[str, Any]) -> list[str]:
    """Return the bins of a histogram in words."""
    ends = chart.get("edge_labels") or list(map(form_of(chart), chart["edges"]))
    return [f"{low} to {high}" for low, high in pairwise(ends)]


def ends(chart: Mapping[str, Any]) -> list[str]:
    """Return the labels below a small drawing: both ends of its axis, or the first few bars."""
    if chart["type"] == "bars":
        return [clipped(str(label), _LEVEL_WIDTH) for label in chart["labels"][:_ENDS]]
    labels = chart.get("edge_labels") or list(map(form_of(chart), chart["edges"]))
    return [labels[0], labels[-1]]


def _peaks(chart: Mapping[str, Any], names: Names) -> str:
    bins = bin_names(chart)
    peaks = []
    for name, shares in zip(names, (chart["a"], chart["b"]), strict=True):
        best = max(range(len(shares)), key=shares.__getitem__)
        peaks.append(f"{name} has most rows, {percent(shares[best])}, from {bins[best]}")
    return f"{len(bins)} bins; {'; '.join(peaks)}."


def witness_figure(witness: Mapping[str, Any]) -> Markup:
    """Return the map of the regions where there is more of one side than of the other."""
    x, y = witness["x"], witness["y"]
    # Unknown values (None) are not coloured.
    grid = [[value or 0.0 for value in row] for row in witness["values"]]
    n_rows, n_columns = (len(grid) - y["missing"], len(grid[0]) - x["missing"])
    # Negative repetitions give an empty list.
    grid = [[*row, *[row[-1]] * (_band(x) - 1)] for row in grid]
    grid += [grid[-1]] * (_band(y) - 1)
    caption = Caption("witness", witness["title"], witness["text"])
    smooth = (n_rows, n_columns) if is_smooth(witness) else None
    return regions(caption, _with_missing(x, n_columns), _with_missing(y, n_rows), grid, smooth)


def is_smooth(witness: Mapping[str, Any]) -> bool:
    """Return whether neighbouring places on both axes of the map are similar, so that contours are meaningful."""
    return bool(witness["x"]["smooth"] and witness["y"]["smooth"])


def _with_missing(axis: Mapping[str, Any], n: int) -> Axis:
    """Return an axis of the map of ``n`` places, followed by a band for missing cells if there are any."""
    label, (low, high), marks, named = _axis(axis, n)
    if not axis["missing"]:
        return label, (low, high), marks, named
    step, band = (high - low) / n, _band(axis)
    kept = [mark for mark in marks if mark[0] <= high - _CLEAR * step or not axis["smooth"]]
    return label, (low, high + band * step), [*kept, (high + band * step / 2, "missing")], named


def _band(axis: Mapping[str, Any]) -> int:
    """Return the width of the band of missing cells in places; wider if places are narrow."""
    return (_MISSING if axis["smooth"] else 1) if axis["missing"] else 0


def _axis(axis: Mapping[str, Any], n: int) -> Axis:
    """Return label, range and ticks of an axis of the map; places without even steps have named ticks."""
    label = str(axis["axis"] or axis["name"])
    centres = axis["centres"]
    step = (centres[-1] - centres[0]) / (n - 1) if centres and n > 1 else 0.0
    if step > 0 and all(math.isclose(b - a, step, rel_tol=1e-3) for a, b in pairwise(centres)):
        ends = (centres[0] - step / 2, centres[-1] + step / 2)
        if axis["kind"] == "time":
            return label, ends, time_ticks(*ends), False
        if not axis["labels"]:
            return label, ends, number_marks(*ends, form=axis.get("form") or "number"), False
    texts = axis["labels"] or [form_of(axis)(centre) for centre in centres]
    return label, (0.0, float(n)), [(i + 0.5, str(text)) for i, text in enumerate(texts)], True
