"""``btests compare`` on tables larger than the memory that it is given: time and peak memory.

    python benchmarks/comparing.py --rows 20000000 --memory 1GB

writes two Parquet files of mixed columns and one distribution into a temporary folder, compares them in a process of
its own, prints what it printed, and leaves nothing behind.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# Rows that are made and written at a time.
_STEP = 2_000_000


def orders(rng: np.random.Generator, n: int, first: int) -> Any:
    """Return ``n`` orders of a shop, numbered from ``first`` on: ten columns, one of them with holes."""
    shops = np.array([f"shop {i:02d}" for i in range(25)])
    seconds = rng.integers(0, 86400 * 180, n).astype("timedelta64[s]")
    score = rng.normal(size=n)
    rating = np.where(rng.random(n) < 0.3, np.nan, rng.integers(1, 6, n).astype(float))
    return pa.table(
        {
            "order": np.arange(first, first + n),
            "amount": rng.lognormal(3.0, 0.8, n).round(2),
            "items": rng.poisson(3, n),
            "shop": pa.array(shops[rng.zipf(1.5, n) % 25]),
            "paid": pa.array(np.array(["card", "cash", "phone"])[rng.integers(0, 3, n)]),
            "gift": rng.random(n) < 0.1,
            "when": pa.array(np.datetime64("2024-01-01T00:00:00") + seconds),
            "score": score,
            "rating": pa.array(rating, from_pandas=True),
            "temperature": 0.5 * score + rng.normal(size=n),
        }
    )


def write_orders(path: Path, n: int, seed: int) -> None:
    """Write ``n`` orders to a Parquet file, a few million at a time."""
    writer = None
    for first in range(0, n, _STEP):
        rng = np.random.default_rng([seed, first])
        table = orders(rng, min(_STEP, n - first), first)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=500_000)
    if writer is not None:
        writer.close()


def main(arguments: list[str] | None = None) -> int:
    """Write, compare, print; return the status of the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of each table")
    parser.add_argument("--memory", default="300MB", help="as in btests compare")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="btests-tables-") as folder:
        for seed, name in enumerate(("a.parquet", "b.parquet")):
            write_orders(Path(folder) / name, asked.rows, seed)
        command = ["btests", "compare", "a.parquet", "b.parquet", "--memory", asked.memory, "--verbose"]
        print(" ".join(command), flush=True)
        return subprocess.run([sys.executable, "-m", *command], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
