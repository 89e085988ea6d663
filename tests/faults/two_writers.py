"""Two processes with one output: one of them is refused, or the last one is there whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from btests import PartialResult
from tests.faults.process import Ended, btests, finish, program, run, start
from tests.faults.report import Outcome
from tests.faults.tables import answer, write_samples, write_tables

Commands = tuple[list[str], list[str]]

# Seconds between two starts, in turn: neither is always the first.
_LEADS = (0.0, 0.05, -0.05, 0.4, -0.4)


def campaign(folder: Path, n: int) -> Iterator[Outcome]:
    """Yield the outcomes of ``n`` pairs of processes for each output."""
    tables, samples = write_tables(folder, 1000), write_samples(folder, 20_000)
    for i in range(n):
        lead = _LEADS[i % len(_LEADS)]
        for force in (False, True):
            yield _pages(folder, tables, lead, force=force)
            yield _partial_results(folder, lead, force=force)
            yield _pictures(folder, lead, force=force)
        yield _appended(folder, tables, lead)
        yield _checkpoints(folder, samples, lead)
        yield _same_checkpoint(folder, tables, lead)


def _both(commands: Commands, folder: Path, lead: float, out: Path | None = None) -> tuple[Ended, Ended]:
    first, second = commands if lead >= 0 else commands[::-1]
    one = start(first, folder, out=out)
    time.sleep(abs(lead))
    other = start(second, folder, out=out)
    ended = finish(one), finish(other)
    return ended if lead >= 0 else ended[::-1]


def _judged(what: str, ended: tuple[Ended, Ended], file: Path, whole: Callable[[int], bool], *, force: bool) -> Outcome:
    """Return the outcome of two writers of a file, where ``whole`` tells whether it is that of the first or second."""
    wrote = [one.is_answered for one in ended]
    told = f"{what}{', forced' * force}"
    how = {2: "both have written, the last one is there", 1: "one is refused"}.get(sum(wrote), "none has written")
    fine = all(one.is_answered or one.is_refused for one in ended) and sum(wrote) == 1 + force
    left = [path.name for path in file.parent.glob(f".{file.name}*")]
    is_there = file.exists() and any(wrote[i] and whole(i) for i in range(2))
    wrong = "" if fine and is_there and not left else f"{ended[0]}; {ended[1]}; there: {is_there}; left: {left}"
    file.unlink(missing_ok=True)
    return Outcome(told, how, wrong)


def _pages(folder: Path, tables: tuple[str, str], lead: float, *, force: bool) -> Outcome:
    page = folder / "page.html"
    flags = ["--report", page.name, *["--force"] * force]
    commands = btests("compare", *tables, "--seed", "111", *flags), btests("compare", *tables, "--seed", "222", *flags)

    def whole(i: int) -> bool:
        text = page.read_text(encoding="utf-8")
        return text.rstrip().endswith("</html>") and f"--seed {111 * (i + 1)}" in text

    return _judged("report", _both(commands, folder, lead), page, whole, force=force)


def _partial_results(folder: Path, lead: float, *, force: bool) -> Outcome:
    file = folder / "part.npz"
    how = "force" if force else "new"
    ended = _both((program("save", file.name, "1", how), program("save", file.name, "2", how)), folder, lead)
    return _judged("partial result", ended, file, lambda i: PartialResult.load(file).seed == i + 1, force=force)


def _pictures(folder: Path, lead: float, *, force: bool) -> Outcome:
    file = folder / "demo.svg"
    flags = ["--out", file.name, "--rows", "50", *["--force"] * force]
    ended = _both((btests("demo", "--seed", "1", *flags), btests("demo", "--seed", "2", *flags)), folder, lead)
    return _judged("picture", ended, file, lambda _: file.read_bytes().rstrip().endswith(b"</svg>"), force=force)


def _appended(folder: Path, tables: tuple[str, str], lead: float) -> Outcome:
    """Return the outcome of two answers that are appended to one file, as ``>>`` in a shell does."""
    file = folder / "answers.json"
    command = btests("compare", *tables, "--json")
    ended = _both((command, command), folder, lead, file)
    parts = file.read_text(encoding="utf-8").split("\n}\n")
    same = len(parts) == 3 and parts[2] == "" and answer(parts[0] + "\n}") == answer(parts[1] + "\n}")
    file.unlink()
    fine = same and all(one.is_answered for one in ended)
    return Outcome("JSON, appended", "both are whole" if same else "other", "" if fine else f"{ended[0]}; {ended[1]}")


def _checkpoints(folder: Path, samples: tuple[str, str], lead: float) -> Outcome:
    """Return the outcome of runs of different samples: the file is that of one that was not refused."""
    commands = program("btest", *samples, "run.npz"), program("btest", *samples[::-1], "run.npz")
    ended = _both(commands, folder, lead)
    refused = [one.status == 1 and "is not a checkpoint of this run" in one.err for one in ended]
    fine = all(one.is_answered or no for one, no in zip(ended, refused, strict=True)) and sum(refused) == 1
    again = run(commands[refused.index(False)], folder) if fine else ended[0]
    (folder / "run.npz").unlink(missing_ok=True)
    same = fine and again.is_answered and again.out == ended[refused.index(False)].out
    how = "one is refused" if same else "other"
    return Outcome("checkpoint of two runs", how, "" if same else f"{ended[0]}; {ended[1]}")


def _same_checkpoint(folder: Path, tables: tuple[str, str], lead: float) -> Outcome:
    pieces = ("--memory", "1000", "--block-size", "20", "--json", "--checkpoint", "same.npz")
    command = program("compare", *tables, *pieces)
    ended = (*_both((command, command), folder, lead), run(command, folder))
    (folder / "same.npz").unlink(missing_ok=True)
    answers = [answer(one.out) if one.is_answered else one.status for one in ended]
    same = all(one == answers[0] for one in answers) and ended[0].is_answered
    how = "the same bits, also resumed" if same else "other"
    return Outcome("checkpoint of one run twice", how, "" if same else "; ".join(map(str, ended)))
