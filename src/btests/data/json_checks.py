"""Checks of JSON lines before pyarrow parses them, and error messages in place of those of pyarrow."""

from __future__ import annotations

import io
import re

from btests._text import shortened
from btests.data.errors import DamagedError, quoted

# Values inside one another at most.
_DEEPEST = 500

# Characters of a message of pyarrow that a message quotes.
_MESSAGE = 160

# A key; bytes in which keys are found at a time; cells of a table, and cells for each value, at most.
_KEY = re.compile(rb'"([^"]*)"\s*:')
_PIECE = 2**22
_MOST_CELLS, _SPARSEST = 2_000_000, 20

# A line that is null, maybe after the mark of UTF-8.
_NULL = re.compile(rb"(?m)(?:\A\xef\xbb\xbf|^)[ \t\r]*null\b")

# Brackets, and texts, in which brackets are none.
_MARK = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')

# Words of pyarrow for types of values.
_TYPES = {
    **{"null": "null", "boolean": "true or false", "number": "a number", "string": "text"},
    **{"array": "an array", "object": "an object"},
}


def complaint(message: str, data: bytes, where: str, first_line: int) -> DamagedError | None:
    """Return an error that names the line in place of a message of pyarrow, which counts records from 0."""
    found = re.fullmatch(r"JSON parse error: (.*) in row (\d+)", message, re.DOTALL)
    if found is None:
        return None
    line = first_line + _line_of(data, int(found[2]))
    place = f"line {line}"
    mixed = re.fullmatch(r"Column\(/?(.*)\) changed from (\w+) to (\w+)", found[1], re.DOTALL)
    if mixed is None:
        twice = re.fullmatch(r"Column\(/?(.*)\) was specified twice", found[1], re.DOTALL)
        if twice is not None:
            return DamagedError(f"{where!r} has the key {quoted(twice[1])} twice in {place}")
        return DamagedError(f"{where!r} is damaged or cut off in {place}: {shortened(found[1].rstrip('.'), _MESSAGE)}")
    before, after = (_TYPES.get(name, name) for name in mixed.groups()[1:])
    if not mixed[1]:
        return _no_object(where, after, line)
    what = f"{where!r} has {after} in {place}, column {quoted(mixed[1])}, and {before} in lines before"
    return DamagedError(f"{what}; a column must be of one type")


def _line_of(data: bytes, record: int) -> int:
    """Return the line of a record, both counted from 0; blank lines hold none."""
    records = -1
    for number, line in enumerate(io.BytesIO(data)):
        records += not line.isspace()
        if records == record:
            return number
    return max(0, data.count(b"\n") - 1)


def refuse_depth(data: bytes, where: str, first_line: int) -> None:
    """Raise where values are nested so deep that pyarrow runs out of stack."""
    if data.count(b"[") + data.count(b"{") <= _DEEPEST:
        return
    for number, line in enumerate(data.splitlines(), start=first_line):
        if line.count(b"[") + line.count(b"{") <= _DEEPEST:
            continue
        depth = deepest = 0
        for mark in _MARK.findall(line):
            depth += (mark in (b"[", b"{")) - (mark in (b"]", b"}"))
            deepest = max(deepest, depth)
        if deepest > _DEEPEST:
            raise DamagedError(f"line {number} of {where!r} is nested {deepest} deep, and at most {_DEEPEST} are read")


def refuse_null(data: bytes, where: str, first_line: int) -> None:
    """Raise at a line that is null: where the first is, pyarrow ends the process."""
    found = _NULL.search(data)
    if found is not None:
        raise _no_object(where, "null", first_line + data.count(b"\n", 0, found.start()))


def _no_object(where: str, what: str, line: int) -> DamagedError:
    return DamagedError(f'{where!r} has {what} in line {line}; each line must be an object, such as {{"a": 1}}')


def refuse_keys(data: bytes, where: str) -> None:
    """Raise where lines have so many different keys that nearly all cells of the table would be missing ones.

    Each line has a cell for each key: lines with a key of their own would take time and memory by the square of them.
    """
    n_lines = data.count(b"\n") + 1
    if n_lines * data.count(b":") <= _MOST_CELLS:
        return
    keys: set[bytes] = set()
    n_values = 0
    for start in range(0, len(data), _PIECE):
        found = _KEY.findall(data, start, start + _PIECE)
        n_values += len(found)
        keys.update(found)
    if n_lines * len(keys) > _MOST_CELLS + _SPARSEST * n_values:
        raise ValueError(
            f"{where!r} has {len(keys)} different keys in {n_lines} lines, so that nearly all cells would be "
            "missing; write names that vary as values of a key"
        )
