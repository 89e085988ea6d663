"""Files that are written completely or not at all."""

from __future__ import annotations

from pathlib import Path


def write_atomically(path: Path, content: bytes) -> Path:
    """Write a file under a temporary name, rename it, and return its path."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_bytes(content)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None  # a full disk names no file
    return partial.replace(path)
