"""Refuse comparisons again and again: status 2 each time, whatever threads of pyarrow still do."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.faults.process import btests, run
from tests.faults.report import Outcome
from tests.faults.tables import write_samples


def campaign(folder: Path, n: int) -> Iterator[Outcome]:
    """Yield the outcomes of ``n`` refused comparisons, of several kinds in turn."""
    kinds = list(_kinds(folder))
    for i in range(n):
        arguments = kinds[i % len(kinds)]
        ended = run(btests("compare", *arguments), folder)
        how = "refused" if ended.is_refused else f"status {ended.status}"
        yield Outcome(" ".join(arguments), how, "" if ended.is_refused else str(ended))


def _kinds(folder: Path) -> Iterator[tuple[str, ...]]:
    good, _ = write_samples(folder, 60_000)
    rows = np.random.default_rng(2).normal(size=(60_000, 3))
    table = pa.table({name: rows[:, j] for j, name in enumerate("abc")})
    pq.write_table(table, folder / "damaged.parquet", row_group_size=5000)
    damaged = bytearray((folder / "damaged.parquet").read_bytes())
    for place in range(len(damaged) // 2, len(damaged) - 100_000, 3000):
        damaged[place : place + 200] = b"\xff" * 200
    (folder / "damaged.parquet").write_bytes(damaged)
    rows[50_000, 0] = np.inf
    pq.write_table(table.set_column(0, "a", pa.array(rows[:, 0])), folder / "infinite.parquet", row_group_size=5000)
    text = "a,b,c\n" + "".join(f"{u:.6f},{v:.6f},{w:.6f}\n" for u, v, w in rows)
    (folder / "infinite.csv").write_text(text, encoding="utf-8")
    (folder / "ragged.csv").write_text(f"{text[: len(text) // 2]}\n1,2\n{text[len(text) // 2 :]}", encoding="utf-8")
    (folder / "infinite.csv.gz").write_bytes(gzip.compress(text.encode(), 1))
    lines = "".join(f'{{"a": {u:.6f}, "b": {v:.6f}, "c": {w:.6f}}}\n' for u, v, w in rows[:50_000])
    (folder / "broken.json").write_text(f'{lines}{{"a": oops\n{lines}', encoding="utf-8")
    for memory in ("1000", "1GB"):
        for bad in (
            "damaged.parquet",
            "infinite.parquet",
            "infinite.csv",
            "ragged.csv",
            "infinite.csv.gz",
            "broken.json",
        ):
            yield good, bad, "--memory", memory
