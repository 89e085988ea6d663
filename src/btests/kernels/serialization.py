"""Kernels as plain values, to be written to a file and read from it: names and numbers, never code."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from btests.kernels.columns import OnColumns
from btests.kernels.combination import Combination
from btests.kernels.energy import Energy
from btests.kernels.fingerprint import fingerprint
from btests.kernels.gaussian import Gaussian
from btests.kernels.laplacian import Laplacian
from btests.kernels.matern import Matern
from btests.kernels.polynomial import Linear, Polynomial
from btests.kernels.protocol import Kernel
from btests.kernels.rational_quadratic import InverseMultiquadric, RationalQuadratic
from btests.plan import Array

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Combination,
        Energy,
        Gaussian,
        InverseMultiquadric,
        Laplacian,
        Linear,
        Matern,
        OnColumns,
        Polynomial,
        RationalQuadratic,
    )
}


@dataclass(frozen=True, slots=True)
class Named:
    """A kernel of the user's own, of which a file knows the name alone. It cannot be evaluated."""

    name: str
    digest: str = ""

    def __call__(self, x: Any, y: Any) -> Array:
        """Raise: the function is not here."""
        raise TypeError(f"the kernel {self.name} was a function of its own, which no file holds")

    def __repr__(self) -> str:
        return self.name


def to_spec(kernel: Kernel) -> dict[str, Any]:
    """Return the kind of a kernel and its parameters, fit for JSON."""
    kind = type(kernel).__name__
    if _KINDS.get(kind) is not type(kernel) or not is_dataclass(kernel):
        named = _named(kernel)
        return {"kind": "Named", "name": named.name, "digest": named.digest}
    return {"kind": kind} | {f.name: _to_value(getattr(kernel, f.name)) for f in fields(kernel) if f.init}


def _named(kernel: Any) -> Named:
    """Return a kernel of the user's by its name, and what tells two of one name apart: they do not add."""
    if isinstance(kernel, Named):
        return kernel
    name = getattr(kernel, "__qualname__", None) or (
        repr(kernel) if is_dataclass(kernel) else type(kernel).__qualname__
    )
    return Named(name, fingerprint(kernel))


def from_spec(spec: Any) -> Kernel:
    """Return the kernel that ``to_spec`` has told; raise where that is no such telling."""
    if not isinstance(spec, dict) or not isinstance(spec.get("kind"), str):
        raise ValueError("a kernel must have a kind")
    parameters = {name: _from_value(value) for name, value in spec.items() if name != "kind"}
    kind = Named if spec["kind"] == "Named" else _KINDS.get(spec["kind"])
    if kind is None:
        raise ValueError(f"no kernel is called {spec['kind']!r}")
    try:
        made: Kernel = kind(**parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a {spec['kind']} kernel cannot have these parameters: {error}") from None
    return made


def _to_value(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_to_value(entry) for entry in value]
    if isinstance(value, (int, float, str)) or value is None:
        return value
    return to_spec(value)


def _from_value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_value(entry) for entry in value)
    return from_spec(value) if isinstance(value, dict) else value
