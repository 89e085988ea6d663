"""Calls from Python that take several steps, by the names that the source of a call may use."""

from __future__ import annotations

import datetime
import decimal
import fractions
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import btests
from btests.testing import assert_same_distribution
from tests.fuzz.oracle import check_message, check_pvalue, is_clean, require, strict_json
from tests.fuzz.samples import Rows


def _batches(rows: Any, size: int) -> Iterator[Any]:
    return (rows[k : k + size] for k in range(0, max(1, len(rows)), size))


def streamed(x: Any, y: Any, size: int = 7, null: Any = None, **options: Any) -> Any:
    """Return the result of a stream that gets both samples in batches."""
    stream = btests.Stream(**options)
    stream.consume(_batches(x, size), _batches(y, size + 1))
    return stream.result(null)


def merged(x: Any, y: Any, null: Any = None, n_parts: int = 2, **options: Any) -> Any:
    """Return the result of the partial results of several streams, each saved and loaded."""
    partials = []
    for part in range(n_parts):
        stream = btests.Stream(part=part, **options)
        stream.update(x[part::n_parts], y[part::n_parts])
        path = Path(f"partial-{part}.npz")
        stream.partial().save(path)
        partials.append(btests.PartialResult.load(path))
    return btests.PartialResult.join(partials).result(null)


def damaged(x: Any, y: Any, place: float, byte: int, *, features: bool = False) -> Any:
    """Return the result of a partial result whose file has a changed byte."""
    by = {"statistic": "features"} if features else {"block_size": 5}
    stream = btests.Stream(btests.Gaussian(1.0), seed=1, **by)
    stream.update(x, y)
    stream.partial().save("partial.npz")
    data = bytearray(Path("partial.npz").read_bytes())
    data[int(place * (len(data) - 1))] = byte
    Path("partial.npz").write_bytes(bytes(data))
    return btests.PartialResult.load("partial.npz").result()


def sequential(x: Any, y: Any, size: int = 7, alpha: Any = 0.05, **options: Any) -> Any:
    """Return the result of a sequential test that gets both samples in batches."""
    test = btests.SequentialTest(**options)
    test.consume(_batches(x, size), _batches(y, size))
    result = test.result()
    result.rejects(alpha)
    _drawn(test.plot)
    return result


def featured(x: Any, y: Any, **options: Any) -> Any:
    """Return the result of a test by features."""
    return btests.btest(x, y, statistic="features", **options)


def paired(x: Any, y: Any, **options: Any) -> Any:
    """Return the result of a test of pairs of rows."""
    return btests.btest(x, y, paired=True, **options)


def in_units(x: Any, y: Any, size: int = 3, *, shared: bool = False, weighted: bool = False, **options: Any) -> Any:
    """Return the result of a test of units of ``size`` rows, of both samples or of one, with weights of rows or not."""
    size = max(1, size)
    labels = np.arange(len(x)) // size, np.arange(len(y)) // size + (0 if shared is True else len(x))
    weights: dict[str, Any] = (
        {"weights_x": 1.0 + np.arange(len(x)) % 3, "weights_y": np.ones(len(y))} if weighted is True else {}
    )
    return btests.btest(x, y, units=labels, **weights, **options)


def weighted(x: Any, y: Any, power: float = 1.0, **options: Any) -> Any:
    """Return the result of a test of rows with weights."""
    with np.errstate(over="ignore"):
        weights = np.arange(len(x), dtype=float) ** power
    return btests.btest(x, y, weights_x=weights, **options)


def asserted(x: Any, y: Any, **options: Any) -> Any:
    """Return a comparison that an assertion of tests agrees with."""
    found = btests.compare(x, y, **options)
    try:
        assert_same_distribution(x, y, **{"alpha": 0.05, **options})
        differs = False
    except AssertionError as error:
        require(is_clean(str(error), "\n"), "control characters in the message of an assertion")
        differs = True
    require(found.different == differs, "an assertion that is not the verdict")
    return found


def pictured(result: Any) -> Any:
    """Return a result whose pictures, pages, frames and numbers were asked for."""
    for name in ("_repr_html_", "to_frame", "summary", "skewness", "normality", "confidence_interval"):
        _asked(getattr(result, name, None))
    if hasattr(result, "to_html"):
        result.to_html("pictured.html")
    if hasattr(result, "to_json"):
        strict_json(result.to_json())
    for kind in ("null", "blocks"):
        _drawn(getattr(result, "plot", None), *([kind] if isinstance(result, btests.TestResult) else ()))
    for column in getattr(result, "columns", ()):
        _drawn(getattr(column, "plot", None))
    if isinstance(result, btests.TestResult):
        above = _asked(result.pvalue_above, 0.0)  # refused for a statistic in one block that has no interval
        if above is not None:
            check_pvalue(above)
        require(result.rejects(0.05) == (result.pvalue <= 0.05), "a verdict that is not that of its p-value")
    return result


def _asked(method: Callable[..., Any] | None, *words: Any) -> Any:
    """Return what a method returns; None if there is none, or it refuses."""
    try:
        return method(*words) if callable(method) else None
    except ValueError as error:
        check_message(str(error))
        return None


def _drawn(plot: Callable[..., Any] | None, *words: Any) -> None:
    from matplotlib import pyplot

    try:
        axes = _asked(plot, *words)
        if axes is not None:
            axes.figure.savefig(io.BytesIO(), format="png", dpi=40)
    finally:
        pyplot.close("all")


#: Names that the source of a call may use.
NAMESPACE: dict[str, Any] = {
    **{name: getattr(btests, name) for name in dir(btests)},
    **{"np": np, "btests": btests, "datetime": datetime, "decimal": decimal, "fractions": fractions, "io": io},
    **{"Rows": Rows, "streamed": streamed, "merged": merged, "sequential": sequential, "damaged": damaged},
    **{"featured": featured, "paired": paired, "in_units": in_units, "weighted": weighted, "asserted": asserted},
    **{"pictured": pictured, "nan": np.nan, "inf": np.inf, "pd": pd},
}
