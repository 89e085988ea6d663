"""Waiting for what happens by and by."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(happened: Callable[[], bool], seconds: float = 30.0) -> None:
    """Return when it has happened; fail where it does not at all."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise AssertionError("it has not happened")
        time.sleep(0.05)
