"""Ctrl-C: quietly where there is nothing to say, and as an exception where a command can tell how to resume."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # signal makes enumerations, for milliseconds
import os
import sys

TYPE_CHECKING = False  # as in typing, which takes time to import

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

#: Status of a command that was interrupted, as the shell has it.
INTERRUPTED = 130

# Numbers of the signals that were raised as exceptions.
_raised: list[int] = []

# Seconds until an interrupt that could not be raised is raised again.
_LATER = 0.01


def leave_at_interrupt() -> None:
    """End this process at once at an interrupt: before a command has begun, and after it has ended."""
    _handle(_leave)


def raise_at_interrupt() -> None:
    """Raise `KeyboardInterrupt` at an interrupt, also where Python would print it and go on, as in a destructor."""
    sys.unraisablehook = _raise_again
    _handle(_raise)


def was_interrupted() -> bool:
    """Whether an interrupt was raised: where an import swallows it, an error of another kind follows."""
    return bool(_raised)


def _handle(handler: Any) -> None:
    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in the background, or under nohup
            signal.signal(signal.SIGINT, handler)
    except ValueError:  # not the main thread, which alone may do this
        return


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _raise(number: int, frame: FrameType | None) -> None:
    _raised.append(number)
    raise KeyboardInterrupt


def _raise_again(unraisable: sys.UnraisableHookArgs) -> None:
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        import threading

        # Later: an exception that is raised before this function returns cannot be raised either.
        again = threading.Timer(_LATER, _press)
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


def _press() -> None:
    """Interrupt the main thread, also where it sleeps."""
    import threading

    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
