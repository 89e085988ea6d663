"""Tables and views of DuckDB databases, without access to other files or the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Event, Thread
from typing import Any

from btests._imports import arrow, optional
from btests._text import shortly
from btests.data.containers import choose
from btests.data.errors import DamagedError, LargeError, check_memory
from btests.data.record_batches import plain_bytes

# No other file, no network, no extension that is not part of the package, and no variable of Python.
_CONFIG = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "threads": "1",
}

# Settings of a connection; the last one forbids others.
_SETTINGS = ("enable_progress_bar = false", "arrow_large_buffer_size = true", "lock_configuration = true")

_TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = current_catalog() "
    "ORDER BY table_schema <> 'main', table_schema, table_type, table_name"
)

# Rows that are converted at a time: those that DuckDB computes together.
_ROWS = 2048

# Memory that DuckDB needs in any case, and the seconds in which a view may give no rows.
_LEAST, _SECONDS = 2**27, 30.0


def duckdb_table(file: str, wanted: str | None, most_bytes: int | None, seconds: float = _SECONDS) -> Any:
    """Return a table or view of a database; the only one for None.

    Tables of other schemas than the main one are called ``schema.name``.

    Raises
    ------
    LargeError
        If its cells, or what computes them, take more than ``most_bytes`` bytes.
    DamagedError
        If it cannot be read, or a view gives no rows for ``seconds`` seconds.
    """
    duckdb = optional("duckdb", "python -m pip install 'btests[duckdb]'")
    if isinstance(duckdb, str):
        raise ValueError(f"{file!r} is a database of DuckDB, and reading it needs duckdb; {duckdb}")
    try:
        with closing(_connected(duckdb, file, most_bytes)) as database:
            found = database.execute(_TABLES).fetchall()
            tables = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found}
            address = ".".join(map(_quoted, tables[choose(list(tables), wanted, file, "table")]))
            with _interrupting(database.interrupt, seconds) as proceed:
                return _read(database, f"SELECT * FROM {address}", file, most_bytes, proceed)
    except (duckdb.Error, arrow().ArrowException, OSError, UnicodeDecodeError) as error:
        raise _explained(error, file) from None


def _connected(duckdb: Any, file: str, most_bytes: int | None) -> Any:
    limit = {} if most_bytes is None else {"memory_limit": f"{max(_LEAST, most_bytes)}B"}
    database = duckdb.connect(file, read_only=True, config={**_CONFIG, **limit})
    for setting in _SETTINGS:
        database.execute(f"SET {setting}")
    return database


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _read(database: Any, query: str, file: str, most_bytes: int | None, proceed: Callable[[], None]) -> Any:
    """Return the rows of a query; call ``proceed`` after some of them at a time."""
    relation = database.sql(query)
    open_reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader  # before DuckDB 1.4
    reader = open_reader(_ROWS)
    batches, size = [], 0
    for batch in reader:
        proceed()
        size += plain_bytes(batch)
        check_memory(size, most_bytes, file)
        batches.append(batch)
    return arrow().Table.from_batches(batches, reader.schema)


@contextmanager
def _interrupting(interrupt: Callable[[], None], seconds: float) -> Iterator[Callable[[], None]]:
    """Call ``interrupt`` if the block takes so many seconds, anew from each call of what is returned."""
    proceeded, ended = Event(), Event()

    def watch() -> None:
        while proceeded.wait(seconds):
            if ended.is_set():
                return
            proceeded.clear()
        interrupt()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield proceeded.set
    finally:
        ended.set()
        proceeded.set()
        watcher.join()


# Parts of messages of DuckDB, and what they mean.
_REASONS = {
    "INTERRUPT": "has a view that gives no rows for too long, or never ends",
    "disabled by configuration": "has a view of what is outside the file, which is not read",
    "different configuration": "is open in this process with other settings; close that connection first",
    "Could not set lock": "is open in another process, which may write to it; close it there first",
}


def _explained(error: Exception, file: str) -> ValueError:
    """Return the error to raise in place of one of DuckDB, or of pyarrow while it reads from it."""
    text = str(error)
    if "Out of Memory" in text:
        return LargeError(f"{file!r} needs more memory than it may take")
    why = next((reason for part, reason in _REASONS.items() if part in text), None)
    return DamagedError(f"{file!r} {why or f'is not a readable database, or it is damaged: {shortly(error)}'}")
