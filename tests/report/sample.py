"""A comparison made by hand, for tests of the page: every kind of column, and anything as a name."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any


def bell(centre: float, width: float, edges: list[float]) -> list[float]:
    """Return shares of a normal law in bins."""
    upto = [0.5 * (1.0 + math.erf((edge - centre) / (width * math.sqrt(2.0)))) for edge in edges]
    return [high - low for low, high in pairwise(upto)]


def _facts(rows: int, missing: float, mean: float | None = None, sd: float | None = None) -> dict[str, Any]:
    def quantile(z: float) -> float | None:
        return None if mean is None or sd is None else mean + z * sd

    return {
        "rows": rows,
        "missing": missing,
        "mean": mean,
        "sd": sd,
        "min": quantile(-4.0),
        "q05": quantile(-1.645),
        "q25": quantile(-0.674),
        "median": quantile(0.0),
        "q75": quantile(0.674),
        "q95": quantile(1.645),
        "max": quantile(4.0),
    }


def number_column(name: str, rank: int, shift: float, *, n_bins: int = 40) -> dict[str, Any]:
    """Return a column of numbers whose mean changed."""
    edges = [-40.0 + 120.0 * i / n_bins for i in range(n_bins + 1)]
    a, b = bell(10.0, 14.0, edges), bell(10.0 + shift, 14.0 + shift / 2, edges)
    p = min(1.0, 0.0005 + math.exp(-abs(shift)))
    return {
        "name": name,
        "kind": "number",
        "rank": rank,
        "effect": min(abs(shift) / 40.0, 1.0),
        "pvalue": p / 2,
        "pvalue_corrected": p,
        "changed": p <= 0.05,
        "pvalue_beyond": None,
        "beyond": None,
        "summary": f"mean 10 -> {10 + shift:.3g}, spread 14 -> {14 + shift / 2:.3g}",
        "changes": [{"quantity": "mean", "a": 10.0, "b": 10.0 + shift, "text": f"mean 10 -> {10 + shift:.3g}"}],
        "a": _facts(27004, 0.0, 10.0, 14.0),
        "b": _facts(29425, 0.031, 10.0 + shift, 14.0 + shift / 2),
        "levels": None,
        "chart": {
            "type": "histogram",
            "title": f"Distribution of {name}",
            "axis": name,
            "edges": edges,
            "edge_labels": None,
            "a": a,
            "b": b,
            "below": [0.0, 0.0],
            "above": [0.001, 0.0123456],
            "missing": [0.0, 0.031],
        },
        "encoding": "(value - 10) / 17.2, tails tamed; one coordinate for missing",
    }


def category_column(name: str, rank: int, levels: list[str]) -> dict[str, Any]:
    """Return a column of categories whose first level grew."""
    k = len(levels)
    a = [(k - i) / (k * (k + 1) / 2) * 0.98 for i in range(k)]
    b = list(reversed(a))
    return {
        "name": name,
        "kind": "category",
        "rank": rank,
        "effect": 0.123,
        "pvalue": 0.0005,
        "pvalue_corrected": 0.0010,
        "changed": True,
        "pvalue_beyond": None,
        "beyond": None,
        "summary": f"{levels[0]}: {100 * a[0]:.3g} % -> {100 * b[0]:.3g} %",
        "changes": [{"quantity": "categories", "a": a[0], "b": b[0], "text": f"{levels[0]}: {a[0]:.3g} -> {b[0]:.3g}"}],
        "a": _facts(27004, 0.02),
        "b": _facts(29425, 0.02),
        "levels": [{"level": level, "a": p, "b": q} for level, p, q in zip(levels, a, b, strict=True)],
        "chart": {
            "type": "bars",
            "title": f"Levels of {name}",
            "axis": "share of rows",
            "labels": levels,
            "a": a,
            "b": b,
            "missing": [0.02, 0.02],
        },
        "encoding": f"{k} levels, any two of them at the same distance",
    }


def time_column(name: str, rank: int) -> dict[str, Any]:
    """Return a column of dates."""
    days = [1356998400.0 + 86400.0 * 7 * i for i in range(31)]
    labels = [f"2013-{1 + (i * 7) // 30:02d}-{1 + (i * 7) % 28:02d}" for i in range(31)]
    column = number_column(name, rank, 6.0, n_bins=30)
    summary = {"median": "2013-03-14T00:00:00", "min": labels[0], "max": labels[-1], "sd": 5184000.5}
    stats = dict.fromkeys(column["a"]) | {"missing": 0.0} | summary
    column |= {"kind": "time", "summary": "median 14 Mar 2013 -> 2 Apr 2013", "a": {"rows": 27004} | stats}
    column |= {"b": {"rows": 29425} | stats}
    column["chart"] |= {"edges": days, "edge_labels": labels, "above": [0.0, 0.0], "missing": [0.0, 0.0]}
    return column


def comparison(columns: list[dict[str, Any]] | None = None, *, different: bool = True) -> dict[str, Any]:
    """Return a whole comparison."""
    if columns is None:
        columns = [
            number_column("arr_delay", 1, 9.0),
            category_column("carrier", 2, ["UA", "B6", "EV", "DL", "AA", "a rather long name of an airline", "other"]),
            time_column("time_hour", 3),
            number_column("dep_delay", 4, 3.2),
            number_column("distance", 5, 0.4),
            number_column("air_time", 6, 0.1),
        ]
    edges = [-0.004 + 0.0004 * i for i in range(21)]
    counts = [round(2000 * share) for share in bell(0.0, 0.0012, edges)]
    observed = 0.0213456789 if different else 0.0004
    grid = [
        [
            math.exp(-((c - 7) ** 2 + (r - 8) ** 2) / 20) - math.exp(-((c - 15) ** 2 + (r - 14) ** 2) / 30)
            for c in range(24)
        ]
        for r in range(24)
    ]
    names = [column["name"] for column in columns]
    return {
        "schema": "btests.compare/1",
        "version": "0.1.0",
        "names": {"a": "month = 1", "b": "month = 7"},
        "verdict": {
            "different": different,
            "text": "The two tables differ." if different else "No difference found between the two tables.",
            "pvalue": 0.0005 if different else 0.412,
            "pvalue_any_difference": 0.0005 if different else 0.412,
            "alpha": 0.05,
            "tolerance": None,
            "question": "at all",
            "beyond": None,
        },
        "effect": {
            "share": math.sqrt(observed / 2) if different else 0.0,
            "mmd2": observed,
            "low": observed - 0.0021,
            "high": observed + 0.0021,
            "confidence_level": 0.95,
            "kernel": "Gaussian(bandwidth=2.3083456416704276)",
            "kernel_short": "Gaussian(bandwidth=2.308)",
            "total_variation_bound": math.sqrt(observed / 2),
            "meaning": "0 where the sides are identically distributed",
            "largest_change": f"{names[0]}: mean 10 -> 19; 22 % of the rows would have to change" if names else "",
        },
        "rows": {"a": 27004, "b": 29425, "a_given": 27004, "b_given": 29425},
        "test": {
            "kernel": "Gaussian(1)",
            "kernel_short": "Gaussian(1)",
            "selector": "Aggregate(MedianFamily())",
            "null": "SignFlip(n_resamples=1999)",
        }
        | {"statistic": observed, "pvalue": 0.0005, "threshold": 0.0021, "confidence_interval": [0.019, 0.023]},
        "tests": [
            {
                "name": test,
                "title": title,
                "pvalue": 0.0005 if different else 0.3,
                "n_tests": n,
                "axis": axis,
                "observed": observed * scale,
                "threshold": 0.0021 * scale,
                "null": {"edges": [scale * e for e in edges], "counts": counts, "n_draws": sum(counts)},
            }
            for test, title, axis, n, scale in (
                ("joint", "Joint test of all columns", "MMD^2 with Gaussian(bandwidth=1.5)", 5, 1.0),
                ("columns", "One column at a time", "largest standardised value", len(names), 1000.0),
                ("pairs", "Pairs of columns", "largest standardised value", 15, 1000.0),
            )
        ],
        "blocks": {
            "n": 164,
            "size": 164,
            "axis": "block MMD^2 with Gaussian(bandwidth=1.5)",
            "mean": observed,
            "histogram": {
                "edges": [observed - 0.01 + 0.001 * i for i in range(21)],
                "counts": [round(164 * s) for s in bell(0.0, 0.004, [-0.01 + 0.001 * i for i in range(21)])],
            },
        },
        "columns": columns,
        "relations": [
            {
                "columns": ["distance", "air_time"],
                "pvalue": 0.0005,
                "pvalue_corrected": 0.0015,
                "text": "rank correlation 0.98 -> 0.81",
                "measure": "rank correlation",
                "a": 0.98123,
                "b": 0.81456,
            }
        ]
        if different
        else [],
        "relations_tested": 15,
        "witness": {
            "title": "arr_delay and dep_delay",
            "text": "The map shows where rows of one side are more frequent than those of the other.",
            "x": {"name": "arr_delay", "kind": "number", "centres": [-20.0 + 3 * i for i in range(24)], "labels": None}
            | {"axis": "arr_delay", "smooth": True, "missing": False},
            "y": {"name": "dep_delay", "kind": "number", "centres": [-10.0 + 2 * i for i in range(24)], "labels": None}
            | {"axis": "dep_delay", "smooth": True, "missing": False},
            "values": grid,
            "largest": max(abs(v) for row in grid for v in row),
        },
        "examples": {
            "columns": names,
            "a": [[f"{n[:6]} {i}" if i != 2 else "" for n in names] for i in range(5)],
            "b": [[f"{n[:6]} {i + 50}" for n in names] for i in range(5)],
            "rows": {
                "a": [{"file": None, "row": 1000 * i + 17} for i in range(5)],
                "b": [{"file": f"part-{i}.csv", "row": i + 1} for i in range(5)],
            },
            "text": "The rows where the map of all columns together is most on one side.",
        },
        "excluded": [
            {"name": "year", "reason": "constant: 2013 in every row"},
            {"name": "flight_id", "reason": "a row identifier: every value is different"},
        ],
        "notes": ["time_hour was read as a date from text."],
        "settings": {"alpha": 0.05, "seed": 7, "block_size": None, "kernel": None, "null": None, "tolerance": None}
        | {
            "columns": None,
            "exclude": ["day"],
            "common": False,
            "by": "month",
            "a": "1",
            "b": "7",
            "delimiter": None,
            "max_rows": 100000,
        },
        "command": "btests compare flights.parquet --by month --a 1 --b 7 --exclude day --seed 7 --report out.html",
        "command_note": None,
        "seconds": 6.54321,
        "memory_bytes": 812345678,
    }
