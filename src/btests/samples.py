"""Samples whose rows are not in memory: from paths and sources to what a test reads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.order import Order, deal
from btests.sources import ArraySource, Dealt, Source, open_source
from btests.statistics import Stored
from btests.validation import check_samples


def is_elsewhere(value: object) -> bool:
    """Whether the rows are in a file, or mapped into memory from one."""
    return isinstance(value, (str, os.PathLike, np.memmap)) or (
        isinstance(value, Source) and not hasattr(value, "dtypes")
    )


@dataclass(frozen=True, slots=True)
class StoredSamples:
    """Two samples of which one or both are in files."""

    x: Stored
    y: Stored

    @classmethod
    def open(cls, x: Any, y: Any, seed: int, shuffle: bool | str) -> StoredSamples:
        """Return the rows of both in a random order; the columns of y are matched to those of x by name."""
        source_x, source_y = _matched(x, y)
        if source_x.width != source_y.width:
            raise ValueError(f"x has {source_x.width} columns and y has {source_y.width}; they must have the same")
        stored = []
        for name, stream, source in (("x", 1, source_x), ("y", 2, source_y)):
            if source.n_rows < 2:
                raise ValueError(f"{name} has {source.n_rows} rows; a test needs at least 2 rows in each sample")
            stored.append(Stored(Dealt(source, _order(source, seed, stream, shuffle)), 0, source.n_rows))
        return cls(*stored)

    @property
    def order(self) -> str:
        """What was done to the order of the rows: of the two, what was less."""
        return max((self.x.dealt.how, self.y.dealt.how), key=["exact", "buffered", "as stored"].index)

    def close(self) -> None:
        """Let go of what was read ahead, and of temporary files."""
        self.x.close()
        self.y.close()


def _matched(x: Any, y: Any) -> tuple[Source, Source]:
    source_x, source_y = _source("x", x), _source("y", y)
    if source_x.names == source_y.names or source_x.names is None or source_y.names is None:
        return source_x, source_y
    _check_names(source_x.names, source_y.names)
    if isinstance(y, (str, os.PathLike)):
        return source_x, open_source(y, columns=source_x.names)
    if isinstance(x, (str, os.PathLike)):
        return open_source(x, columns=source_y.names), source_y
    raise ValueError("the columns of x and y come in different orders; open one with the columns of the other")


def _order(source: Source, seed: int, stream: int, shuffle: bool | str) -> Order:
    edges = source.units()
    if shuffle == "buffered" and edges is None:
        shuffle = True  # any row can be read by itself: there is no need to do less
    return deal(source.n_rows, seed, stream, shuffle, edges=edges)


def _source(name: str, value: Any) -> Source:
    if isinstance(value, (str, os.PathLike)):
        return open_source(value)
    if isinstance(value, np.memmap):
        return ArraySource(value, name)
    if isinstance(value, Source) and not isinstance(value, np.ndarray):
        return value
    rows, _ = check_samples(value, value, objects_allowed=False)
    return ArraySource(rows, name)


def _check_names(names_x: tuple[str, ...], names_y: tuple[str, ...]) -> None:
    only_x, only_y = [c for c in names_x if c not in names_y], [c for c in names_y if c not in names_x]
    if only_x or only_y:
        parts = [f"only in {n}: {', '.join(c)}" for n, c in (("x", only_x), ("y", only_y)) if c]
        raise ValueError(f"the two samples must have the same columns; {'; '.join(parts)}")
