"""Checkpoint files and progress of long runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from btests._option_checks import check_seed
from btests.execution.dask import ClusterError
from btests.summary import Summary
from btests.summary_file import arrays_of, parts_of, read_arrays, summaries_of, write_arrays

# Seconds between two saves; the file is small.
_SECONDS = 5.0

Progress = Callable[[int, int], None]


class Recorder:
    """Observer that saves finished chunks to a checkpoint file and reports progress.

    Parameters
    ----------
    path : Path or None
        The file; None for no checkpoint. An existing file must be of the same run, as identified by ``run``.
    run : str
        Everything that the result depends on except the seed, as text.
    seed : int or None
        Seed of the run; None for that of the file, or a fresh one.
    progress : callable, optional
        Called with the rows done and the rows of the current task.
    asked : str
        Option by which the user names a checkpoint file, such as ``--checkpoint FILE``, for messages.
    """

    def __init__(
        self,
        path: Path | None,
        run: str,
        seed: int | None,
        progress: Progress | None = None,
        asked: str = "checkpoint=FILE",
    ) -> None:
        self._path, self._run, self._progress, self._asked = path, run, progress, asked
        self._done: dict[str, tuple[Summary, ...]] = {}
        self._rows = [0, 0]
        self._task = ""
        self._saved = time.monotonic()
        self._stamp: tuple[int, int, int] | None = None  # of the file as this process has read or written it
        known = self._resume(path, seed) if path is not None and path.exists() else None
        self.seed = check_seed(seed if known is None else known)

    def _resume(self, path: Path, seed: int | None) -> int:
        """Load finished chunks from the file, and return the seed."""
        self._stamp = _stamp(path)
        saved, arrays = self._own(path, seed)
        try:
            for i, task in enumerate(saved["tasks"]):
                own = {name.split(":", 1)[1]: a for name, a in arrays.items() if name.startswith(f"{i}:")}
                self._done[task["digest"]] = summaries_of(task["parts"], own, task["n_members"])
            return int(saved["seed"])
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ValueError(f"{str(path)!r} is a damaged checkpoint: {error}") from None

    def _own(self, path: Path, seed: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return header and arrays of the checkpoint in a file; raise if it is of another run."""
        header, arrays = read_arrays(path)
        saved = header.get("checkpoint")
        if not isinstance(saved, dict) or saved.get("run") != self._run or seed not in (None, saved.get("seed")):
            raise ValueError(
                f"{str(path)!r} is not a checkpoint of this run, but of other data, settings or another seed; "
                "remove it, or name another file"
            )
        return saved, arrays

    def begin(self, task: str, n_rows: int) -> tuple[Summary, ...] | None:
        """Start a task of ``n_rows`` rows, and return its summaries from the checkpoint, if any."""
        known = self._done.get(task)
        self._task, self._rows = task, [_rows_in(known), n_rows]
        self._report(0)
        return known

    def advance(self, task: str, n_rows: int, pending: list[tuple[Summary, ...]]) -> None:
        """Report a finished chunk; save the summaries every few seconds and at the end of a task."""
        self._report(n_rows)
        ended = self._rows[0] >= self._rows[1]
        if self._path is None or (time.monotonic() - self._saved < _SECONDS and not ended):
            return
        self.keep(task, pending)

    def keep(self, task: str, pending: list[tuple[Summary, ...]]) -> None:
        """Save the summaries of a task, if there is a checkpoint file."""
        if self._path is not None:
            self._done[task] = tuple(Summary.join(found) for found in zip(*pending, strict=True))
            self._save(self._path)

    def tell(self) -> str:
        """Return how to resume after a failure, as the end of a sentence."""
        if self._path is None:
            return f"with {self._asked} the same call would go on from where it was"
        known, n_rows = self._done.get(self._task), self._rows[1]
        if not self._task and self._done:  # resumed run that has not started its first task
            *_, known = self._done.values()
            n_rows = known[0].plan.n_x + known[0].plan.n_y
        # Count saved rows: an interruption may occur between a chunk and its report.
        done = f"{_rows_in(known)} of {n_rows} rows" if self._done else "nothing"
        return f"the checkpoint {str(self._path)!r} holds {done}, and the same call goes on from there"

    def _report(self, n_rows: int) -> None:
        self._rows[0] += n_rows
        if self._progress is not None:
            self._progress(*self._rows)

    def _save(self, path: Path) -> None:
        arrays: dict[str, Any] = {}
        tasks = []
        for i, (digest, summaries) in enumerate(self._done.items()):
            # Without the symmetry, which the statistic of the same call has again.
            arrays |= {f"{i}:{name}": np.asarray(a) for name, a in arrays_of(summaries).items()}
            tasks.append({"digest": digest, "parts": parts_of(summaries[0]), "n_members": len(summaries)})
        header = {"checkpoint": {"run": self._run, "seed": self.seed, "tasks": tasks}}
        # Another process may have begun with the same file: of the same run the last one to save is right as well.
        is_there = path.exists()  # once: a file that comes after this is not overwritten
        if is_there and _stamp(path) != self._stamp:
            self._own(path, self.seed)
        try:
            write_arrays(path, header, arrays, force=is_there)
        except FileExistsError:  # since a moment ago
            self._own(path, self.seed)
            write_arrays(path, header, arrays)
        self._stamp = _stamp(path)
        self._saved = time.monotonic()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Return what changes with every save: number, size and time of the file; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _rows_in(known: tuple[Summary, ...] | None) -> int:
    """Return the number of rows, of x and y together, in the summaries of a task."""
    if known is None:
        return 0
    plan = known[0].plan
    return round((plan.n_x + plan.n_y) * known[0].values.size / plan.n_blocks)


@contextmanager
def explaining_resume(recorder: Recorder) -> Iterator[None]:
    """Add the state of the checkpoint to the message of a `ClusterError` or a `KeyboardInterrupt`."""
    try:
        yield
    except ClusterError as error:
        raise ClusterError(f"{error}; {recorder.tell()}") from None
    except KeyboardInterrupt as error:
        error.args = (recorder.tell(),)
        raise
