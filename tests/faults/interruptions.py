"""Interrupt a run at random moments; the same call goes on, to the same answer."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.faults.process import Ended, btests, interrupt, program, run
from tests.faults.program import READY, SIGNALLED
from tests.faults.report import Outcome
from tests.faults.tables import answer, write_samples, write_tables

# Interruptions of which one at least comes before the end of a run.
_MANY = 20

# Interruptions before a run is left to end.
_IN_A_ROW = 5


@dataclass(frozen=True, slots=True)
class Run:
    """A call with a checkpoint.

    Attributes
    ----------
    name : str
        For counts.
    arguments : tuple of str
        Of `tests.faults.program`, without the checkpoint.
    tail : tuple of str
        What comes before the checkpoint.
    read : callable
        Answer in standard output.
    is_command : bool
        Whether signals end it with one sentence; a script of a user ends as Python does.
    """

    name: str
    arguments: tuple[str, ...]
    tail: tuple[str, ...]
    read: Callable[[str], Any]
    is_command: bool

    def command(self, checkpoint: str | None) -> list[str]:
        """Return the command line."""
        return program(*self.arguments, *(() if checkpoint is None else (*self.tail, checkpoint)))


def runs(folder: Path, n_tables: int = 20_000, n_samples: int = 100_000) -> list[Run]:
    """Write tables and samples of some rows, and return a comparison and a test of them."""
    tables, samples = write_tables(folder, n_tables), write_samples(folder, n_samples)
    compare = ("compare", *tables, "--memory", "1000", "--block-size", "20", "--json")
    return [
        Run("btests compare", compare, ("--checkpoint",), answer, True),
        Run("btest", ("btest", *samples), (), str, False),
    ]


def campaign(folder: Path, n: int, signals: tuple[signal.Signals, ...], seed: int = 0) -> Iterator[Outcome]:
    """Yield the outcomes of ``n`` interruptions of each run by each signal, and of the runs that go on after them."""
    for one in runs(folder):
        whole = run(one.command(f"{len(one.tail)}.npz"), folder)
        if not whole.is_answered:
            yield Outcome(one.name, "uninterrupted", str(whole))
            continue
        for number in signals:
            rng = np.random.default_rng([seed, number])
            n_stopped = 0
            for first in range(0, n, _IN_A_ROW):
                checkpoint = f"{one.name.replace(' ', '-')}-{number.name}-{first}.npz"
                for _ in range(min(_IN_A_ROW, n - first)):
                    moment = float(rng.uniform(0.0, 1.1 * whole.seconds))
                    found = _interrupted(one, checkpoint, number, moment, folder)
                    n_stopped += found.how.startswith("stopped")
                    yield found
                yield _resumed(one, checkpoint, number, whole, folder)
            if not n_stopped and n >= _MANY:
                yield Outcome(f"{one.name}, {number.name}", "never stopped", "no signal has interrupted a run")


def presses(folder: Path, n: int, seed: int = 0) -> Iterator[Outcome]:
    """Yield the outcomes of Ctrl-C at ``n`` moments from the start of the interpreter on.

    Before this package is imported, the traceback is Python's own.
    """
    command = btests("compare", *write_tables(folder, 8000))
    whole = run(command, folder).seconds
    for moment in np.random.default_rng(seed).uniform(0.0, whole, n).tolist():
        ended = interrupt(command, folder, signal.SIGINT, moment, ready=None, variables={})
        how = "it had ended" if ended.is_answered else "stopped" if ended.status == 128 + signal.SIGINT else "not begun"
        early = ended.status in (1, -signal.SIGINT) and "command_group" not in ended.err
        fine = ended.is_answered or early or (how == "stopped" and ended.is_quiet)
        yield Outcome("Ctrl-C", how, "" if fine else f"after {moment:.3f} s: {ended}")


def after_saves(folder: Path, n_saves: tuple[int, ...], signals: tuple[signal.Signals, ...]) -> Iterator[Outcome]:
    """Yield the outcomes of signals after some saves, and of the runs that go on after them: no clock is involved."""
    for one in runs(folder, n_tables=8000, n_samples=10_000):
        whole = run(one.command(f"{len(one.tail)}.npz"), folder)
        for number in signals:
            checkpoint = f"{len(one.tail)}-{number.name}.npz"
            for n in n_saves:
                ended = run(one.command(checkpoint), folder, variables={SIGNALLED: f"{int(number)}:{n}"})
                stopped = not ended.is_answered and _is_right(one, ended, number)
                yield Outcome(f"{one.name}, {number.name} after {n} saves", "stopped", "" if stopped else str(ended))
            yield _resumed(one, checkpoint, number, whole, folder)


def _resumed(one: Run, checkpoint: str, number: signal.Signals, whole: Ended, folder: Path) -> Outcome:
    ended = run(one.command(checkpoint), folder)
    same = ended.is_answered and one.read(ended.out) == one.read(whole.out)
    wrong = "" if same else f"not the answer without interruption: {ended}; {whole}"
    return Outcome(f"{one.name}, resumed after {number.name}", "the same bits" if same else "other", wrong)


def _interrupted(one: Run, checkpoint: str, number: signal.Signals, moment: float, folder: Path) -> Outcome:
    ready = folder / "ready"
    ready.unlink(missing_ok=True)
    ended = interrupt(
        one.command(checkpoint),
        folder,
        number,
        moment,
        ready=ready if number == signal.SIGINT else None,
        variables={READY: str(ready)},
    )
    has_file = (folder / checkpoint).exists()
    how = "it had ended before" if ended.status in (0, 1) else "stopped"
    how += ", a checkpoint is there" if has_file else ", no checkpoint yet"
    wrong = "" if _is_right(one, ended, number) else f"after {moment:.3f} s: {ended}"
    return Outcome(f"{one.name}, {number.name}", how, wrong)


def _is_right(one: Run, ended: Ended, number: signal.Signals) -> bool:
    if ended.is_answered:
        return True
    if number == signal.SIGKILL:
        return ended.status == -signal.SIGKILL and ended.err == ""
    if not one.is_command:  # SIGTERM ends Python at once, and a SIGINT is a KeyboardInterrupt of the caller
        return ended.status == -number and (number == signal.SIGTERM) == (ended.err == "")
    # Either the command has stopped with one sentence, or it had not begun to answer signals, or no longer.
    said = ended.status == 128 + number and ended.err.strip().startswith("btests: stopped") and ended.is_quiet
    return said or (ended.status == -number and ended.err == "")
