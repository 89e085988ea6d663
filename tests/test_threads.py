"""The number of threads is an argument of every loop: none asks for the cores of the process once it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import btests
from btests import TU, CrossValidation, Gaussian, MaxRatio, Stream, btest, independence_test, ksample_test
from btests._core import threads

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(200, 2)), RNG.normal(0.3, 1.0, size=(200, 2))


@pytest.fixture(autouse=True)
def _no_default(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise AssertionError("a loop was not told how many threads it may take")

    monkeypatch.setattr(threads, "default_threads", fail)


def _in_batches(n_threads: int) -> Any:
    return btest(iter([X]), iter([Y]), kernel=Gaussian(1.0), block_size=50, seed=1, n_threads=n_threads)


def _stream(n_threads: int) -> Any:
    stream = Stream(block_size=20, seed=1, n_threads=n_threads)
    stream.update(X, Y)
    return stream.result()


CALLS: dict[str, Callable[[int], Any]] = {
    "family": lambda n: btest(X, Y, seed=1, n_threads=n),
    "unequal": lambda n: btest(X, Y[:150], kernel="energy", block_size=30, seed=1, n_threads=n),
    "selector": lambda n: btest(X, Y, kernel=MaxRatio(), seed=1, n_threads=n),
    "folds": lambda n: btest(X, Y, kernel=CrossValidation(), seed=1, n_threads=n),
    "products": lambda n: btest(X, Y, kernel=Gaussian(1.0), null=TU("sign-flip"), seed=1, n_threads=n),
    "permutation": lambda n: btest(X, Y, kernel=Gaussian(1.0), null="permutation", seed=1, n_threads=n),
    "units": lambda n: btest(X, Y, units=(np.arange(200) // 2,) * 2, seed=1, n_threads=n),
    "independence": lambda n: independence_test(X, Y, seed=1, n_threads=n),
    "three samples": lambda n: ksample_test(X, Y, X[::-1], seed=1, n_threads=n),
    "batches": _in_batches,
    "stream": _stream,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_every_loop_is_told(call: Callable[[int], Any]) -> None:
    assert call(1).pvalue == call(2).pvalue


def test_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    found = btest(tmp_path / "x.npy", tmp_path / "y.npy", seed=1, n_threads=1)
    assert found.read == "in chunks"


def test_partial_results() -> None:
    stream = Stream(Gaussian(1.0), block_size=20, seed=1, n_threads=1)
    stream.update(X, Y)
    partial = stream.partial()
    assert partial.result(n_threads=1).pvalue == btests.PartialResult.join([partial]).result(n_threads=2).pvalue
    with pytest.raises(ValueError, match="n_threads must be a whole number"):
        partial.result(n_threads=0)
    with pytest.raises(AssertionError, match="not told"):
        partial.result()
