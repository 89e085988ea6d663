"""JSON arrays of records as JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from btests.data.errors import DamagedError
from btests.data.magic import UTF_8

# Space between elements, and a line end, which texts of JSON hold as an escape only.
_SPACE = re.compile(r"[ \t\r\n]*")
_END = re.compile(r"[\r\n]")


def is_array(start: bytes) -> bool:
    """Return whether JSON that begins with these bytes is one array."""
    return start.removeprefix(UTF_8).lstrip()[:1] == b"["


def array_lines(data: bytes, where: str) -> bytes:
    r"""Return an array as lines, one for each element, which are otherwise unchanged.

    Examples
    --------
    >>> array_lines(b'[{"a": 1},\n {"a": [1,\n 2]}]', "x.json")
    b'{"a": 1}\n{"a": [1,  2]}\n'
    """
    text = data.removeprefix(UTF_8).decode("utf-8")
    try:
        return "".join(f"{_END.sub(' ', element)}\n" for element in _elements(text)).encode()
    except json.JSONDecodeError as error:
        raise DamagedError(f"{where!r} is damaged or cut off in line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise DamagedError(f"{where!r} has values that are nested too deep to be read") from None
    except ValueError:  # of Python, at numbers of thousands of digits
        raise DamagedError(f"{where!r} has a number of thousands of digits") from None


def _elements(text: str) -> Iterator[str]:
    """Yield the text of each element of an array."""
    decode = json.JSONDecoder().raw_decode
    place = _after_space(text, _after_space(text, 0) + 1)
    mark = text[place : place + 1]
    while mark != "]":
        end = decode(text, place)[1]
        yield text[place:end]
        place = _after_space(text, end)
        mark = text[place : place + 1]
        if mark not in (",", "]"):
            raise json.JSONDecodeError("a comma or ] is missing", text, place)
        if mark == ",":
            place = _after_space(text, place + 1)
    place = _after_space(text, place + 1)
    if place < len(text):
        raise json.JSONDecodeError("there is more after the array", text, place)


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return place if found is None else found.end()


@contextmanager
def counting_elements() -> Iterator[None]:
    """Say what lines are in messages on the elements of an array."""
    try:
        yield
    except DamagedError as error:
        raise DamagedError(f"{error} (lines are elements of its array)") from None
