"""Hashes of functions, kernels and selectors by their code and values, stable across processes."""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

# Values that cannot be pickled are identified by their address, in this process only.
_PROCESS = os.urandom(16)


def fingerprint(value: Any) -> str:
    """Return a hash that is equal for equal functions, kernels and selectors, as 32 hexadecimal digits.

    Functions are identified by their code, defaults, closure, and the functions and plain values of their module that
    they refer to. Files and other modules are not part of the hash.

    Parameters
    ----------
    value : object
        A function, a kernel, a selector, or any value that can be pickled.

    Returns
    -------
    str
        First half of a SHA-256 digest.
    """
    found = hashlib.sha256()
    for piece in _pieces(value, {}):
        found.update(len(piece).to_bytes(8, "little") + piece)
    return found.hexdigest()[:32]


def _pieces(value: Any, seen: dict[int, tuple[int, Any]]) -> Iterator[bytes]:
    """Yield the parts of a value as bytes; a value in ``seen``, by its address, is yielded as its number."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        yield f"{type(value).__name__} {value!r}".encode()
        return
    if isinstance(value, (np.ndarray, np.generic)) and not np.asarray(value).dtype.hasobject:
        array = np.asarray(value)
        yield f"array {array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes()
        return
    if id(value) in seen:
        yield f"again {seen[id(value)][0]}".encode()
        return
    seen[id(value)] = len(seen), value  # a reference, so that no other value gets its address
    parts = _parts(value)
    if parts is None:
        yield _pickled(value)
        return
    yield type(value).__qualname__.encode()
    for part in parts:
        yield from _pieces(part, seen)


@functools.singledispatch
def _parts(value: Any) -> list[Any] | None:
    """Return the parts of a value, None if unknown."""
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value) if field.init]
    if callable(value) and hasattr(value, "__dict__") and isinstance(type(value).__call__, FunctionType):
        return [type(value).__call__, vars(value)]
    return None


@_parts.register
def _(value: CodeType) -> list[Any]:
    return [value.co_code, *value.co_names, *value.co_varnames, *value.co_freevars, *value.co_consts]


@_parts.register
def _(value: FunctionType) -> list[Any]:
    cells = [cell.cell_contents for cell in value.__closure__ or () if _is_full(cell)]
    named = [value.__globals__[name] for name in _names(value.__code__) if name in value.__globals__]
    own = [one for one in named if isinstance(one, FunctionType) or _is_plain(one)]
    return [value.__code__, value.__defaults__, value.__kwdefaults__, *cells, *own]


@_parts.register
def _(value: MethodType) -> list[Any]:
    return [value.__func__, value.__self__]


@_parts.register
def _(value: functools.partial) -> list[Any]:  # type: ignore[type-arg]
    return [value.func, *value.args, value.keywords]


@_parts.register(list)
@_parts.register(tuple)
def _(value: Any) -> list[Any]:
    return list(value)


@_parts.register(set)
@_parts.register(frozenset)
def _(value: Any) -> list[Any]:
    return sorted(value, key=repr)


@_parts.register
def _(value: dict) -> list[Any]:  # type: ignore[type-arg]
    return [one for pair in value.items() for one in pair]


@_parts.register
def _(value: type) -> list[Any]:
    return [value.__module__, value.__qualname__]


def _is_plain(value: Any) -> bool:
    """Return whether this is a number, a text, an array of numbers, or a collection of such."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(one) for pair in value.items() for one in pair)
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic))


def _names(code: CodeType) -> list[str]:
    """Return the global names of a function and of the functions inside it."""
    inner = [name for const in code.co_consts if isinstance(const, CodeType) for name in _names(const)]
    return list(dict.fromkeys([*code.co_names, *inner]))


def _is_full(cell: Any) -> bool:
    """Return whether a variable of a closure has a value."""
    try:
        cell.cell_contents  # noqa: B018 - raises if empty
    except ValueError:
        return False
    return True


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)  # hashed, never loaded
    except Exception:  # every kind of object fails in its own way
        return _PROCESS + repr((type(value), id(value))).encode()
