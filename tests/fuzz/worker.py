"""A process that runs inputs one by one and says what they led to.

Inputs come as pickles on standard input, outcomes go as pickles to standard output. The parent watches the clock.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from time import process_time
from typing import Any

from btests import BTestWarning
from btests.cli import main as run_main
from tests.data.http_server import serving
from tests.fuzz.calls import Call
from tests.fuzz.commands import Command
from tests.fuzz.oracle import (
    MAX_BYTES,
    MAX_SECONDS,
    BrokenRuleError,
    Outcome,
    judge_command,
    judge_error,
    judge_result,
    require,
)
from tests.fuzz.random_files import PIPE, SERVED
from tests.fuzz.steps import NAMESPACE

Case = Command | Call

#: Address space of a worker, and of the largest file that it may write: a bound far above what inputs need.
_ADDRESSES, _FILE = 12 * 2**30, 2**28

#: Seconds after which a worker writes where it is.
TOLD_AFTER = 300.0


def run_case(case: Case, folder: Path) -> Outcome:
    """Run an input in a folder of its own, and return its outcome."""
    lines: list[str] = []
    try:
        if isinstance(case, Command):  # some files unpack to more than an input may take
            for file in case.files:
                file.write(folder)
        with _bounds(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = _run_command(case, folder, lines) if isinstance(case, Command) else _run_call(case, folder, lines)
        foreign = [str(found.message) for found in caught if not issubclass(found.category, BTestWarning)]
        require(not foreign, f"a warning that is not ours: {foreign[:1]}")
    except BrokenRuleError as error:
        return Outcome("finding", str(error), "\n".join(lines))
    return outcome


def _run_command(command: Command, folder: Path, lines: list[str]) -> Outcome:
    before = snapshot(folder)
    stdin = (folder / command.stdin).read_bytes() if command.stdin else b""
    with piped(command.arguments, folder) as (arguments, _):
        status, out, err = in_process(arguments, stdin)
    lines += [f"exit status {status}", out[-2000:], err[-4000:]]
    outcome = judge_command(command, status, out, err)
    check_files(command, before, snapshot(folder))
    if command.is_real and not any("\0" in word for word in command.arguments):  # no process has such
        _check_real(command, folder, stdin, outcome, lines)
    return outcome


@contextlib.contextmanager
def piped(arguments: list[str], folder: Path) -> Iterator[tuple[list[str], list[int]]]:
    """Yield a command line with open pipes in place of ``<(cat path)``, and the handles of those.

    Files of the folder are at the addresses that are named, behind some of which there are redirects.
    """
    words, handles, writers = [], [], []
    named = {word.removeprefix(SERVED).partition("::")[0] for word in arguments if word.startswith(SERVED)}
    with serving({name: (folder / name).read_bytes() for name in named}) if named else contextlib.nullcontext() as site:
        for word in arguments:
            if word.startswith(PIPE):
                data = (folder / word.removeprefix(PIPE)[:-1]).read_bytes()
                ours, theirs = os.pipe()
                writers.append(Thread(target=_write, args=(theirs, data)))
                handles.append(ours)
                words.append(f"/dev/fd/{ours}")
            elif site is not None and word.startswith(SERVED):
                words.append(site.url("redirect" if len(word) % 2 else "plain", word.removeprefix(SERVED)))
            else:
                words.append(word)
        for writer in writers:
            writer.start()
        try:
            yield words, handles
        finally:
            for handle in handles:
                os.close(handle)
            for writer in writers:
                writer.join()


def _write(handle: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(handle, "wb") as file:
        file.write(data)


def in_process(arguments: list[str], stdin: bytes) -> tuple[Any, str, str]:
    """Return exit status, standard output and standard error of the command, run in this process."""
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="") for data in (stdin, b"", b"")]
    saved = sys.stdin, sys.stdout, sys.stderr
    status: Any = "none"
    try:
        sys.stdin, sys.stdout, sys.stderr = streams
        run_main(arguments)
    except SystemExit as stop:
        status = stop.code
    except BaseException:
        status = "traceback"
        streams[2].write("".join(traceback.format_exc()).encode("utf-8", "backslashreplace").decode())
    finally:
        sys.stdin, sys.stdout, sys.stderr = saved
    texts = []
    for stream in streams[1:]:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "surrogateescape"))
    return status, texts[0], texts[1]


def _check_real(command: Command, folder: Path, stdin: bytes, outcome: Outcome, lines: list[str]) -> None:
    """Raise unless a process of its own comes to the same outcome."""
    for name in set(snapshot(folder)) - {file.path for file in command.files}:
        if name in command.values("--report", "--out", "--checkpoint") or name.endswith("-demo.png"):
            (folder / name).unlink()
    before = snapshot(folder)
    with piped(command.arguments, folder) as (arguments, handles):
        words = [sys.executable, "-m", "btests", *arguments]
        options: Any = {"cwd": folder, "timeout": TOLD_AFTER, "pass_fds": handles}
        run = subprocess.run(words, input=stdin, capture_output=True, check=False, **options)
    out, err = (text.decode("utf-8", "surrogateescape") for text in (run.stdout, run.stderr))
    lines += ["as a process:", f"exit status {run.returncode}", out[-2000:], err[-4000:]]
    found = judge_command(command, run.returncode, out, err)
    check_files(command, before, snapshot(folder))
    same = (found.kind, found.what) == (outcome.kind, outcome.what)
    require(same or not command.has("--seed"), "another answer of a process of its own")


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def check_files(command: Command, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Raise if a file was changed that the command does not name, or that it was not to overwrite."""
    named = {os.path.normpath(value) for value in command.values("--report", "--out", "--checkpoint")}
    if "demo" in command.words:
        named.add("btests-demo.png")
    if "--demo" in command.arguments:
        named |= {"reference.csv", "current.csv"}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) == after.get(name):
            continue
        require(name in named, f"a file was changed that the command does not name: {name!r}")
        is_own = name in command.values("--checkpoint")
        require(name not in before or command.has("--force") or is_own, f"a file was overwritten: {name!r}")


def _run_call(call: Call, folder: Path, lines: list[str]) -> Outcome:
    lines.append(call.source)
    try:
        result = eval(call.source, dict(NAMESPACE))
    except BrokenRuleError:
        raise
    except Exception as error:
        lines.append("".join(traceback.format_exc()))
        return judge_error(error)
    try:
        return judge_result(result)
    except BrokenRuleError:
        raise
    except Exception as error:
        lines.append("".join(traceback.format_exc()))
        raise BrokenRuleError(f"an exception of {type(error).__name__} from a result") from None


@contextlib.contextmanager
def _bounds() -> Iterator[None]:
    """Raise if what is inside takes much time or memory."""
    _reset_peak()
    began, resident = process_time(), _status("VmRSS")
    yield
    seconds, more = process_time() - began, _status("VmHWM") - resident
    require(seconds <= MAX_SECONDS, f"more than {MAX_SECONDS:g} s of CPU time")
    require(more <= MAX_BYTES, f"more than {MAX_BYTES // 10**6} MB of memory")


def _status(name: str) -> int:
    """Return a number of bytes that Linux knows of this process, 0 elsewhere."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), 0)


def _reset_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def serve(scratch: Path, log: Path) -> None:
    """Run the inputs that come, each in an empty folder below ``scratch``, until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    quiet = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    for number in (1, 2):
        os.dup2(quiet, number)
    told = os.fdopen(quiet, "w")
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE, _FILE))
    temporary = scratch / "temporary"
    temporary.mkdir()
    tempfile.tempdir = str(temporary)
    os.environ["TMPDIR"] = str(temporary)
    cases = os.fdopen(os.dup(0), "rb")
    while True:
        try:
            case = pickle.load(cases)
        except EOFError:
            return
        log.write_bytes(b"")
        faulthandler.dump_traceback_later(TOLD_AFTER, file=told)
        outcome = _in_folder(case, scratch / "case", run_case)
        faulthandler.cancel_dump_traceback_later()
        if outcome.kind != "finding":
            outcome = _with_leftovers(outcome, temporary, log)
        pickle.dump(outcome, answers)
        answers.flush()


def _in_folder(case: Case, folder: Path, run: Callable[[Case, Path], Outcome]) -> Outcome:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    os.chdir(folder)
    return run(case, folder)


def _with_leftovers(outcome: Outcome, temporary: Path, log: Path) -> Outcome:
    """Return a finding where an input left temporary files, or text on the standard error of the process."""
    left = [path.name for path in temporary.iterdir()]
    text = log.read_text(errors="replace")
    if left:
        shutil.rmtree(temporary)
        temporary.mkdir()
        return Outcome("finding", "temporary files were left", ", ".join(left))
    return Outcome("finding", "text of a library on standard error", text[-4000:]) if text else outcome


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]))
