"""Few open files and little memory: an answer, or one sentence."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from tests.faults.process import btests, program, run
from tests.faults.report import Outcome
from tests.faults.tables import answer, write_samples, write_tables

#: Parts of a folder.
N_PARTS = 300

_FRUGAL = {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "BTESTS_THREADS": "1"}

_FORMS = ("csv", "csv.gz", "json", "parquet", "arrow", "npy")


def few_files(folder: Path, n_files: int = 64, forms: tuple[str, ...] = _FORMS) -> Iterator[Outcome]:
    """Yield the outcomes of comparisons of folders of many parts with few files open at a time."""
    for form in forms:
        _write_parts(folder, form)
        for memory in ("1GB", "1000"):
            command = btests("compare", f"a-{form}", f"b-{form}", "--json", "--memory", memory)
            ended = run(command, folder, limits={resource.RLIMIT_NOFILE: n_files})
            whole = run(command, folder)
            same = ended.is_answered and whole.is_answered and answer(ended.out) == answer(whole.out)
            what = f"{N_PARTS} parts of {form}, --memory {memory}, {n_files} open files"
            yield Outcome(what, "the same bits" if same else "other", "" if same else f"{ended}; {whole}")


def _write_parts(folder: Path, form: str) -> None:
    import gzip

    rng = np.random.default_rng(3)
    for side in "ab":
        parts = folder / f"{side}-{form}"
        parts.mkdir()
        for k in range(N_PARTS):
            rows = rng.normal(size=(8, 2))
            path = parts / f"{k:03d}.{form}"
            text = "u,v\n" + "".join(f"{u:.6f},{v:.6f}\n" for u, v in rows)
            if form == "csv":
                path.write_text(text)
            elif form == "csv.gz":
                path.write_bytes(gzip.compress(text.encode()))
            elif form == "json":
                path.write_text("".join(f'{{"u": {u:.6f}, "v": {v:.6f}}}\n' for u, v in rows))
            elif form == "npy":
                np.save(path, rows)
            else:
                table = pa.table({"u": rows[:, 0], "v": rows[:, 1]})
                (pq.write_table if form == "parquet" else feather.write_feather)(table, path)


def little_memory(folder: Path, n: int) -> Iterator[Outcome]:
    """Yield the outcomes of ``n`` limits of the address space, from what the comparison of small tables takes upwards.

    With less than that the libraries themselves cannot be loaded, and OpenBLAS may try so for ever. One thread and one
    arena: each takes address space that it does not use.
    """
    least = _peak(folder, btests("compare", *write_tables(folder, 100), "--json", "--memory", "1000"))
    samples = write_samples(folder, 300_000)
    for memory in ("20MB", "4GB"):
        command = btests("compare", *samples, "--json", "--memory", memory)
        for limit in np.linspace(least, max(least, _peak(folder, command)), n).astype(int).tolist():
            ended = run(command, folder, limits={resource.RLIMIT_AS: limit}, variables=_FRUGAL)
            how = "answered" if ended.is_answered else "refused" if ended.is_refused else "other"
            if ended.status == 2 and ended.err.startswith("OpenBLAS error: Memory allocation") and ended.is_quiet:
                how = "refused by OpenBLAS"
            wrong = f"at {limit / 1e6:.0f} MB: {ended}" if how == "other" else ""
            yield Outcome(f"limit of the address space, --memory {memory}", how, wrong)


def _peak(folder: Path, command: list[str]) -> int:
    """Return the largest address space that a program takes, in bytes."""
    ended = run(program("peak", *command[3:]), folder, variables=_FRUGAL)
    assert ended.err.startswith("peak "), ended
    return int(ended.err.split()[1]) * 1024
