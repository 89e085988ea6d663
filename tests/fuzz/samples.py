"""Samples for calls from Python: rows of many kinds in many containers."""

from __future__ import annotations

import array
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
from PIL import Image
from pyarrow import parquet as pq

from tests.fuzz.files import FORMS, SEVERAL, File
from tests.fuzz.tables import Table

AnyRows = npt.NDArray[Any]

#: Kinds of rows that every test takes, and those that some refuse.
GOOD_KINDS = ("normal", "normal", "float32", "ties", "integers", "boolean", "offset", "skewed")
ODD_KINDS = (
    *("constant", "nan", "infinite", "huge", "tiny", "denormal", "text", "object", "long", "unsigned", "float16"),
    *("complex", "days", "masked", "three", "none", "one column nan", "big endian", "longdouble", "structured"),
)
GOOD_CONTAINERS = (
    "array",
    "array",
    "list",
    "frame",
    "polars",
    "vectors",
    "polars vectors",
    "arrow",
    "fortran",
    "strided",
    "read-only",
    "npy",
    "parquet",
)
ODD_CONTAINERS = (
    "iterator",
    "dask",
    "csv",
    "folder",
    "images",
    "series",
    "mapping",
    "tuple",
    "memmap",
    "bytes",
    "lazy",
    "set",
    "buffer",
    *(f"file.{form}" for form in FORMS),
)

#: Containers that tables are read from, and no arrays of numbers.
TABLES = tuple(f"file.{form}" for form in FORMS)


@dataclass(frozen=True, slots=True)
class Rows:
    """A sample of ``n`` rows and ``d`` columns; ``make()`` returns it, in files of the working folder if need be."""

    n: int
    d: int
    seed: int
    kind: str = "normal"
    container: str = "array"
    shift: float = 0.0

    def make(self) -> Any:
        """Return the sample, as an array where the container cannot hold it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pandas, polars, arrow, dask
            return self._made()

    def _made(self) -> Any:
        rows = _values(self)
        try:
            return _contained(rows, self.container, f"{self.seed}-{self.n}-{self.d}")
        except Exception:
            return rows


def _values(wanted: Rows) -> Any:
    rng = np.random.default_rng(wanted.seed)
    rows = rng.normal(wanted.shift, 1.0, size=(wanted.n, wanted.d))
    if wanted.kind in ("nan", "infinite", "one column nan") and rows.size:
        cell = np.inf if wanted.kind == "infinite" else np.nan
        rows[rng.integers(wanted.n) if wanted.kind != "one column nan" else slice(None), -1] = cell
        return rows
    found: dict[str, Any] = {
        "float32": lambda: rows.astype(np.float32),
        "float16": lambda: rows.astype(np.float16),
        "longdouble": lambda: rows.astype(np.longdouble),
        "big endian": lambda: rows.astype(">f8"),
        "ties": lambda: np.round(rows),
        "integers": lambda: np.round(10 * rows).astype(np.int64),
        "boolean": lambda: rows > 0.0,
        "offset": lambda: rows + 1e6,
        "skewed": lambda: np.exp(2.0 * rows),
        "constant": lambda: np.full_like(rows, 0.1),
        "huge": lambda: rows * 1e299,
        "tiny": lambda: rows * 1e-200,
        "denormal": lambda: rows * 1e-310,
        "text": lambda: rows.round(1).astype(str),
        "object": lambda: rows.astype(object),
        "long": lambda: np.full(rows.shape, 2**63 - 1) - (rows > 0.0),
        "unsigned": lambda: np.full(rows.shape, 2**64 - 1, dtype=np.uint64) - (rows > 0.0).astype(np.uint64),
        "complex": lambda: rows + 1j,
        "days": lambda: np.datetime64("2024-01-01") + np.round(9 * rows).astype("m8[D]"),
        "masked": lambda: np.ma.masked_greater(rows, 1.5),
        "three": lambda: rows[:, :, None],
        "none": lambda: np.where(rows > 1.5, np.array(None), rows),
        "structured": lambda: np.array([tuple(row) for row in rows], dtype=[(f"f{j}", "f8") for j in range(wanted.d)]),
    }
    return found.get(wanted.kind, lambda: rows)()


def _contained(rows: Any, container: str, name: str) -> Any:
    names = [f"c{j}" for j in range(rows.shape[1])] if rows.ndim == 2 else None
    if container in ("frame", "series", "polars", "lazy", "arrow", "parquet", "csv", "mapping") and names is None:
        return rows
    found: dict[str, Any] = {
        "list": rows.tolist,
        "tuple": lambda: tuple(map(tuple, rows.tolist())),
        "fortran": lambda: np.asfortranarray(rows),
        "strided": lambda: np.repeat(rows, 2, axis=0)[::2],
        "read-only": lambda: _frozen(rows),
        "frame": lambda: pd.DataFrame(rows, columns=names),
        "series": lambda: pd.Series(list(rows[:, 0]) if rows.shape[1] else []),
        "polars": lambda: pl.DataFrame({c: list(rows[:, j]) for j, c in enumerate(names or ())}),
        "lazy": lambda: pl.DataFrame({c: list(rows[:, j]) for j, c in enumerate(names or ())}).lazy(),
        "arrow": lambda: pa.table({c: list(rows[:, j]) for j, c in enumerate(names or ())}),
        "vectors": lambda: pd.DataFrame({"v": list(rows), "u": rows[:, 0]}),
        "polars vectors": lambda: pl.DataFrame({"v": rows.tolist()}),
        "mapping": lambda: {c: rows[:, j] for j, c in enumerate(names or ())},
        "iterator": lambda: iter(np.array_split(rows, 3)),
        "bytes": rows.tobytes,
        "buffer": lambda: array.array("d", [1.0, 2.0, 3.0]),
        "set": lambda: set(range(len(rows))),
        "dask": lambda: _dask(rows),
    }
    if container.startswith("file."):
        form = container.removeprefix("file.")
        table = Table(tuple(names or ()), tuple(tuple(rows[:, j].tolist()) for j in range(rows.shape[1])))
        file = File(f"{name}.{form}", table, form, "several" if form in SEVERAL and len(rows) % 2 else "")
        file.write(Path())
        return file.address
    if container in ("npy", "memmap", "parquet", "csv", "folder", "images"):
        return _saved(rows, names, container, name)
    return found.get(container, lambda: rows)()


def _frozen(rows: Any) -> Any:
    rows = rows.copy()
    rows.flags.writeable = False
    return rows


def _dask(rows: Any) -> Any:
    import dask.array as da

    return da.from_array(rows, chunks=(max(1, len(rows) // 3), *rows.shape[1:]))


def _saved(rows: Any, names: list[str] | None, container: str, name: str) -> Any:
    path = Path(f"{name}.{container}")
    if container in ("npy", "memmap"):
        path = path.with_suffix(".npy")
        np.save(path, rows)
        return path if container == "npy" else np.load(path, mmap_mode="r")
    table = pa.table({c: list(rows[:, j]) for j, c in enumerate(names or ())}) if rows.ndim == 2 else None
    if container == "csv":
        pd.DataFrame(rows, columns=names).to_csv(path, index=False)
    elif container == "parquet":
        pq.write_table(table, path, row_group_size=7)
    elif container == "images":
        path.mkdir(exist_ok=True)
        for k, row in enumerate(np.clip(128.0 + 40.0 * rows, 0.0, 255.0).astype(np.uint8)):
            Image.fromarray(row[None]).save(path / f"{k:04d}.png")
    else:
        path.mkdir(exist_ok=True)
        for k, part in enumerate(np.array_split(rows, 3)):
            np.save(path / f"part-{k}.npy", part)
    return str(path)
