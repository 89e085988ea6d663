"""Arrow tables, each with a name, from files, standard input, data frames, arrays and mappings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any, TypeVar

from btests._imports import arrow
from btests._memory import free_bytes
from btests._text import shortly
from btests.comparison.compare_options import Options
from btests.comparison.format import option
from btests.comparison.frames import doubles, table_of
from btests.comparison.row_origin import WHOLE, RowOrigin
from btests.data import errors
from btests.data.cell_checks import check_same_columns
from btests.data.csv_parser import DelimiterError
from btests.data.csv_table import TextTable, typed
from btests.data.errors import LargeError, reading
from btests.data.files import TABLES
from btests.data.formats import CONTAINERS, INSIDE, file_of, inside_of, is_stream
from btests.data.fragment import can_be_split
from btests.data.images import image_table
from btests.data.remote import local_copies, shown
from btests.data.table import read_table, table_of_bytes
from btests.data.text_format import AS_FOUND, TextFormat

Found = TypeVar("Found")

#: Memory that a comparison takes at least, in sizes of its files; of compressed files it is several times more.
TIMES_SIZE = 4

# Memory that a table may take at least, whatever the limit.
_LEAST = 2**24


@dataclass(frozen=True, slots=True)
class Loaded:
    """An arrow table, its name, and where its rows are in the source."""

    table: Any
    name: str
    origin: RowOrigin = WHOLE

    @property
    def is_numbered(self) -> bool:
        """Whether its rows are those of the file, from the first on."""
        return self.origin.is_plain


def load(
    source: Any,
    fallback: str,
    text: TextFormat = AS_FOUND,
    skipped: list[str] | None = None,
    memory: int | None = None,
    *,
    notes: list[str] | None = None,
) -> Loaded:
    """Return the table in a file, a data frame (pandas, polars, pyarrow, ...), an array or a mapping of columns.

    Damaged parts of a folder or pattern are excluded and named in ``skipped`` if it is given; encodings that were found
    are named in ``notes``. A comparison of files may take ``memory`` bytes, None for all that are free.
    """
    arrow()  # an error before anything is read where pyarrow is missing
    if isinstance(source, Loaded):
        return source
    if isinstance(source, (str, os.PathLike)):
        with local_copies(os.fspath(source)) as (path,):
            parts = _parts(path, text, skipped, memory, notes)
            found = () if is_stream(path) else TABLES.files(path)
            files = tuple((name, len(_cells(part))) for name, part in parts) if len(found) > 1 else ()
            if TABLES.are_images(found):
                files = tuple((name, 1) for name in found)
            return Loaded(_whole(parts), _called(path), RowOrigin(files=files))
    return Loaded(table_of(source, fallback), fallback)


def distinct_names(names: list[str], sources: list[str]) -> list[str]:
    """Return the names of tables, or their sources where two files in different folders share a name."""
    if len(set(names)) == len(names):
        return names
    return list(map(shown, sources)) if sources[0] != sources[1] else [f"{names[0]} (a)", f"{names[1]} (b)"]


def unused_options(tables: Sequence[Any], options: Options, *, in_pieces: bool) -> list[str]:
    """Return a remark on each option that has no effect on these tables, which are read whole or in pieces."""
    if any(isinstance(table, Loaded) for table in tables):
        return []  # remarks were made when it was loaded
    given = [path_of(table) for table in tables if table is not None]
    notes = []
    if options.checkpoint is not None and (options.is_drawn or not in_pieces):
        drawn = f"the rows that {option('max_rows')} draws are tested in memory"
        why = drawn if in_pieces else "the tables fit into memory"
        notes.append(f"{why}: the checkpoint {options.checkpoint!r} was not needed")
    if options.memory is not None and not in_pieces and not all(map(_is_in_pieces, given)):
        notes.append(f"{option('memory')} is for files that can be read in pieces; these tables were read whole")
    return notes + unused_text_format(given, options.text)


def unused_text_format(given: Sequence[str | None], text: TextFormat) -> list[str]:
    """Return a remark if the format of text is named and no table is text; None is a table that is no file."""
    named = [name for name in ("delimiter", "decimal", "encoding") if getattr(text, name) is not None]
    if not named or any(path and (is_stream(path) or _is_text(path, text.form)) for path in given):
        return []
    return [f"{option(name)} is for CSV files, and no table is one" for name in named]


def path_of(source: Any) -> str | None:
    """Return the path of a table in files, None for any other."""
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else None


def _is_in_pieces(path: str | None) -> bool:
    return path is not None and not is_stream(path) and all(map(can_be_split, TABLES.files(path)))


def _is_text(path: str, form: str | None) -> bool:
    return any((form or TABLES.find(part)) in ("csv", "tsv") for part in TABLES.files(path))


def with_table(sources: Sequence[Any], name: str | None, form: str | None) -> tuple[Any, ...]:
    """Return sources with the name of a table behind ``::`` in those files that hold several, and name none."""
    if name is None:
        return tuple(sources)
    paths = [path_of(source) for source in sources]
    several = [
        path is not None
        and not is_stream(path)
        and inside_of(path) is None
        and Path(path).is_file()
        and (form or TABLES.find(path)) in CONTAINERS
        for path in paths
    ]
    if not any(several):
        raise ValueError(f"{option('table')} is for files that hold several tables, and none does; drop it")
    found = zip(sources, paths, several, strict=True)
    return tuple(f"{path}{INSIDE}{name}" if own else source for source, path, own in found)


def _called(path: str) -> str:
    """Return the name of a file or folder without its path, and a pattern unchanged."""
    if is_stream(path):
        return "standard input" if path == "-" else path
    if inside_of(path) is not None:
        return f"{Path(file_of(path)).name}{INSIDE}{inside_of(path)}"
    return path if has_magic(path) and not Path(path).exists() else Path(path).name or path


def _parts(
    path: str, text: TextFormat, skipped: list[str] | None, memory: int | None, notes: list[str] | None
) -> list[tuple[str, Any]]:
    """Return the parts of a table that can be read, each with its name.

    A comparison takes at least twice the memory of its cells, for which it has ``memory`` bytes, None for all that are
    free.
    """
    most = max(_LEAST, free_bytes() if memory is None else memory) // 2
    with naming_delimiter(), naming_memory(None if memory is None else option("memory")):
        if is_stream(path):
            name = _called(path)
            return [(name, table_of_bytes(_stream(path, name), name, text, most, notes))]
        parts = TABLES.files(path)
        _require_memory(path, sum(os.stat(file_of(part)).st_size for part in parts))
        tables = [(path, image_table(path, parts, most))] if TABLES.are_images(parts) else []
        for part in parts if not tables else ():
            table = good_part(partial(read_table, part, text, most, notes), len(parts) > 1, skipped)
            if table is not None:
                tables.append((part, table))
    if not tables:
        raise ValueError(f"{path!r} has no part that can be read: {skipped[-1] if skipped else ''}")
    return tables


def good_part(read: Callable[[], Found], several: bool, skipped: list[str] | None) -> Found | None:
    """Return the value of ``read()``; None if the part is damaged, one of ``several``, and named in ``skipped``."""
    advice = f"; {option('skip_bad_parts', True)} goes on without such parts"
    return errors.good_part(read, skipped, advice) if several else read()


@contextmanager
def naming_delimiter() -> Iterator[None]:
    """Name the option to set where text is read with the wrong delimiter."""
    try:
        yield
    except DelimiterError as error:
        raise ValueError(f"{error.what} add {option('delimiter', error.delimiter)}") from None


@contextmanager
def naming_memory(limit: str | None) -> Iterator[None]:
    """Name the option to set, if there is one, where a table takes more memory than it may."""
    try:
        yield
    except LargeError as error:
        raised = "" if limit is None else f"raise {limit}, or "
        raise ValueError(f"{error}; {raised}take a part of it") from None


def _stream(path: str, name: str) -> bytes:
    """Return the bytes of standard input or of a pipe, which can be read only once and must fit into memory."""
    if path == "-" and sys.stdin is None:
        raise ValueError("standard input is closed")
    most = max(1, free_bytes() // TIMES_SIZE)
    with reading(name), nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as file:
        data = file.read(most)
        if len(data) == most and file.read(1):
            raise ValueError(
                f"{name} has more than {most / 1e9:.3g} GB, and is read into memory; save it to a file first, "
                "which is read in pieces"
            )
    return data


def _require_memory(path: str, size: int) -> None:
    """Raise if a table that is read whole would leave too little memory for the tests."""
    needed, free = TIMES_SIZE * size, free_bytes()
    if needed > free:
        raise ValueError(
            f"{path!r} has {size / 1e9:.3g} GB and takes at least {needed / 1e9:.3g} GB of memory, of which "
            f"{free / 1e9:.3g} are free; compare a part of it"
        )


def _cells(part: Any) -> Any:
    return part.cells if isinstance(part, TextTable) else part


def _whole(parts: list[tuple[str, Any]]) -> Any:
    """Return the parts of a table, each with its name, as one; the types of text fit the cells of all parts."""
    for where, part in parts:
        _check_file(_cells(part), where)
    if all(isinstance(part, TextTable) for _, part in parts):
        return typed([part for _, part in parts])
    return _joined([(where, typed([part]) if isinstance(part, TextTable) else part) for where, part in parts])


def _check_file(table: Any, where: str) -> None:
    names = table.column_names
    if len(set(names)) < len(names):
        raise ValueError(doubles(names, repr(where)))
    if table.num_columns == 0:
        raise ValueError(f"{where!r} has no columns")
    if table.num_rows == 0:
        raise ValueError(f"{where!r} has a header and no rows")


def _joined(tables: list[tuple[str, Any]]) -> Any:
    pa = arrow()
    (first, found), *rest = tables
    for part, table in rest:
        check_same_columns(first, found.column_names, part, table.column_names)
        try:
            found = pa.concat_tables([found, table.select(found.column_names)], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            what = "has a column of another type than the parts before it"
            raise ValueError(f"{part!r} {what}: {shortly(error)}; make it one type") from None
    return found
