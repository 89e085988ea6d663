"""A progress bar on standard error, where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from btests._text import printable

Progress = Callable[[float], None]
Report = Callable[[str, int, int], None]

# Seconds between two updates.
_PAUSE = 0.2


@contextmanager
def watching(label: str = "compare") -> Iterator[tuple[Progress | None, Report | None]]:
    """Yield callbacks of a progress bar: of the completed share, of the rows of a phase; Nones without a terminal.

    ``label`` is the text before the bar of the completed share.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None, None
        return
    bars = Bars(label)
    try:
        yield bars.progress, bars.report
    finally:
        bars.close()


class Bars:
    """One bar for the whole, or, once rows are reported, one for each phase with rows per second and the time left."""

    def __init__(self, label: str = "compare") -> None:
        self._label = label
        self._bar: Any = None
        self._phase = ""
        self._began = self._shown = 0.0
        self._first = 0

    def progress(self, share: float) -> None:
        """Take note of the share of the whole that is done."""
        if self._phase not in ("", self._label):
            if share < 1.0:
                return
            self.close()
            return
        if self._bar is None:
            self._open(self._label, 100)
        self._bar.update(max(0, round(100 * share) - self._bar.pos))

    def report(self, phase: str, done: int, of: int) -> None:
        """Take note of the rows of a phase that are done."""
        now = time.monotonic()
        if phase != self._phase:
            self.close()
            self._open(phase, of)
            self._began, self._first = now, done  # what was done before an interruption takes no time
        elif now - self._shown < _PAUSE and done < of:
            return
        self._shown = now
        self._bar.length = of
        self._bar.update(max(0, done - self._bar.pos), speed(done - self._first, now - self._began))

    def close(self) -> None:
        """End the line of the bar."""
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None

    def _open(self, phase: str, length: int) -> None:
        self._phase = phase
        self._bar = click.progressbar(
            length=max(1, length), label=printable(phase), item_show_func=lambda text: text, file=sys.stderr
        )
        self._bar.render_progress()


def speed(n_rows: int, seconds: float) -> str:
    """Return rows per second in three digits.

    Examples
    --------
    >>> speed(3_000_000, 2.0)
    '1.5M rows/s'
    """
    rate = n_rows / max(seconds, 1e-9) if n_rows else 0.0
    unit, factor = ("M", 1e6) if rate >= 1e6 else ("k", 1e3) if rate >= 1e3 else ("", 1.0)
    return f"{rate / factor:.3g}{unit} rows/s"
