"""Record batches of an Arrow stream, which has no list of them as an Arrow file has: each has a place in bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from btests.data.cell_checks import arrow
from btests.plan import Index


def stream_outline(path: str) -> tuple[Any, list[int], Index]:
    """Return the schema, and for each record batch its rows and the byte at which it begins: (n_batches,)."""
    ipc = arrow("pyarrow.ipc")
    starts: list[int] = []
    counts: list[int] = []
    with arrow("pyarrow").memory_map(path) as file:
        schema = ipc.open_stream(file).schema
        file.seek(0)
        messages = ipc.MessageReader.open_stream(file)
        while True:
            start = file.tell()
            try:
                message = messages.read_next_message()
            except StopIteration:
                return schema, counts, np.asarray(starts, dtype=np.int64)
            if message.type == "dictionary":  # what a batch means depends on all that was before it
                raise ValueError(
                    f"{path!r} is an Arrow stream with categories, which can only be read from its beginning; save it "
                    "as an Arrow file, as pyarrow.feather.write_feather does"
                )
            if message.type == "record batch":
                starts.append(start)
                counts.append(ipc.read_record_batch(message, schema).num_rows)


def stream_batch(path: str, start: int, names: list[str]) -> Any:
    """Return some columns of the record batch that begins at a byte."""
    ipc = arrow("pyarrow.ipc")
    with arrow("pyarrow").OSFile(path) as file:
        schema = ipc.open_stream(file).schema
        file.seek(start)
        return ipc.read_record_batch(ipc.read_message(file), schema).select(names)
