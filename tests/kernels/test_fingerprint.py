"""What tells functions apart: the same in every process, and another wherever they may do something else."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from btests import Gaussian, OnColumns, Pairwise
from btests.kernels.fingerprint import fingerprint

SCALE = 1.0
TABLE = np.arange(3.0)
SETTINGS: dict[str, list[float]] = {"offsets": [1.0, 2.0]}


def enclosing(g: float) -> Any:
    return lambda u, v: np.exp(-g * (u @ v.T))


def with_default(g: float) -> Any:
    def kernel(u: Any, v: Any, g: float = g) -> Any:
        return g * (u @ v.T)

    return kernel


def nested(g: float) -> Any:
    def outer(u: Any, v: Any) -> Any:
        def inner(w: Any) -> Any:
            return g * w

        return inner(u) @ v.T

    return outer


def scaled(u: Any, v: Any, g: float) -> Any:
    return g * (u @ v.T)


def by_name(u: Any, v: Any) -> Any:
    return scaled(u, v, SCALE) * TABLE[0] + SETTINGS["offsets"][0]


class Callable:
    def __init__(self, g: float) -> None:
        self.g = g

    def __call__(self, u: Any, v: Any) -> Any:
        return self.g * (u @ v.T)

    def method(self, u: Any, v: Any) -> Any:
        return self.g * (u @ v.T)


@dataclass(frozen=True)
class Own:
    g: float

    def __call__(self, u: Any, v: Any) -> Any:
        return self.g * (u @ v.T)


MAKERS = [
    enclosing,
    with_default,
    nested,
    Callable,
    Own,
    Gaussian,
    lambda g: Callable(g).method,
    lambda g: functools.partial(scaled, g=g),
    lambda g: functools.partial(scaled, np.full(2, g)),
    lambda g: Pairwise(enclosing(g)),
    lambda g: OnColumns(enclosing(g), [0]),
    lambda g: [Gaussian(1.0), {"a": (g, {1.0, 2.0})}],
    lambda g: enclosing(g) if g < 2 else with_default(g),
]


@pytest.mark.parametrize("make", MAKERS)
def test_what_does_the_same_is_the_same(make: Any) -> None:
    assert fingerprint(make(1.0)) == fingerprint(make(1.0))
    assert fingerprint(make(1.0)) != fingerprint(make(2.0))


def test_code_tells_functions_of_one_name_apart() -> None:
    one, other = Pairwise(lambda a, b: a * b), Pairwise(lambda a, b: a + b)
    assert repr(one) == repr(other)
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    ("name", "value"),
    [("SCALE", 2.0), ("TABLE", np.ones(3)), ("SETTINGS", {"offsets": [1.0, 3.0]}), ("scaled", lambda u, v, g: u @ v.T)],
)
def test_what_a_function_names_in_its_module_counts(monkeypatch: pytest.MonkeyPatch, name: str, value: Any) -> None:
    before = fingerprint(by_name)
    monkeypatch.setitem(globals(), name, value)
    assert fingerprint(by_name) != before


def test_functions_that_name_themselves_end() -> None:
    def again(n: int) -> Any:
        return again(n - 1) if n else 0

    assert fingerprint(again) == fingerprint(again)


def test_what_nobody_can_tell_is_itself_alone() -> None:
    one, other = iter(lambda: 1, 0), iter(lambda: 1, 0)  # such iterators are not pickled
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)


def test_the_next_process_says_the_same() -> None:
    code = (
        "from tests.kernels.test_fingerprint import MAKERS, by_name, fingerprint; "
        "print(*[fingerprint(make(1.0)) for make in MAKERS], fingerprint(by_name))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
