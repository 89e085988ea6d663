"""JSON lines, and arrays of records, as tables."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from btests._imports import arrow
from btests._text import shortened
from btests.data.errors import DamagedError, quoted
from btests.data.formats import UTF_8

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


# Bytes of a line at most.
_LONGEST = 2**24

# Bytes that show whether JSON is an array.
_START = 4096

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


def read_json(data: bytes, where: str, texts: tuple[str, ...] = (), *, first_line: int = 1) -> Any:
    """Return the table in JSON lines, which are parsed at once.

    In several blocks pyarrow ends the process where a column of numbers goes on with objects.

    Parameters
    ----------
    data : bytes
        Whole lines.
    where : str
        Name of the file in messages.
    texts : tuple of str
        Columns that are text, also where some of it looks like times.
    first_line : int
        Number of the first line in the file.
    """
    pa, reader = arrow(), arrow("pyarrow.json")
    _refuse_depth(data, where, first_line)
    _refuse_nothing(data, where, first_line)
    _refuse_keys(data, where)
    options = reader.ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in texts]))
    try:
        table = reader.read_json(pa.BufferReader(data), reader.ReadOptions(block_size=len(data) + 1), options)
    except pa.ArrowInvalid as error:
        raise _complaint(str(error), data, where, first_line) or error from None
    table.validate(full=True)  # pyarrow takes texts that are not UTF-8
    assert table.column_names is not None, "reading names decodes them"
    return table


def read_json_blocks(data: bytes, where: str, n_bytes: int) -> Any:
    """Return the table in JSON lines, or in an array; types are inferred from about ``n_bytes`` bytes at a time."""
    if is_array(data[:_START]):
        lines = array_lines(data, where)
        with counting_elements():
            return _read_blocks(lines, where, n_bytes)
    return _read_blocks(data, where, n_bytes)


def _read_blocks(data: bytes, where: str, n_bytes: int) -> Any:
    pa = arrow()
    texts: tuple[str, ...] = ()
    while True:
        blocks = line_blocks(io.BytesIO(data), where, n_bytes, n_bytes)
        parts = [(line, read_json(block, where, texts, first_line=line)) for line, block in blocks]
        if not parts:
            raise DamagedError(f"{where!r} is empty")
        schema = parts[0][1].schema
        try:
            for line, part in parts[1:]:
                schema = _unified(schema, part.schema, where, line)
        except _TimesError as mixed:
            texts = (*texts, str(mixed))
            continue
        return pa.concat_tables([part for _, part in parts], promote_options="permissive")


class _TimesError(Exception):
    """Raised with the name of a column that holds times in one block, and other texts in another."""


def _unified(schema: Any, other: Any, where: str, line: int) -> Any:
    """Return the schema of two blocks, the second of which begins at a line."""
    pa = arrow()
    try:
        return pa.unify_schemas([schema, other], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        for name in schema.names:
            types = schema.field(name).type, other.field(name).type if name in other.names else pa.null()
            try:
                pa.unify_schemas([pa.schema([(name, own)]) for own in types], promote_options="permissive")
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                if pa.string() in types and any(map(pa.types.is_timestamp, types)):
                    raise _TimesError(name) from None
                what = f"{where!r} has cells of type {types[1]} in column {name!r} from line {line} on"
                raise DamagedError(f"{what}, and of type {types[0]} before; a column must be of one type") from None
        raise


# Words of pyarrow for types of values.
_TYPES = {
    **{"null": "null", "boolean": "true or false", "number": "a number", "string": "text"},
    **{"array": "an array", "object": "an object"},
}


def _complaint(message: str, data: bytes, where: str, first_line: int) -> DamagedError | None:
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


def _refuse_depth(data: bytes, where: str, first_line: int) -> None:
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


def _refuse_nothing(data: bytes, where: str, first_line: int) -> None:
    """Raise at a line that is null: where the first is, pyarrow ends the process."""
    found = _NULL.search(data)
    if found is not None:
        raise _no_object(where, "null", first_line + data.count(b"\n", 0, found.start()))


def _no_object(where: str, what: str, line: int) -> DamagedError:
    return DamagedError(f'{where!r} has {what} in line {line}; each line must be an object, such as {{"a": 1}}')


def _refuse_keys(data: bytes, where: str) -> None:
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


def line_blocks(file: Any, where: str, n_bytes: int, longest: int = _LONGEST) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines of an open file, about ``n_bytes`` bytes at a time, with the number of the first, from 1.

    Raise at a line of more than ``longest`` bytes.
    """
    rest, line = b"", 1
    while data := file.read(n_bytes):
        data = rest + data
        cut = data.rfind(b"\n") + 1
        rest = data[cut:]
        if len(rest) > longest:
            raise DamagedError(f"{where!r} has a line of more than {longest / 1e6:.3g} MB")
        if data[:cut].strip():
            yield line, data[:cut]
        line += data.count(b"\n", 0, cut)
    if rest.strip():
        yield line, rest


def json_batches(
    file: Any, where: str, names: tuple[str, ...], columns: list[str], texts: tuple[str, ...], *, n_bytes: int
) -> Iterator[Any]:
    """Yield columns of an open file as tables, ``n_bytes`` bytes of it at a time; ``names`` are all its columns."""
    known = set(names)
    for line, block in line_blocks(file, where, n_bytes):
        table = read_json(block, where, texts, first_line=line)
        new = [name for name in table.column_names if name not in known]
        if new:
            lines = f"lines {line} to {line + len(block.splitlines()) - 1}"
            raise ValueError(f"{where!r} has {quoted(new[0])} in {lines}, which its first lines do not have")
        absent = [name for name in columns if name not in table.column_names]
        for name in absent:
            table = table.append_column(name, arrow().nulls(table.num_rows))
        yield table.select(columns).combine_chunks()
