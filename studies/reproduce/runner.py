"""Does the pieces of all experiments that are asked for, in worker processes, each once, and writes the reports."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from studies.reproduce.protocol import Experiment, Piece, Row
from studies.reproduce.report import Writer, replace

# One thread a worker: numpy's must know before it is imported, so workers are started anew and not forked.
_ONE_THREAD = dict.fromkeys(("BTESTS_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(slots=True)
class Progress:
    """What is known of one experiment: the pieces that are done, wanted and running."""

    experiment: Experiment
    kept: Path
    done: dict[str, list[Row]] = field(default_factory=dict)
    wanted: dict[str, Piece] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)

    def look(self) -> float:
        """Ask what is wanted and read what is kept already; return what the pieces read would have cost."""
        saved = 0.0
        while True:
            self.wanted = {piece.name: piece for piece in self.experiment.plan(self.done)}
            read = {name: self._read(name) for name in self.wanted if name not in self.done}
            found = {name: rows for name, rows in read.items() if rows is not None}
            if not found:
                return saved
            self.done |= found
            saved += sum(self.wanted[name].cost for name in found)

    def waiting(self) -> list[Piece]:
        """Return the pieces that nobody does yet."""
        return [p for name, p in self.wanted.items() if name not in self.done and name not in self.running]

    @property
    def is_complete(self) -> bool:
        """Whether nothing more is wanted."""
        return all(name in self.done for name in self.wanted)

    def keep(self, piece: Piece, rows: Sequence[Row]) -> None:
        """Keep what a piece found, in a file that appears whole or not at all."""
        self.kept.mkdir(parents=True, exist_ok=True)
        text = json.dumps(list(rows))
        replace(self._file(piece.name), f"{text}\n{_digest(text)}\n".encode())
        self.running.discard(piece.name)
        self.done[piece.name] = json.loads(text)  # as a run that goes on will read it

    def in_order(self) -> dict[str, list[Row]]:
        """Return what is done in the order in which it is wanted, whatever the order in which it came."""
        return {name: self.done[name] for name in self.wanted}

    def _file(self, name: str) -> Path:
        return self.kept / f"{name}.json"

    def _read(self, name: str) -> list[Row] | None:
        """Return what is kept of a piece; None where it is not there, or not as it was written."""
        try:
            text, _, digest = self._file(name).read_text(encoding="utf-8").partition("\n")
        except (FileNotFoundError, ValueError):
            return None
        if digest.strip() != _digest(text):
            return None
        rows: list[Row] = json.loads(text)
        return rows


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def run(
    experiments: Sequence[Experiment], out: Path, options: str, workers: int, advance: Callable[[float, float], None]
) -> list[Path]:
    """Do what is not done yet, write the reports, and return their files.

    ``options`` are those of the command that results depend on. ``advance`` is told after each piece how much of the
    work is done, and how much there is in this run.
    """
    todo = [Progress(experiment, out / "pieces" / experiment.name) for experiment in experiments]
    budget = {p.experiment.name: p.experiment.cost - p.look() for p in todo}
    files = list[Path]()
    spent = dict.fromkeys(budget, 0.0)

    def tell(progress: Progress) -> None:
        name = progress.experiment.name
        waiting = sum(p.cost for n, p in progress.wanted.items() if n not in progress.done)
        # What is known to be left, or more where a search will ask for more than it has asked for by now.
        budget[name] = spent[name] if progress.is_complete else max(budget[name], spent[name] + waiting)
        advance(sum(spent.values()), sum(budget.values()))

    for progress in todo:
        tell(progress)
        if progress.is_complete:
            files += _write(progress, out, options)
    if all(progress.is_complete for progress in todo):
        return files
    with _pool(workers) as pool:
        running: dict[Future[Sequence[Row]], tuple[Progress, Piece]] = {}
        while True:
            _start(pool, todo, running, 2 * workers)
            if not running:
                return files
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                progress, piece = running.pop(future)
                progress.keep(piece, future.result())
                progress.look()
                spent[progress.experiment.name] += piece.cost
                tell(progress)
                if progress.is_complete:
                    files += _write(progress, out, options)


def _start(
    pool: ProcessPoolExecutor,
    todo: Sequence[Progress],
    running: dict[Future[Sequence[Row]], tuple[Progress, Piece]],
    most: int,
) -> None:
    """Give the pool work, so much that no worker waits; pieces that measure time come last, one by one."""
    if any(piece.alone for _, piece in running.values()):
        return
    waiting = [(progress, piece) for progress in todo for piece in progress.waiting()]
    beside = [(progress, piece) for progress, piece in waiting if not piece.alone]
    if not beside and not running:
        beside = waiting[:1]
    for progress, piece in beside[: most - len(running)]:
        progress.running.add(piece.name)
        running[pool.submit(piece.work, *piece.arguments)] = progress, piece


def _write(progress: Progress, out: Path, options: str) -> list[Path]:
    writer = Writer(out, f"python -m studies.reproduce {progress.experiment.name} {options}")
    return [file for report in progress.experiment.report(progress.in_order()) for file in writer.write(report)]


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of processes of one thread each; where the run is broken off, they end at once."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin)
    try:
        yield pool
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin() -> None:
    """Prepare a worker: Ctrl-C is its parent's business, and it does not outlive that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
