"""Routes by which the same rows reach a test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import feather
from pyarrow import parquet as pq

AnyRows = npt.NDArray[Any]
Route = Callable[[AnyRows, str], Any]


def names_of(rows: AnyRows) -> list[str]:
    """Return names of the columns."""
    return [f"c{j}" for j in range(rows.shape[1])]


def frame(rows: AnyRows, name: str = "") -> pd.DataFrame:
    """Return rows as a data frame of pandas."""
    return pd.DataFrame(rows, columns=names_of(rows))


def table(rows: AnyRows, name: str = "") -> Any:
    """Return rows as a table of arrow."""
    return pa.table({c: rows[:, j] for j, c in enumerate(names_of(rows))})


def npy(rows: AnyRows, name: str) -> str:
    """Write rows to a .npy file and return its path, as all below do with their formats."""
    np.save(f"{name}.npy", rows)
    return f"{name}.npy"


def memmap(rows: AnyRows, name: str) -> AnyRows:
    """Return rows of a mapped file."""
    mapped: AnyRows = np.load(npy(rows, name), mmap_mode="r")
    return mapped


def parquet(rows: AnyRows, name: str) -> str:
    """Write a Parquet file of small row groups."""
    pq.write_table(table(rows), f"{name}.parquet", row_group_size=17)
    return f"{name}.parquet"


def arrow(rows: AnyRows, name: str) -> str:
    """Write an Arrow file of small batches."""
    feather.write_feather(table(rows), f"{name}.arrow", chunksize=13)
    return f"{name}.arrow"


def csv(rows: AnyRows, name: str) -> str:
    """Write a CSV file with as many digits as numbers have."""
    frame(rows).to_csv(f"{name}.csv", index=False)
    return f"{name}.csv"


def packed(rows: AnyRows, name: str) -> str:
    """Write a compressed CSV file."""
    frame(rows).to_csv(f"{name}.csv.gz", index=False)
    return f"{name}.csv.gz"


def parts(rows: AnyRows, name: str) -> str:
    """Write the parts of a folder, the last one first."""
    Path(name).mkdir(exist_ok=True)
    for k, part in reversed(list(enumerate(np.array_split(rows, 4)))):
        parquet(part, f"{name}/part-{k}")
    return name


def dask_array(rows: AnyRows, name: str) -> Any:
    """Return rows as an array of dask."""
    import dask.array as da

    return da.from_array(rows, chunks=(37, rows.shape[1]))


def dask_frame(rows: AnyRows, name: str) -> Any:
    """Return rows as a data frame of dask."""
    import dask.dataframe as dd

    return dd.from_pandas(frame(rows), npartitions=3)


#: Routes whose rows are in memory.
IN_MEMORY: dict[str, Route] = {
    "list": lambda rows, name: rows.tolist(),
    "fortran": lambda rows, name: np.asfortranarray(rows),
    "strided": lambda rows, name: np.repeat(rows, 2, axis=0)[::2],
    "pandas": frame,
    "polars": lambda rows, name: pl.DataFrame({c: rows[:, j] for j, c in enumerate(names_of(rows))}),
    "arrow table": table,
}

#: Routes that are read in chunks.
IN_CHUNKS: dict[str, Route] = {
    **{"npy": npy, "memmap": memmap, "parquet": parquet, "arrow": arrow, "csv": csv, "csv.gz": packed, "parts": parts},
    **{"dask array": dask_array, "dask frame": dask_frame},
}
