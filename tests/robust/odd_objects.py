"""Objects that no argument asks for, and calls of every public function."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import btests

X, Y, Z = np.random.default_rng(0).normal(size=(3, 40, 2))


class Raising:
    """Object whose conversion to an array, length, truth value, comparison and text all fail."""

    columns = ("a", "b")
    __hash__ = None  # type: ignore[assignment]

    def _fail(self, *_: object) -> Any:
        raise RuntimeError("this object\nfails")

    __array__ = __len__ = __getitem__ = __bool__ = __eq__ = __repr__ = _fail


class RaisingText:
    """Object without a text."""

    def __repr__(self) -> str:
        raise RuntimeError("no text\nat all")


def _fail(frame: object) -> Any:
    raise ZeroDivisionError("division\nby zero")


def arrays() -> Iterator[tuple[str, Any]]:
    """Yield arrays of wrong shapes and types."""
    yield "0-d", np.array(3.0)
    yield "0-d object", np.array(None, dtype=object)
    yield "3-d", np.zeros((4, 3, 2))
    yield "empty", np.array([])
    yield "no rows", np.zeros((0, 2))
    yield "objects", np.array([object()] * 20, dtype=object)
    yield "complex", X + 1j
    yield "dates", np.array(["2020-01-01"] * 40, dtype="M8[D]")
    yield "structured", np.zeros(40, dtype=[("a", float), ("b", int)])
    yield "masked", np.ma.masked_array(X, mask=X > 1)
    yield "NaN", np.full(40, np.nan)
    yield "huge", X * 1e307
    yield "beyond int64", np.array([10**30] * 40, dtype=object)
    yield "beyond floats", np.array([10**400] * 40, dtype=object)
    yield "text", np.array(["x"] * 40)
    yield "bytes", np.array([b"x"] * 40)
    yield "booleans", np.array([True, False] * 20)


def plain() -> Iterator[tuple[str, Any]]:
    """Yield objects of Python."""
    yield from (("str", "abc"), ("empty str", ""), ("bytes", b"abc"), ("dict", {"a": 1}), ("set", {1, 2}))
    yield from (("generator", iter([1, 2])), ("nan", float("nan")), ("inf", float("inf")), ("huge int", 10**400))
    yield from (("negative", -5), ("zero", 0), ("one", 1), ("true", True), ("none", None), ("float", 2.5))
    yield from (("decimals", [decimal.Decimal("sNaN")] * 40), ("dates", [datetime.date(2020, 1, 1)] * 40))
    yield from (("ragged", [[1, 2], [3]]), ("nested", [[[1]]]), ("huge ints", [10**30] * 40), ("class", np.ndarray))
    yield from (("function", lambda: 1), ("module", np), ("range", range(40)), ("view", memoryview(b"abcd")))
    yield from (("ellipsis", ...), ("raising", Raising()), ("no text", RaisingText()), ("error", ValueError("a\nb")))
    yield from (("kernel", btests.Gaussian(1.0)), ("null", btests.SignFlip()))


def frames() -> Iterator[tuple[str, Any]]:
    """Yield data frames: in wrong places, of wrong types, and lazy ones that fail."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    frame = pd.DataFrame(X, columns=["a", "b"])
    yield from (("pandas", frame), ("series", frame["a"]), ("list of frames", [frame, frame]))
    yield from (("polars", pl.DataFrame(X, schema=["a", "b"])), ("arrow", pa.table({"a": X[:, 0]})))
    yield "polars series", pl.Series([1.0] * 40)
    yield "lazy", pl.LazyFrame({"a": [1.0] * 10})
    yield "failing lazy", pl.LazyFrame({"a": ["x", "y", "z"] * 10}).select(pl.col("a").cast(pl.Int64))
    yield "lazy without a column", pl.LazyFrame({"a": [1.0] * 10}).select("nope")
    yield "Int128", pl.DataFrame({"a": pl.Series([2**100] * 40, dtype=pl.Int128)})
    yield "struct", pl.DataFrame({"a": [{"b": 1}] * 40})
    yield "polars objects", pl.DataFrame({"a": pl.Series([object()] * 40, dtype=pl.Object)})
    yield "sparse", pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0] * 20)})
    yield "huge whole numbers", pd.DataFrame({"a": np.array([10**30] * 40, dtype=object)})
    yield "NaN names", pd.DataFrame(X, columns=[np.nan, np.nan])
    yield "other NaN names", pd.DataFrame(X, columns=[float("nan"), float("-nan")])
    yield "two levels of names", pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
    yield "nullable", pd.DataFrame({"a": pd.array([1, None] * 20, dtype="Int64")})
    yield "surrogates", pd.DataFrame({"a": pd.Series(["\ud800"] * 40, dtype=object)})
    yield "doubles", pa.table([[1.0] * 40, [2.0] * 40], names=["a", "a"])
    dd = pytest.importorskip("dask.dataframe")
    yield "failing dask", dd.from_pandas(frame, npartitions=2).map_partitions(_fail, meta={"a": float, "b": float})


def everything() -> Iterator[tuple[str, Any]]:
    """Yield all odd objects with their names."""
    for group in (arrays, plain, frames):
        for name, value in group():
            yield f"{group.__name__}: {name}", value


# Results and protocols, which users do not make.
_MADE_BY_OTHERS = {
    *("TestResult", "Comparison", "GroupComparison", "KSampleResult", "SequentialResult", "PartialResult"),
    *("Kernel", "Null", "Selector"),
}


def calls() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return every public function with arguments that are good."""
    result = btests.btest(X, Y, kernel=btests.Gaussian(1.0), seed=0)
    data: dict[str, Any] = {"x": X, "y": Y, "seed": 0, "kernel": btests.Gaussian(1.0)}
    found: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "btest": (btests.btest, data),
        "energy_test": (btests.energy_test, {"x": X, "y": Y, "seed": 0}),
        "independence_test": (btests.independence_test, {"x": X, "y": Y, "seed": 0}),
        "ksample_test": (lambda z, **options: btests.ksample_test(X, Y, z, **options), {"z": Z, "seed": 0}),
        "compare": (btests.compare, {"a": {"u": X[:, 0]}, "b": {"u": Y[:, 0]}, "seed": 0}),
        "PartialResult.load": (btests.PartialResult.load, {}),
        "PartialResult.join": (btests.PartialResult.join, {}),
        "Stream.update": (_update_stream, {"x": X, "y": Y}),
        "SequentialTest.update": (lambda x, y: btests.SequentialTest().update(x, y), {"x": X, "y": Y}),
        "kernel * c": (lambda c: btests.Gaussian(1.0) * c, {}),
    }
    for name in ("rejects", "threshold", "confidence_interval", "pvalue_above"):
        found[f"result.{name}"] = (getattr(result, name), {})
    for name in dir(btests):
        value = getattr(btests, name)
        if name not in found and name not in _MADE_BY_OTHERS and not _is_warning(value):
            found[name] = (value, {})
    return found


#: Options of ``ksample_test``, whose samples have no names.
KSAMPLE_OPTIONS = ("z", "names", "kernel", "null", "seed", "block_size", "budget", "pairwise", "n_threads")


def _update_stream(x: object, y: object) -> None:
    btests.Stream(block_size=5, kernel=btests.Gaussian(1.0), seed=0).update(x, y)


def _is_warning(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Warning)
