"""Run many inputs on several workers, minimise what they find, and save it."""

from __future__ import annotations

import os
import pickle
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import IO, Any

from tests.fuzz.calls import random_call
from tests.fuzz.commands import Command, random_command
from tests.fuzz.minimise import smaller
from tests.fuzz.oracle import Outcome
from tests.fuzz.worker import TOLD_AFTER, Case

#: Seconds after which an input hangs.
HANGS_AFTER = TOLD_AFTER + 5.0

#: Folder of findings.
OUT = Path("out", "fuzz")

_ROOT = Path(__file__).parents[2]
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BTESTS_THREADS"), "1") | {
    "MPLBACKEND": "agg"
}


def case_of(seed: int, number: int) -> Case:
    """Return an input by its number: half are commands of the shell, half are calls from Python."""
    rng = Random(f"{seed}/{number}")
    return random_command(rng) if rng.random() < 0.5 else random_call(rng)


class Worker:
    """A process of ``tests.fuzz.worker``, started anew where it ended or hung."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._log = scratch / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, case: Case, seconds: float = HANGS_AFTER) -> Outcome:
        """Return the outcome of an input."""
        process = self._process or self._start()
        answers: IO[bytes] = process.stdout  # type: ignore[assignment]
        try:
            pickle.dump(case, process.stdin)  # type: ignore[arg-type]
            process.stdin.flush()  # type: ignore[union-attr]
            if not select.select([answers], [], [], seconds)[0]:
                self.close()
                return Outcome("finding", f"no answer after {seconds:g} s", self._told())
            outcome: Outcome = pickle.load(answers)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            status = process.wait(60)
            self.close()
            return Outcome("finding", f"the process ended with status {status}", self._told())
        return outcome

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None

    def _start(self) -> subprocess.Popen[bytes]:
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)
        words = [sys.executable, "-m", "tests.fuzz.worker", str(self._scratch), str(self._log)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(words, cwd=_ROOT, env={**os.environ, **_ONE_THREAD}, **pipes)
        return self._process

    def _told(self) -> str:
        return self._log.read_text(errors="replace")[-6000:] if self._log.exists() else ""


@dataclass(slots=True)
class Tally:
    """Counts of outcomes, and the findings by number."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[int, tuple[Case, Outcome]] = field(default_factory=dict)

    def __str__(self) -> str:
        c = self.counts
        n = sum(c.values())
        return f"{n} inputs: {c['verdict']} verdicts, {c['refusal']} refusals, {c['finding']} findings"

    @property
    def verdict_share(self) -> float:
        """Share of inputs that reached a verdict."""
        return self.counts["verdict"] / max(1, sum(self.counts.values()))


@contextmanager
def workers(n: int) -> Iterator[list[Worker]]:
    """Yield workers, each with a scratch folder of its own."""
    with tempfile.TemporaryDirectory(prefix="btests-fuzz-") as folder:
        found = [Worker(Path(folder, str(k))) for k in range(n)]
        try:
            yield found
        finally:
            for worker in found:
                worker.close()


def run(
    seed: int,
    numbers: Iterable[int],
    n_workers: int = 1,
    *,
    out: Path | None = OUT,
    show: Callable[[int, Outcome], None] = lambda number, outcome: None,
) -> Tally:
    """Run inputs by number and return what they led to; findings are minimised and saved below ``out``."""
    tally, lock, left = Tally(), threading.Lock(), iter(list(numbers))

    def drive(worker: Worker) -> None:
        while True:
            with lock:
                number = next(left, None)
            if number is None:
                return
            case = case_of(seed, number)
            outcome = worker.run(case)
            if outcome.kind == "finding" and out is not None:
                case, outcome = smaller(case, outcome, worker.run)
                save(case, outcome, seed, number, out)
            with lock:
                tally.counts[outcome.kind] += 1
                if outcome.kind == "finding":
                    tally.findings[number] = case, outcome
                show(number, outcome)

    with workers(n_workers) as own, ThreadPoolExecutor(n_workers) as pool:
        list(pool.map(drive, own))
    return tally


def save(case: Case, outcome: Outcome, seed: int, number: int, out: Path) -> Path:
    """Write a finding, its files, and the command that repeats it to a folder, and return that."""
    name = re.sub(r"[^a-z0-9]+", "-", outcome.what.lower())[:60].strip("-")
    folder = out / f"{seed}-{number}-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "files").mkdir(parents=True)
    lines = [outcome.what, "", f"python -m tests.fuzz --seed {seed} --only {number}", "", "Minimised:"]
    if isinstance(case, Command):
        for file in case.files:
            file.write(folder / "files")
        lines += [f"  btests {' '.join(map(ascii, case.arguments))}", f"  stdin: {case.stdin or 'none'}"]
    else:
        lines += [f"  {case.source}"]
    text = "\n".join([*lines, "", outcome.detail])
    (folder / "finding.txt").write_text(text, encoding="utf-8", errors="backslashreplace")
    (folder / "case.pickle").write_bytes(pickle.dumps(case))
    return folder
