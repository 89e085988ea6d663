"""The options of a comparison, which functions, types and the command line list, are the same ones."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import btests
from btests.cli.compare_command import compare as command
from btests.comparison.compare_options import CompareOptions, Options

ARGUMENTS = {name: own.default for name, own in inspect.signature(btests.compare).parameters.items()}
FIELDS = {own.name: own.default for own in fields(Options)}

# Callbacks in place of which the command line has its own, and the source of ``is_drawn``.
CALLBACKS = {"progress", "report"}


def test_arguments_are_fields_with_their_defaults() -> None:
    assert {*ARGUMENTS} - {"a", "b"} - CALLBACKS == {*FIELDS} - {"is_drawn"}
    for name in FIELDS.keys() & ARGUMENTS.keys() - {"seed", "max_rows", "columns"}:  # None: drawn, a million, all
        assert ARGUMENTS[name] == FIELDS[name], name


def test_types_are_of_the_arguments() -> None:
    assert {*CompareOptions.__annotations__} == {*ARGUMENTS} - {"a", "b", "by"}


def test_the_command_has_each_option() -> None:
    found = {parameter.name: parameter for parameter in command.params}
    assert {*FIELDS} - {"is_drawn"} <= found.keys()
    assert found["alpha"].default == FIELDS["alpha"]


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("max_rows", 1, "at least 2, got 1"),
        ("tolerance", 1.0, "less than 1, got 1.0"),
        ("common", None, "True or False, got None"),
        ("checkpoint", 3, "the path of a file"),
        ("budget", -1.0, "a positive number"),
    ],
)
def test_options_are_checked_when_they_are_made(name: str, value: object, what: str) -> None:
    with pytest.raises((TypeError, ValueError), match=what):
        btests.compare({"a": [1.0, 2.0]}, {"a": [1.0, 2.0]}, **{name: value})  # type: ignore[call-overload]


@pytest.mark.parametrize("budget", [np.uint8(3), np.float16(0.5), np.longdouble(0.5), Fraction(1, 20), 1])
def test_numbers_of_any_kind_are_written(budget: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = ({"x": rng.normal(size=30)} for _ in "ab")
    settings = json.loads(btests.compare(a, b, budget=budget, seed=0).to_json())["settings"]
    assert settings["budget"] == float(budget)
    size: Any = np.uint8(5)
    settings = json.loads(btests.compare(a, b, block_size=size, seed=0).to_json())["settings"]
    assert settings["block_size"] == 5
