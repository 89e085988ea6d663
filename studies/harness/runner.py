"""Runner of experiments: tasks in worker processes, each stored once, then the reports."""

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

from studies.harness.counts import Row
from studies.harness.experiment import Experiment, Task
from studies.harness.files import write_atomically
from studies.harness.report import write_report

#: Folder of the tasks' rows below that of the results.
TASKS = "tasks"

# One thread per worker. Numpy reads these on import, so workers are spawned and not forked.
_ONE_THREAD = dict.fromkeys(
    ("BTESTS_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


@dataclass(slots=True)
class Progress:
    """State of one experiment: rows of the tasks that are done, tasks that are planned, and those running."""

    experiment: Experiment
    folder: Path
    done: dict[str, list[Row]] = field(default_factory=dict)
    planned: dict[str, Task] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)

    def update(self) -> float:
        """Plan, read what is stored already, and return the cost of the tasks read."""
        saved = 0.0
        while True:
            self.planned = {task.name: task for task in self.experiment.plan(self.done)}
            read = {name: self._read(name) for name in self.planned if name not in self.done}
            stored = {name: rows for name, rows in read.items() if rows is not None}
            if not stored:
                return saved
            self.done |= stored
            saved += sum(self.planned[name].cost for name in stored)

    def pending(self) -> list[Task]:
        """Return the planned tasks that are neither done nor running."""
        return [t for name, t in self.planned.items() if name not in self.done and name not in self.running]

    @property
    def is_complete(self) -> bool:
        """Whether all planned tasks are done."""
        return all(name in self.done for name in self.planned)

    def store(self, task: Task, rows: Sequence[Row]) -> None:
        """Store the rows of a task with their digest."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(list(rows))
        write_atomically(self._file(task.name), f"{text}\n{_digest(text)}\n".encode())
        self.running.discard(task.name)
        self.done[task.name] = json.loads(text)  # as a resumed run reads it

    def in_order(self) -> dict[str, list[Row]]:
        """Return the rows of the planned tasks in the order of the plan."""
        return {name: self.done[name] for name in self.planned}

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _read(self, name: str) -> list[Row] | None:
        """Return the stored rows of a task; None if there are none or their digest differs."""
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
    experiments: Sequence[Experiment],
    out: Path,
    command: Callable[[str], str],
    workers: int,
    advance: Callable[[float, float], None],
) -> list[Path]:
    """Run the tasks that are not stored yet, write the reports, and return their files.

    Parameters
    ----------
    experiments : sequence of Experiment
        What to run.
    out : Path
        Folder of the results.
    command : callable
        From the name of an experiment to the command that makes it, for the reports.
    workers : int
        Number of processes.
    advance : callable
        Called after each task with the cost that is done and the total cost of this run.
    """
    todo = [Progress(experiment, out / TASKS / experiment.name) for experiment in experiments]
    budget = {p.experiment.name: p.experiment.cost - p.update() for p in todo}
    files = list[Path]()
    spent = dict.fromkeys(budget, 0.0)

    def show(progress: Progress) -> None:
        name = progress.experiment.name
        left = sum(task.cost for n, task in progress.planned.items() if n not in progress.done)
        # A search may plan more tasks than it has by now.
        budget[name] = spent[name] if progress.is_complete else max(budget[name], spent[name] + left)
        advance(sum(spent.values()), sum(budget.values()))

    for progress in todo:
        show(progress)
        if progress.is_complete:
            files += _write(progress, out, command)
    if all(progress.is_complete for progress in todo):
        return files
    with _pool(workers) as pool:
        running: dict[Future[Sequence[Row]], tuple[Progress, Task]] = {}
        while True:
            _submit(pool, todo, running, 2 * workers)
            if not running:
                return files
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                progress, task = running.pop(future)
                progress.store(task, future.result())
                progress.update()
                spent[progress.experiment.name] += task.cost
                show(progress)
                if progress.is_complete:
                    files += _write(progress, out, command)


def _submit(
    pool: ProcessPoolExecutor,
    todo: Sequence[Progress],
    running: dict[Future[Sequence[Row]], tuple[Progress, Task]],
    most: int,
) -> None:
    """Submit up to ``most`` tasks; exclusive ones come last, one by one."""
    if any(task.exclusive for _, task in running.values()):
        return
    pending = [(progress, task) for progress in todo for task in progress.pending()]
    chosen = [(progress, task) for progress, task in pending if not task.exclusive]
    if not chosen and not running:
        chosen = pending[:1]
    for progress, task in chosen[: most - len(running)]:
        progress.running.add(task.name)
        running[pool.submit(task.work, *task.arguments)] = progress, task


def _write(progress: Progress, out: Path, command: Callable[[str], str]) -> list[Path]:
    reports = progress.experiment.report(progress.in_order())
    return [file for report in reports for file in write_report(report, out, command(progress.experiment.name))]


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of single-threaded processes, terminated at once if the run is interrupted."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _start_worker)
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


def _start_worker() -> None:
    """Let a worker ignore Ctrl-C, which its parent handles, and end with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
