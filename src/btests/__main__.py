"""The command ``btests``, also as ``python -m btests``."""

from __future__ import annotations

import io
import os
import sys

from btests.cli import main
from btests.cli.interrupts import leave_at_interrupt

TYPE_CHECKING = False  # as in typing, which takes time to import

if TYPE_CHECKING:
    from typing import NoReturn


def run() -> NoReturn:
    """Run the command line, and end the process without the teardown of the interpreter.

    Threads of pyarrow may still read ahead for a reader that an error has abandoned. One that asks for the interpreter
    while it is torn down aborts the process, with status 134 in place of the command's. Everything is written and
    closed before.

    Interrupts are handled first. One that comes earlier, while Python itself starts or imports what the script of the
    installer names, is Python's: no code of a package runs before.
    """
    leave_at_interrupt()
    _reserve_handles()
    _buffer_output()
    _refuse_other_exits()
    try:
        main()
    except SystemExit as ended:
        os._exit(ended.code if isinstance(ended.code, int) else 1)


def _reserve_handles() -> None:
    """Open standard streams that are closed to nothing, so that no file that is opened later takes their place."""
    for handle in (0, 1, 2):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def _buffer_output() -> None:
    """Buffer standard output, also with PYTHONUNBUFFERED.

    Python ignores there how much of a text was written, and loses the rest of it on a disk that is full.
    """
    if sys.stdout is not None and isinstance(sys.stdout.buffer, io.RawIOBase):
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(sys.stdout.buffer), encoding=encoding, errors=errors, line_buffering=True
        )


def _refuse_other_exits() -> None:
    """Let the process end with status 2 where a library ends it.

    OpenBLAS calls exit(1) where it finds no memory, after a sentence of its own, and 1 is an answer of a comparison.
    """
    if os.name == "posix":
        import ctypes

        libc = ctypes.CDLL(None)
        if hasattr(libc, "__cxa_atexit"):
            libc.__cxa_atexit(libc._exit, ctypes.c_void_p(2), None)


if __name__ == "__main__":
    run()
