"""CPU time of a test, and the machine; neither repeats."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

from btests import _core


def machine() -> str:
    """Return processor, core and Python version in words."""
    loops = f"compiled ({_core.instruction_set()})" if _core.is_available() else "numpy"
    return f"{_processor()}, one of {os.cpu_count()} cores, {loops}, Python {platform.python_version()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return " ".join((names[0] if names else platform.processor() or platform.machine()).split())


def seconds(call: Callable[[], object], least: float = 0.2, repeats: int = 3) -> float:
    """Return the processor time of a call: after a first one, ``repeats`` or more, for ``least`` seconds or more.

    CPU time, not wall time: a worker has one thread, and other load must not count.
    """
    call()
    began, count = time.process_time(), 0
    while count < repeats or (time.process_time() - began < least and count < 1000):
        call()
        count += 1
    return (time.process_time() - began) / count
