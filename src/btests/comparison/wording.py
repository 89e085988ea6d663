"""How sentences name an option: by its keyword in Python, by its flag at the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_FLAGS = {"value_a": "--a", "value_b": "--b"}

_at_command_line: ContextVar[bool] = ContextVar("at_command_line", default=False)


@contextmanager
def as_flags() -> Iterator[None]:
    """Name options by their flags while this lasts."""
    token = _at_command_line.set(True)
    try:
        yield
    finally:
        _at_command_line.reset(token)


def at_command_line() -> bool:
    """Whether options are named by their flags."""
    return _at_command_line.get()


def option(name: str, value: str | bool | list[str] | None = None) -> str:
    """Return an option as one would write it, with a value if it is given: ``max_rows`` or ``--max-rows``."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not _at_command_line.get():
        return name if value is None else f"{name}={value!r}"
    flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
    if value is None or value is True:
        return flag
    if isinstance(value, list):
        value = ",".join(value)
    return f"{flag} " + ("$'\\t'" if value == "\t" else shlex.quote(str(value)))
