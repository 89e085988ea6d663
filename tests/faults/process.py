"""Start a program, interrupt it or limit it, and look at how it has ended."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: Seconds after which a program hangs, on a machine with much else to do as well.
LONGEST = 900.0

# What no program may say.
_NOISE = ("Traceback", "Exception ignored", "This should not happen", "Fatal", "terminate called", "core dumped")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program has ended.

    Attributes
    ----------
    status : int
        Exit status; the signal, negative, that has ended it; or 124 where it hung and was killed.
    out, err : str
        Standard output and standard error.
    seconds : float
        Time that it took.
    """

    status: int
    out: str
    err: str
    seconds: float

    @property
    def is_quiet(self) -> bool:
        """Whether standard error holds one line at most, and no traceback."""
        return self.err.strip().count("\n") == 0 and not any(noise in self.err for noise in _NOISE)

    @property
    def is_refused(self) -> bool:
        """Whether the program has ended with one sentence and status 2."""
        return self.status == 2 and self.is_quiet and self.err.startswith("btests: ") and self.err.endswith(".\n")

    @property
    def is_answered(self) -> bool:
        """Whether the program has given an answer, and said nothing else."""
        return self.status in (0, 1) and self.err == ""

    def __str__(self) -> str:
        return f"status {self.status} after {self.seconds:.2f} s, {self.err.strip()[-600:]!r}"


def btests(*arguments: str) -> list[str]:
    """Return the command line as users have it."""
    return [sys.executable, "-m", "btests", *arguments]


def program(*arguments: str) -> list[str]:
    """Return the command line of `tests.faults.program`."""
    return [sys.executable, "-m", "tests.faults.program", *arguments]


def start(
    command: list[str],
    folder: Path,
    *,
    limits: Mapping[int, int] | None = None,
    out: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Return a new process in a folder.

    Parameters
    ----------
    command : list of str
        Program and arguments.
    folder : Path
        Folder that it runs in.
    limits : mapping, optional
        Limits of `resource.setrlimit`.
    out : Path, optional
        File that standard output is appended to; a pipe by default.
    variables : mapping, optional
        Environment variables.
    """

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # which nohup, and a shell's background, ignore
        for what, most in (limits or {}).items():
            resource.setrlimit(what, (most, most))

    root = str(Path(__file__).parents[2])
    # Some versions of Python write part of a .pyc under a limit of file sizes, and every later import fails at that.
    own = {"PYTHONPATH": os.pathsep.join([root, *sys.path]), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = os.environ | own | dict(variables or {})
    with open(os.devnull if out is None else out, "ab") as file:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if out is None else file,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=prepare,  # noqa: PLW1509  no thread is started here
        )


def finish(process: subprocess.Popen[str], began: float | None = None, longest: float = LONGEST) -> Ended:
    """Return how a process ends; kill it where it hangs."""
    began = time.monotonic() if began is None else began
    try:
        out, err = process.communicate(timeout=longest)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        status = 124
    return Ended(status, out or "", err or "", time.monotonic() - began)


def run(
    command: list[str],
    folder: Path,
    *,
    limits: Mapping[int, int] | None = None,
    out: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> Ended:
    """Return how a program ends; see `start`."""
    began = time.monotonic()
    return finish(start(command, folder, limits=limits, out=out, variables=variables), began)


def interrupt(
    command: list[str],
    folder: Path,
    number: signal.Signals,
    moment: float,
    *,
    ready: Path | None,
    variables: Mapping[str, str],
) -> Ended:
    """Return how a program ends that gets a signal after some seconds.

    Parameters
    ----------
    command : list of str
        Program and arguments.
    folder : Path
        Folder that it runs in.
    number : Signals
        The signal.
    moment : float
        Seconds after its start, or after it has made the file ``ready``.
    ready : Path or None
        Before the command begins Python itself answers a SIGINT, with a traceback.
    variables : mapping
        Environment variables.
    """
    began = time.monotonic()
    process = start(command, folder, variables=variables)
    while ready is not None and not ready.exists() and process.poll() is None:
        time.sleep(0.005)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    return finish(process, began)
