"""Tables and samples that the programs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def write_samples(folder: Path, n_rows: int = 100_000) -> tuple[str, str]:
    """Write two samples of numbers, x.parquet and y.parquet, that are shuffled on disk."""
    rng = np.random.default_rng(5)
    for name, scale in (("x.parquet", 1.0), ("y.parquet", 1.02)):
        rows = rng.normal(0.0, scale, size=(n_rows, 3))
        pq.write_table(pa.table({"abc"[j]: rows[:, j] for j in range(3)}), folder / name, row_group_size=5000)
    return "x.parquet", "y.parquet"


def write_tables(folder: Path, n_rows: int = 20_000) -> tuple[str, str]:
    """Write two tables of numbers and texts, a.csv and b.csv."""
    rng = np.random.default_rng(6)
    for name in ("a.csv", "b.csv"):
        lines = [
            f"{u:.5f},{v:.5f},{word}"
            for (u, v), word in zip(
                rng.normal(size=(n_rows, 2)), rng.choice(["red", "green", "blue"], n_rows), strict=True
            )
        ]
        (folder / name).write_text("\n".join(["u,v,colour", *lines]) + "\n", encoding="utf-8")
    return "a.csv", "b.csv"


# What the clock and the machine decide, and not the data.
_PASSING = ("seconds", "memory_bytes", "created", "date", "time")


def answer(text: str) -> Any:
    """Return the JSON of a comparison without what differs from run to run."""
    return _without(json.loads(text))


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(part) for name, part in value.items() if name not in _PASSING}
    return [_without(part) for part in value] if isinstance(value, list) else value
