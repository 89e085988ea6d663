"""Types of columns, inferred from parts of a table that are read one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from btests._imports import arrow
from btests.data.text_format import comma_floats

# Forms of cells of text, in the order in which they are tried: types by their names in arrow, whole numbers beyond 64
# bits, digits that are codes by their leading zeros, and numbers with a decimal comma.
_FORMS = ("int64", "bool", "date32", "time32[s]", "timestamp[s]", "timestamp[ns]", "whole", "codes", "float64", "comma")

# Forms that hold all cells of another one, for later cells that do not fit; what fits none is text.
_WIDER = {
    "int64": ("whole", "codes", "float64", "comma"),
    "whole": ("codes", "float64", "comma"),
    "codes": ("float64", "comma"),
    "float64": ("comma",),
    "date32": ("timestamp[s]", "timestamp[ns]"),
    "timestamp[s]": ("timestamp[ns]",),
}

# Forms of types that other files of a table have, where arrow shows another name.
_NAMES = {"double": "float64", "date32[day]": "date32"}

# What cells look like where arrow's casts take more: decimals, and 0 and 1 as truths, which are numbers first.
_WHOLE = r"^\s*[+-]?\d+\s*$"
_PATTERNS = {"whole": _WHOLE, "codes": _WHOLE, "bool": r"^\s*[A-Za-z]+\s*$"}

# Digits that are codes, such as postal ones: as numbers they would lose their zeros.
_CODES = r"^\s*0\d+\s*$"

# Whole numbers, or those before a point, that floats may round.
_LONG = r"^\s*[+-]?\d{16,}(\.\d*)?\s*$"
_EXACT = 2**53

# Digits of whole numbers that are read exactly.
_DIGITS = 37

# Cells of a column that show whether a form may fit.
_FIRST = 100


class MixedError(Exception):
    """A column is text, and was inferred as times before."""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """Type, range and number of the cells of one column so far.

    Attributes
    ----------
    dtype : pyarrow.DataType
        The type; null before the first present cell.
    low, high : number or None
        Range of numbers.
    n_present : int
        Number of cells that are not missing.
    form : str
        How cells of text are read: the name of a type, ``"whole"`` for whole numbers beyond 64 bits, ``"comma"`` for
        numbers with a decimal comma, ``"codes"`` for digits with leading zeros, ``"string"``; empty before the first
        present cell and for cells with types.
    has_point : bool
        Whether numbers have a decimal point that cannot group digits.
    has_long : bool
        Whether there are whole numbers beyond 2^53, which are rounded if the type is that of floats.
    """

    dtype: Any
    low: Any = None
    high: Any = None
    n_present: int = 0
    form: str = ""
    has_point: bool = False
    has_long: bool = False

    @property
    def remark(self) -> str:
        """Remark of the reader of text: ``"codes"``, ``"rounded"``, or empty."""
        if self.form == "codes":
            return self.form
        return "rounded" if self.has_long and arrow().types.is_floating(self.dtype) else ""

    def field(self, name: str) -> Any:
        """Return the field of a table, with the remark as metadata."""
        return arrow().field(name, self.dtype, metadata=remarked(self.remark))

    @classmethod
    def nothing(cls) -> ColumnType:
        """Return the state of a column before its first cell."""
        return cls(arrow().null())

    def after(self, column: Any, commas: str | None) -> ColumnType:
        """Return the state after more cells.

        Parameters
        ----------
        column : pyarrow.Array or pyarrow.ChunkedArray
            The cells.
        commas : str or None
            For text, `TextFormat.commas`; the type is then one that all cells can be read as. None for others.
        """
        pc = arrow("pyarrow.compute")
        n_present = self.n_present + len(column) - column.null_count
        if n_present == self.n_present:
            return self if commas is not None else replace(self, dtype=_common(self.dtype, column.type))
        seen = replace(self, n_present=n_present)
        if commas is not None:
            seen, column = seen.fitted(column, commas)
        else:
            dtype = _common(self.dtype, column.type)
            seen = replace(seen, dtype=dtype, form=self.form if dtype == self.dtype else "")
        if not (_is_number(seen.dtype) and _is_number(column.type)):
            return seen
        ends = pc.min_max(column).as_py()
        low, high = (ends["min"], ends["max"]) if ends["min"] is not None else (self.low, self.high)
        if self.low is not None:
            low, high = min(self.low, low), max(self.high, high)
        return replace(seen, low=low, high=high)

    def fitted(self, text: Any, commas: str) -> tuple[ColumnType, Any]:
        """Return the type of all cells so far and these, without their range, and these cells in it."""
        if text.null_count == len(text):
            return self, self.read(text)
        first = self.form or _NAMES.get(str(self.dtype), str(self.dtype))
        for form in _FORMS if first == "null" else (first, *_WIDER.get(first, ())):
            if (form == "float64" and commas == "named") or (form == "comma" and (not commas or self.has_point)):
                continue
            if form not in _FORMS:  # a type that text does not have
                break
            if _as_form(text.slice(0, _FIRST), form) is None:
                continue
            found = _as_form(text, form)
            if found is not None:
                is_point = form == "float64" and commas == "found" and comma_floats(text) is None
                seen = replace(self, dtype=_dtype(form), form=form, has_point=self.has_point or is_point)
                return replace(seen, has_long=self.has_long or _has_long(text, found)), found
        return replace(self, dtype=arrow().string(), form="string"), text

    def read(self, column: Any) -> Any:
        """Return cells, of text or with types, as the type; raise `pyarrow.ArrowInvalid` where they do not fit."""
        pa = arrow()
        if not (self.form and pa.types.is_string(column.type)):
            return converted(column, self.dtype)
        found = _as_form(column, self.form)
        if found is None:
            raise pa.ArrowInvalid(f"cells that are not {self.form}")
        return found


# Metadata of the fields of a table: what was found as its text was read.
_REMARK = b"btests.remark"


def remarked(remark: str) -> dict[bytes, bytes] | None:
    """Return metadata of a field with a remark; None for an empty one."""
    return {_REMARK: remark.encode()} if remark else None


def with_remark(table: Any, names: Sequence[str], remark: str) -> Any:
    """Return a table whose columns of these names have a remark."""
    schema = table.schema
    for name in names:
        place = schema.get_field_index(name)
        schema = schema.set(place, schema.field(place).with_metadata(remarked(remark)))
    return table.cast(schema) if names else table


def whole_type() -> Any:
    """Return the type of whole numbers beyond 64 bits."""
    return arrow().decimal128(_DIGITS, 0)


def has_huge(cells: Any) -> bool:
    """Return whether cells are numbers, some of which are beyond 2^53."""
    if not _is_number(cells.type):
        return False
    ends = arrow("pyarrow.compute").min_max(cells).as_py()
    return ends["min"] is not None and max(ends["max"], -ends["min"]) > _EXACT


def remark_of(field: Any) -> str:
    """Return the remark in the metadata of a field, ``"codes"`` or ``"rounded"``; empty without one."""
    return str((field.metadata or {}).get(_REMARK, b"").decode())


def converted(column: Any, dtype: Any) -> Any:
    """Return an arrow column as another type; blanks around numbers and times in text are ignored."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if column.type == dtype:
        return column
    if pa.types.is_null(dtype):  # no cell is present, and arrow casts no text to this
        return pa.nulls(len(column))
    if pa.types.is_string(column.type) and not (pa.types.is_string(dtype) or pa.types.is_large_string(dtype)):
        column = pc.utf8_trim_whitespace(column)
        if pa.types.is_time(dtype):
            return _times_of_day(column, dtype)
    return pc.cast(column, dtype)


def _times_of_day(text: Any, dtype: Any) -> Any:
    """Return text such as 12:30 and 12:30:59 as times, as pyarrow's CSV reader does; arrow has no cast for them."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    read = [pc.strptime(text, format=form, unit="s", error_is_null=True) for form in ("%H:%M:%S", "%H:%M")]
    found = pc.coalesce(*read)
    if found.null_count > text.null_count:
        raise pa.ArrowInvalid("not a time of day")
    return pc.cast(found, dtype)


def _is_number(dtype: Any) -> bool:
    types = arrow().types
    return bool(types.is_integer(dtype) or types.is_floating(dtype))


def _dtype(form: str) -> Any:
    pa = arrow()
    own = {"whole": whole_type(), "codes": pa.string(), "comma": pa.float64()}
    return own.get(form) or pa.type_for_alias(form)


def _has_long(text: Any, cells: Any) -> bool:
    """Return whether some numbers are beyond 2^53, and have all their digits in the text."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if pa.types.is_decimal(cells.type):
        return True
    if not has_huge(cells):
        return False
    return bool(pa.types.is_integer(cells.type) or pc.any(pc.match_substring_regex(text, _LONG)).as_py())


def _as_form(text: Any, form: str) -> Any | None:
    """Return cells of text in a form; None if some do not fit."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if form == "comma":
        return comma_floats(text)
    pattern = _PATTERNS.get(form)
    if pattern is not None and not pc.all(pc.match_substring_regex(text, pattern)).as_py():
        return None
    if form in ("int64", "whole") and pc.any(pc.match_substring_regex(text, _CODES)).as_py():
        return None
    try:
        return converted(text, _dtype(form))
    except pa.ArrowInvalid:
        return None


def _common(one: Any, two: Any) -> Any:
    """Return the type that holds cells of both types."""
    pa = arrow()
    if one == two or pa.types.is_null(two):
        return one
    if pa.types.is_null(one):
        return two
    texts = [pa.types.is_string(dtype) or pa.types.is_large_string(dtype) for dtype in (one, two)]
    if any(texts) and any(map(pa.types.is_temporal, (one, two))):
        raise MixedError
    try:
        both = [pa.schema([("cells", dtype)]) for dtype in (one, two)]
        return pa.unify_schemas(both, promote_options="permissive").field(0).type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise ValueError(f"{one} in some rows and {two} in others; make it one type") from None
