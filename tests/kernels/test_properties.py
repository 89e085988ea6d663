"""Kernels state their own properties, and files hold every kernel that says so."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest

import btests
from btests import Combination, Energy, Gaussian, Kernel, Linear, OnColumns, Pairwise, Polynomial, RationalQuadratic
from btests import kernels as exported
from btests.kernels import Properties, Radial, properties_of, summands_of, terms_of
from btests.kernels.serialization import from_spec, to_spec
from tests.kernels.formulas import Case, plain, radial

CASES = [*radial(1.3), *plain(1.3)]


def _ones(x: Any, y: Any) -> Any:
    return np.ones((len(x), len(y)))


class _Known:
    """A user's kernel that the compiled loops evaluate."""

    def __call__(self, x: Any, y: Any) -> Any:
        return Gaussian(1.0)(x, y)

    def terms(self) -> tuple[Radial, ...]:
        return Gaussian(1.0).terms()


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.kernel))
def test_supremum_is_the_least_upper_bound(case: Case) -> None:
    x = np.random.default_rng(0).normal(size=(30, 2))
    gram, supremum = case.kernel(x, x), properties_of(case.kernel).supremum
    if supremum is not None:
        assert gram.min() >= 0.0
        assert gram.max() == pytest.approx(supremum, rel=1e-15)


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.kernel))
def test_stacks_of_blocks_in_one_call(case: Case) -> None:
    assert properties_of(case.kernel).takes_stacks
    x = np.random.default_rng(1).normal(size=(3, 4, 2))
    assert case.kernel(x, x).shape == (3, 4, 4)


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.kernel))
def test_centering_does_not_change_mmd(case: Case) -> None:
    x = np.random.default_rng(2).normal(size=(12, 2))
    weights = np.repeat([1.0, -1.0], 6)
    here, there = (weights @ case.kernel(p, p) @ weights for p in (x, x + 3.0))
    if properties_of(case.kernel).centers_rows:
        assert here == pytest.approx(there, rel=1e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.kernel))
def test_a_bandwidth_makes_the_scale_irrelevant(case: Case) -> None:
    """Kernels without one are the summands that checks must refuse where squares of the data underflow."""
    without = (Energy, Linear, Polynomial)
    assert properties_of(case.kernel).has_bandwidth == (
        not any(isinstance(summand, without) for summand in summands_of(case.kernel))
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.kernel))
def test_columns_change_only_what_they_must(case: Case) -> None:
    inner, outer = properties_of(case.kernel), properties_of(OnColumns(case.kernel, [1, 0]))
    assert outer.columns == (1, 0)
    assert inner.columns is None
    assert (inner.supremum, inner.centers_rows) == (outer.supremum, outer.centers_rows)


def test_functions_of_users_have_safe_defaults() -> None:
    assert properties_of(_ones) == Properties()
    assert terms_of(_ones) is None
    assert summands_of(_ones) == (_ones,)
    assert properties_of(_Known()) == Properties(centers_rows=True)


def test_properties_of_another_kind_are_not_ours() -> None:
    class Odd:
        properties = "many"

    assert properties_of(Odd()) == Properties()


@pytest.mark.parametrize(
    ("kernel", "takes_objects"),
    [
        (Gaussian(1.0) + Linear(), False),
        (Gaussian(1.0) + _ones, None),
        (Pairwise(lambda a, b: 1.0) + _ones, True),
        (OnColumns(Pairwise(lambda a, b: 1.0), [0]), False),
    ],
)
def test_objects(kernel: Kernel, takes_objects: bool | None) -> None:
    assert properties_of(kernel).takes_objects is takes_objects


def test_summands_of_nested_sums() -> None:
    nested = Combination((1.0, 2.0), (Gaussian(1.0) + Linear(), Energy()))
    assert summands_of(nested) == (Gaussian(1.0), Linear(), Energy())
    assert properties_of(2.0 * Gaussian(1.0) + RationalQuadratic(1.0)).supremum == 3.0


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.kernel))
def test_files_hold_every_kernel(case: Case) -> None:
    kernel: Kernel
    for kernel in (case.kernel, OnColumns(case.kernel, [0, 1]), Combination((2.0,), (case.kernel,))):
        assert from_spec(json.loads(json.dumps(to_spec(kernel)))) == kernel


def test_every_exported_kernel_says_whether_files_hold_it() -> None:
    found = {name: getattr(exported, name) for name in exported.__all__}
    kinds = {name for name, kind in found.items() if is_dataclass(kind) and "__call__" in vars(kind)}
    assert {name for name in kinds if not getattr(found[name], "is_serializable", False)} == {"Pairwise"}
    assert kinds <= set(dir(btests))


@pytest.mark.parametrize("kind", ["Pairwise", "Radial", "median_bandwidth", "properties_of", "protocol", "None"])
def test_files_name_kernels_alone(kind: str) -> None:
    with pytest.raises(ValueError, match=f"no kernel is called '{kind}'"):
        from_spec({"kind": kind})
