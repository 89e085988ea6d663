"""JSON lines, and arrays of records, as tables."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from btests._imports import arrow
from btests.data.column_type import has_huge, remark_of, whole_type, with_remark
from btests.data.errors import DamagedError, quoted
from btests.data.formats import UTF_8
from btests.data.json_checks import complaint, refuse_depth, refuse_keys, refuse_null

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

# Whole numbers with more digits than floats hold, or those before a point.
_LONG = re.compile(rb"[:\s]-?\d{16,}[.,}\s]")


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
    pa = arrow()
    refuse_depth(data, where, first_line)
    refuse_null(data, where, first_line)
    refuse_keys(data, where)
    types = dict.fromkeys(texts, pa.string())
    try:
        table = _parsed(data, types)
    except pa.ArrowInvalid as error:
        raise complaint(str(error), data, where, first_line) or error from None
    table.validate(full=True)  # pyarrow takes texts that are not UTF-8
    assert table.column_names is not None, "reading names decodes them"
    return _with_digits(table, data, types)


def _parsed(data: bytes, types: Mapping[str, Any]) -> Any:
    pa, reader = arrow(), arrow("pyarrow.json")
    options = reader.ParseOptions(explicit_schema=pa.schema(list(types.items())))
    return reader.read_json(pa.BufferReader(data), reader.ReadOptions(block_size=len(data) + 1), options)


def _with_digits(table: Any, data: bytes, types: Mapping[str, Any]) -> Any:
    """Return a table whose whole numbers beyond 64 bits are decimals, which pyarrow takes for floats.

    Beside numbers with fractions they are floats, with a remark.
    """
    pa = arrow()
    floats = [
        name for name, own in zip(table.column_names, table.columns, strict=True) if pa.types.is_floating(own.type)
    ]
    names = [name for name in floats if has_huge(table[name])]
    if not names or _LONG.search(data) is None:
        return table
    rounded = []
    for name in names:
        wider = {**types, name: whole_type()}
        try:
            table, types = _parsed(data, wider), wider
        except pa.ArrowInvalid:
            rounded.append(name)
    return with_remark(table, rounded, "rounded")


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
        found = pa.concat_tables([part for _, part in parts], promote_options="permissive")
        rounded = {own.name for _, part in parts for own in part.schema if remark_of(own) == "rounded"}
        return with_remark(found, sorted(rounded), "rounded")


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
