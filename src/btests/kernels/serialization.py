"""Kernels as names and numbers, for files; user functions by name and hash, never as code."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

from btests import kernels
from btests.kernels.fingerprint import fingerprint
from btests.kernels.kernel import Kernel, Properties
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Named:
    """Placeholder for a user's kernel that was read from a file. It cannot be evaluated.

    Attributes
    ----------
    name : str
        Qualified name of the function or class.
    digest : str
        Hash of its code and values; partial results of different functions do not add.
    """

    properties: ClassVar[Properties] = Properties(takes_stacks=True, takes_objects=False)

    name: str
    digest: str = ""

    def __call__(self, x: Any, y: Any) -> Array:
        """Raise: the function is not here."""
        raise TypeError(f"the kernel {self.name} was a function of its own, which no file holds")

    def __repr__(self) -> str:
        return self.name


def to_spec(kernel: Kernel) -> dict[str, Any]:
    """Return the class name and the parameters of a kernel as values that JSON can hold."""
    kind = type(kernel).__name__
    if _class_of(kind) is not type(kernel) or not is_dataclass(kernel):
        named = _named(kernel)
        return {"kind": "Named", "name": named.name, "digest": named.digest}
    return {"kind": kind} | {f.name: _to_value(getattr(kernel, f.name)) for f in fields(kernel) if f.init}


def _class_of(kind: str) -> Any:
    """Return the class that ``btests.kernels`` exports under a name, None unless it is serializable."""
    found = getattr(kernels, kind, None) if kind in kernels.__all__ else None
    return found if getattr(found, "is_serializable", False) else None


def _named(kernel: Any) -> Named:
    """Return the placeholder of a user's kernel."""
    if isinstance(kernel, Named):
        return kernel
    name = getattr(kernel, "__qualname__", None) or (
        repr(kernel) if is_dataclass(kernel) else type(kernel).__qualname__
    )
    return Named(name, fingerprint(kernel))


def from_spec(spec: Any) -> Kernel:
    """Return the kernel of a specification by `to_spec`; raise ValueError for anything else."""
    if not isinstance(spec, dict) or not isinstance(spec.get("kind"), str):
        raise ValueError("a kernel must have a kind")
    parameters = {name: _from_value(value) for name, value in spec.items() if name != "kind"}
    kind = Named if spec["kind"] == "Named" else _class_of(spec["kind"])
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
