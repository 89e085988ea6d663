"""Every public function with odd objects in every argument: a value, or one sentence of ours."""

from __future__ import annotations

import inspect
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import btests
from btests._option_checks import is_finite
from tests.robust.odd_objects import KSAMPLE_OPTIONS, X, calls, everything

_CALLS = calls()


def _arguments() -> list[Any]:
    found = []
    for name, (function, _) in _CALLS.items():
        names = KSAMPLE_OPTIONS if name == "ksample_test" else inspect.signature(function).parameters
        found += [pytest.param(name, argument, id=f"{name}-{argument}") for argument in names]
    return found


def _trouble(function: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """Return what is wrong with the answer to a call; empty if it is a value, or one sentence of ours."""
    try:
        function(**arguments)
    except OSError:
        return ""
    except (ValueError, TypeError) as error:
        message = str(error)
        raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
        ours = "/btests/" in Path(raised_in).as_posix() or raised_in in (__file__, "<string>") or "required" in message
        if not ours and raised_in != calls.__code__.co_filename:
            return f"raised in {raised_in}: {message!r}"
        if type(error) not in (ValueError, TypeError) and not type(error).__module__.startswith("btests"):
            return f"{type(error).__name__}: {message!r}"
        return "" if message.isprintable() and len(message) < 800 else f"not one sentence: {message!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error!s:.200}"
    return ""


@pytest.mark.parametrize(("name", "argument"), _arguments())
def test_odd_objects_get_one_sentence(
    name: str, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function, good = _CALLS[name]
    found = {}
    for label, value in everything():
        if argument == "workers" and isinstance(value, (int, str)):  # which would start or seek a cluster
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trouble = _trouble(function, {**good, ("nonsense" if argument == "options" else argument): value})
        if trouble:
            found[label] = trouble
    assert not found


@pytest.mark.parametrize(
    "value", [np.array(3.0), np.zeros((0, 2)), np.zeros((2, 2, 2)), "abc", None, [[1.0], [np.nan]]]
)
def test_median_bandwidth_takes_rows(value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="points"):
        btests.median_bandwidth(value)
    assert btests.median_bandwidth(X[:, 0]) == btests.median_bandwidth(X[:, :1])


def test_failing_lazy_frames_are_named_with_their_error() -> None:
    pl = pytest.importorskip("polars")
    failing = pl.LazyFrame({"a": ["x", "y"] * 10}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(ValueError, match="a cannot be read: InvalidOperationError, conversion from `str` to `i64`"):
        btests.compare(failing, {"a": np.arange(20)})


def test_more_threads_than_work_is_no_more_threads() -> None:
    one = btests.btest(X, X[::-1] + 0.1, kernel=btests.Gaussian(1.0), seed=0, n_threads=1)
    assert btests.btest(X, X[::-1] + 0.1, kernel=btests.Gaussian(1.0), seed=0, n_threads=10**30).pvalue == one.pvalue


def test_numbers_of_numpy_are_finite_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_finite(np.float32(0.5))
        assert is_finite(np.float16(2.0))
        assert not is_finite(np.float32("inf"))
        assert not is_finite(np.array(["x"])[0])
