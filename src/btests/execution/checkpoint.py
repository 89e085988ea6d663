"""A file to go on from after an interruption, and how far a long run has come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from btests._validation import check_seed
from btests.execution.dask import ClusterError
from btests.kernels.serialization import Named
from btests.partial_result import PartialResult
from btests.partial_result_file import arrays_of, header_of, partial_result_of, read_arrays, write_arrays
from btests.summary import Summary

# Seconds between two savings: little is lost, and a small file costs nothing so often.
_SECONDS = 5.0

Progress = Callable[[int, int], None]


class Recorder:
    """Looks on at the chunks of a run, keeps them in a file, and reports rows done and rows in all.

    Parameters
    ----------
    path
        The file, None for none. One that exists must be of the same run, told by ``run``.
    run
        All that the answer depends on but the seed, as a text.
    seed
        Of the run; None for that of the file, or for a fresh one.
    progress
        Called with the rows done and the rows of the current task.
    asked
        How whoever asked would name a file for this, such as ``--checkpoint FILE``.
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
        known = self._resume(path, seed) if path is not None and path.exists() else None
        self.seed = check_seed(seed if known is None else known)

    def _resume(self, path: Path, seed: int | None) -> int:
        """Read what is done, and return the seed."""
        header, arrays = read_arrays(path)
        told = header.get("checkpoint")
        if not isinstance(told, dict) or told.get("run") != self._run or seed not in (None, told.get("seed")):
            raise ValueError(
                f"{str(path)!r} is not a checkpoint of this run, but of other data, settings or another seed; "
                "remove it, or name another file"
            )
        try:
            for i, task in enumerate(told["tasks"]):
                own = {name.split(":", 1)[1]: a for name, a in arrays.items() if name.startswith(f"{i}:")}
                self._done[task["digest"]] = partial_result_of(task["partial"], own).summaries
            return int(told["seed"])
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ValueError(f"{str(path)!r} is a damaged checkpoint: {error}") from None

    def begin(self, task: str, n_rows: int) -> tuple[Summary, ...] | None:
        """Take note of a task, and return what is done of it."""
        known = self._done.get(task)
        self._task, self._rows = task, [_rows_in(known), n_rows]
        self._report(0)
        return known

    def advance(self, task: str, n_rows: int, pending: list[tuple[Summary, ...]]) -> None:
        """Take note of a chunk; now and then, and at the end of a task, save what is done."""
        self._report(n_rows)
        ended = self._rows[0] >= self._rows[1]
        if self._path is None or (time.monotonic() - self._saved < _SECONDS and not ended):
            return
        self.keep(task, pending)

    def keep(self, task: str, pending: list[tuple[Summary, ...]]) -> None:
        """Save what is done, where there is a file for it."""
        if self._path is not None:
            self._done[task] = tuple(Summary.join(found) for found in zip(*pending, strict=True))
            self._save(self._path)

    def tell(self) -> str:
        """Return how to go on after a failure, as the end of a sentence."""
        if self._path is None:
            return f"with {self._asked} the same call would go on from where it was"
        known, n_rows = self._done.get(self._task), self._rows[1]
        if not self._task and self._done:  # of a run before this one, which has not come so far yet
            *_, known = self._done.values()
            n_rows = known[0].plan.n_x + known[0].plan.n_y
        # From what was saved: an interruption may fall between a chunk and the report of it.
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
            partial = PartialResult(tuple(Named(str(j)) for j in range(len(summaries))), summaries, self.seed)
            arrays |= {f"{i}:{name}": np.asarray(a) for name, a in arrays_of(partial).items()}
            tasks.append({"digest": digest, "partial": header_of(partial)})
        header = header_of(partial) | {"checkpoint": {"run": self._run, "seed": self.seed, "tasks": tasks}}
        write_arrays(path, header, arrays)
        self._saved = time.monotonic()


def _rows_in(known: tuple[Summary, ...] | None) -> int:
    """Return how many rows, of x and y together, are in the summaries of a task, one for each kernel."""
    if known is None:
        return 0
    plan = known[0].plan
    return round((plan.n_x + plan.n_y) * known[0].values.size / plan.n_blocks)


@contextmanager
def telling_how_to_go_on(recorder: Recorder) -> Iterator[None]:
    """Add what the checkpoint holds to what is said of a cluster that fails, or of a user who stops the run."""
    try:
        yield
    except ClusterError as error:
        raise ClusterError(f"{error}; {recorder.tell()}") from None
    except KeyboardInterrupt as error:
        error.args = (recorder.tell(),)
        raise
