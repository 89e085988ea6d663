"""Start a scheduler as a command, as users do, so that it can be killed."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from btests.execution.dask.local_workers import end_workers, start_worker


def free_port() -> int:
    """Return a port without a listener."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def start_scheduler(port: int) -> subprocess.Popen[bytes]:
    """Return the process of a new scheduler."""
    command = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", str(port)]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([*command, "--dashboard-address", "127.0.0.1:0"], **quiet)


@contextmanager
def scheduler_process(port: int, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Yield the address of a scheduler with one worker, and its process."""
    address = f"tcp://127.0.0.1:{port}"
    with start_scheduler(port) as scheduler:
        worker = start_worker(address, str(folder))
        try:
            yield address, scheduler
        finally:
            end_workers([worker])
            scheduler.kill()
