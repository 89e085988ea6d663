"""Poll for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], seconds: float = 600.0) -> None:
    """Return when a condition holds; fail after some seconds, which only guard against a hang."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("the condition does not hold")
        time.sleep(0.05)
