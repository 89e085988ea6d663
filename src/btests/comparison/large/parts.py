"""One file of a table, read a batch of rows at a time."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from btests.comparison.cells import KINDS, kind_of
from btests.comparison.delimited import MISSING, read_csv, shortly
from btests.comparison.format import counted
from btests.comparison.large.arrays import array_rows
from btests.comparison.need import arrow
from btests.comparison.reading import format_of, known_formats
from btests.data.cell_checks import DamagedError
from btests.data.csv_index import end_of_last_row
from btests.data.magic import ARROW, FEATHER, LONGEST, NUMPY, PARQUET, STREAM, refuse_misnamed

# Rows, and bytes of text, that are read at a time.
_ROWS = 2**16
_BYTES = 2**23

# Rows that tell how long all are.
_FIRST_ROWS = 1000

# How a text file begins: enough to see its header and what separates its cells.
_HEAD = 2**20

# A packed file is so many times larger when it is unpacked, about: for the time left.
_UNPACKED = 5


@dataclass(frozen=True, slots=True)
class Part:
    """One file: CSV and its like as text, anything else by its own types.

    Attributes
    ----------
    path, form
        The file, and what it is: a format of ``btests.comparison.reading``.
    names
        Of all its columns.
    delimiter
        Of text.
    n_rows_about
        How many rows there are, or seem to be.
    texts
        Columns of JSON lines that are text, also where some of it looks like times.
    odd
        Columns that hold what cannot be compared, such as lists, and their types; they are never read.
    piece
        Row groups of Parquet, record batches of Arrow or rows of .npy that are meant, the end excluded; None is all.
    first_row
        Rows of the file before them.
    """

    path: str
    form: str
    names: tuple[str, ...]
    delimiter: str = ","
    n_rows_about: int = 0
    texts: tuple[str, ...] = ()
    odd: tuple[tuple[str, Any], ...] = ()
    piece: tuple[int, int] | None = None
    first_row: int = 0

    @classmethod
    def of(cls, path: Path, delimiter: str | None) -> Part:
        """Return a file as a part; it is damaged where it does not begin as one."""
        form = format_of(path)
        if form is None:
            raise ValueError(f"{str(path)!r} is of no known format by its name; known are {known_formats()}")
        with guarded(str(path)):
            if not path.stat().st_size:
                raise DamagedError(f"{str(path)!r} is empty")
            if form in _BEGINNINGS:
                with path.open("rb") as file:
                    refuse_misnamed(file.read(LONGEST), str(path), *_BEGINNINGS[form])
            return _OPENERS[form](path, form, delimiter)

    @property
    def is_text(self) -> bool:
        """Whether cells are text whose type is still to be told."""
        return self.form in ("csv", "tsv")

    def batches(self, columns: tuple[str, ...]) -> Iterator[Any]:
        """Yield the rows, these columns of them, a record batch at a time."""
        with guarded(self.path):
            for batch in _STREAMS[self.form](self, list(columns)):
                if batch.num_rows:
                    yield plain(batch)


def can_be_read_in_pieces(path: Path) -> bool:
    """Whether a file need not be read whole: it is no archive of arrays, and packed only if it is text."""
    form = format_of(path)
    return form is None or (form in _OPENERS and (path.suffix.lower() != ".gz" or form in ("csv", "tsv", "json")))


@contextmanager
def guarded(path: str) -> Iterator[None]:
    """Say in one sentence that a file is damaged, where a reader does so in its own way."""
    try:
        yield
    except (arrow().ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        text = str(error)
        if "Expected" in text and "columns, got" in text:
            raise DamagedError(f"{path!r} is ragged: {_ragged(text)}") from None
        if "invalid UTF8" in text:
            raise DamagedError(f"{path!r} is not UTF-8 text: {shortly(error)}") from None
        reason = error.strerror if isinstance(error, OSError) and error.strerror else shortly(error)
        raise DamagedError(f"{path!r} is damaged or cut off: {reason}") from None


def _ragged(text: str) -> str:
    wanted, got = text.split("Expected ", 1)[1].split(" columns, got ", 1)
    cells = "".join(letter for letter in got.split(":")[0] if letter.isdigit())
    return f"a line has {counted(int(cells), 'cell')} and the header has {wanted}"


def plain(batch: Any) -> Any:
    """Return a batch with categories as what they are categories of."""
    pa, pc = arrow(), import_module("pyarrow.compute")
    if not any(pa.types.is_dictionary(column.type) for column in batch.columns):
        return batch
    columns = [pc.cast(c, c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in batch.columns]
    return pa.record_batch(columns, names=batch.schema.names)


def _odd(schema: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.type) for field in schema if kind_of(field.type) not in (*KINDS, "empty"))


def _open_parquet(path: Path, form: str, _: str | None) -> Part:
    with import_module("pyarrow.parquet").ParquetFile(path) as file:
        schema = file.schema_arrow
        return Part(str(path), form, tuple(schema.names), n_rows_about=file.metadata.num_rows, odd=_odd(schema))


def _parquet(part: Part, columns: list[str]) -> Iterator[Any]:
    # Pages are read as they are needed: one row group may be larger than memory.
    open_file = import_module("pyarrow.parquet").ParquetFile
    with open_file(part.path, pre_buffer=False, buffer_size=_HEAD) as file:
        groups = list(range(*(part.piece or (0, file.num_row_groups))))
        first = next(file.iter_batches(_FIRST_ROWS, groups, columns), None)
        row_bytes = 1 if first is None else plain(first).nbytes // first.num_rows + 1
        yield from file.iter_batches(max(_FIRST_ROWS, min(_ROWS, _BYTES // row_bytes)), groups, columns)


def _open_arrow(path: Path, form: str, _: str | None) -> Part:
    with arrow().memory_map(str(path)) as file:
        ipc = import_module("pyarrow.ipc")
        if is_stream(path):  # which does not say how many batches there are
            reader = ipc.open_stream(file)
            first = next(iter(reader), None)
            about = 0 if first is None else round(first.num_rows * file.size() / file.tell())
        else:
            reader = ipc.open_file(file)
            about = reader.get_batch(0).num_rows * reader.num_record_batches if reader.num_record_batches else 0
        return Part(str(path), form, tuple(reader.schema.names), n_rows_about=about, odd=_odd(reader.schema))


def _arrow(part: Part, columns: list[str]) -> Iterator[Any]:
    ipc = import_module("pyarrow.ipc")
    with arrow().OSFile(part.path) as file:
        options = ipc.IpcReadOptions(included_fields=[part.names.index(name) for name in columns])
        if is_stream(part.path):
            batches = iter(ipc.open_stream(file, options=options))
        else:
            reader = ipc.open_file(file, options=options)
            batches = (reader.get_batch(i) for i in range(*(part.piece or (0, reader.num_record_batches))))
        for batch in (found.select(columns) for found in batches):
            yield from (batch.slice(first, _ROWS) for first in range(0, batch.num_rows, _ROWS))


def is_stream(path: str | Path) -> bool:
    """Whether record batches come one after another, without a list of them at the end as Arrow files have."""
    with Path(path).open("rb") as file:
        return file.read(len(STREAM)) == STREAM


def _open_text(path: Path, form: str, delimiter: str | None) -> Part:
    packed = path.suffix.lower() == ".gz"
    with gzip.open(path, "rb") if packed else path.open("rb") as file:
        head = file.read(_HEAD)
    whole = head if len(head) < _HEAD else head[: max(end_of_last_row(head), 0)] or head
    used = delimiter or ("\t" if form == "tsv" else ",")
    table = read_csv(whole, str(path), used, guessed=delimiter is None)
    size = path.stat().st_size * (_UNPACKED if packed and len(head) == _HEAD else 1)
    about = round(table.num_rows * max(size, len(whole)) / len(whole))
    return Part(str(path), form, tuple(table.column_names), used, about)


def _text(part: Part, columns: list[str]) -> Iterator[Any]:
    pa, csv = arrow(), import_module("pyarrow.csv")
    options = csv.ConvertOptions(
        include_columns=columns,
        column_types={name: pa.string() for name in columns},
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        null_values=MISSING,
    )
    parse = csv.ParseOptions(delimiter=part.delimiter, newlines_in_values=True)
    with pa.input_stream(part.path, compression="detect") as file:
        yield from csv.open_csv(file, csv.ReadOptions(block_size=_BYTES), parse, options)


def _open_json(path: Path, form: str, _: str | None) -> Part:
    block = next(_line_blocks(str(path)))
    if block.lstrip()[:1] == b"[":
        raise ValueError(f"{str(path)!r} holds one JSON array, not JSON lines; write each record on a line of its own")
    table = _json_table(block)
    packed = path.suffix.lower() == ".gz" and len(block) >= _BYTES
    size = path.stat().st_size * (_UNPACKED if packed else 1)
    about = round(table.num_rows * max(size, len(block)) / len(block))
    return Part(str(path), form, tuple(table.column_names), n_rows_about=about, odd=_odd(table.schema))


def _json(part: Part, columns: list[str]) -> Iterator[Any]:
    pa = arrow()
    done = 0
    for block in _line_blocks(part.path):
        table = _json_table(block, part.texts)
        new = [name for name in table.column_names if name not in part.names]
        if new:
            rows = f"rows {done + 1} to {done + table.num_rows}"
            raise ValueError(f"{part.path!r} has {new[0]!r} in {rows}, which its first rows do not have")
        done += table.num_rows
        absent = [name for name in columns if name not in table.column_names]
        for name in absent:
            table = table.append_column(name, pa.nulls(table.num_rows))
        yield from table.select(columns).combine_chunks().to_batches(max_chunksize=_ROWS)


def _json_table(block: bytes, texts: tuple[str, ...] = ()) -> Any:
    pa, json = arrow(), import_module("pyarrow.json")
    options = json.ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in texts]))
    return json.read_json(io.BytesIO(block), json.ReadOptions(block_size=len(block) + 1), options)


def _line_blocks(path: str) -> Iterator[bytes]:
    """Yield whole lines, some megabytes at a time."""
    rest = b""
    with arrow().input_stream(path, compression="detect") as file:
        while data := file.read(_BYTES):
            data = rest + data
            cut = data.rfind(b"\n") + 1
            rest = data[cut:]
            if data[:cut].strip():
                yield data[:cut]
    if rest.strip():
        yield rest


def _open_npy(path: Path, form: str, _: str | None) -> Part:
    n_rows, first = array_rows(str(path), 0, 1)
    return Part(str(path), form, tuple(first.column_names), n_rows_about=n_rows)


def _npy(part: Part, columns: list[str]) -> Iterator[Any]:
    start, end = part.piece or (0, part.n_rows_about)
    for first in range(start, end, _ROWS):
        table = array_rows(part.path, first, min(first + _ROWS, end))[1]
        yield from table.select(columns).combine_chunks().to_batches()


_OPENERS: dict[str, Callable[[Path, str, str | None], Part]] = {
    "csv": _open_text,
    "tsv": _open_text,
    "parquet": _open_parquet,
    "arrow": _open_arrow,
    "json": _open_json,
    "npy": _open_npy,
}

# What a file of another format is not, and how those of a format begin.
_BEGINNINGS: dict[str, tuple[Any, ...]] = {
    "parquet": ("not a readable Parquet file", PARQUET),
    "arrow": ("not a readable Arrow or Feather file", ARROW, FEATHER, STREAM),
    "npy": ("not a readable numpy file", NUMPY),
}

_STREAMS: dict[str, Callable[[Part, list[str]], Iterator[Any]]] = {
    "csv": _text,
    "tsv": _text,
    "parquet": _parquet,
    "arrow": _arrow,
    "json": _json,
    "npy": _npy,
}
