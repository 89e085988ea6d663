"""Long studies in pieces: each is done once, kept as a file, and not done again by a run that goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Protocol, TypeVar

import click

Found = TypeVar("Found")


class Cell(Protocol):
    """A cell of a study: a name for files, and a number of trials."""

    @property
    def name(self) -> str: ...

    @property
    def trials(self) -> int: ...


AnyCell = TypeVar("AnyCell", bound=Cell)


def folder_of(out: Path, quick: bool, seed: int) -> Path:
    """Return where the pieces of a study are kept, made if need be."""
    kept = out / f"pieces-{'quick' if quick else 'full'}-{seed}"
    kept.mkdir(parents=True, exist_ok=True)
    return kept


def run_pieces(
    cells: Sequence[AnyCell],
    size: int,
    work: Callable[[AnyCell, int, int], Found],
    write: Callable[[Path, Found], None],
    *,
    kept: Path,
    seed: int,
    workers: int,
) -> list[Path]:
    """Do ``work(cell, piece, seed)`` for every piece of ``size`` trials that has no file yet, and return all files."""
    pieces = [(cell, p) for cell in cells for p in range(-(-cell.trials // size))]
    files = [kept / f"{cell.name}.{p}.csv" for cell, p in pieces]
    todo = [(piece, file) for piece, file in zip(pieces, files, strict=True) if not file.exists()]
    with (
        ProcessPoolExecutor(workers) as pool,
        click.progressbar(length=len(todo), label="pieces", show_eta=True, show_pos=True) as bar,
    ):
        running = {pool.submit(work, cell, p, seed): file for (cell, p), file in todo}
        for done in as_completed(running):
            write(running[done], done.result())
            bar.update(1)
    return files
