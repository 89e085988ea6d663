"""HTML report of a comparison as one self-contained file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["render", "write"]


def render(comparison: Mapping[str, Any]) -> str:
    """Return the report of a comparison as HTML, with styles, drawings and script inline.

    Parameters
    ----------
    comparison : mapping
        Result of ``Comparison.to_dict()``, or of ``--json``. All numbers on the page are taken from it.

    Raises
    ------
    ImportError
        If jinja2 is not installed; ``pip install 'btests[tables]'`` installs it.
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError("a report needs jinja2: pip install 'btests[tables]'") from error
    from btests.report.page import make

    return make(comparison)


def write(path: str | Path, text: str, force: bool = False) -> Path:
    """Write a page to a file, and return its path; if writing fails, an existing file is unchanged.

    Parameters
    ----------
    path : str or Path
        File to write.
    text : str
        The page.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    FileExistsError
        If ``path`` exists and ``force`` is False.
    """
    path = Path(path)
    data = text.encode("utf-8")  # before anything is opened
    if not force and (path.exists() or path.is_symlink()):
        raise FileExistsError(_exists(path))
    if path.exists() and not path.is_file():  # a device or a pipe, which cannot be replaced
        path.write_bytes(data)
        return path
    # With ``force``, a temporary file next to the target of a link is written and renamed: no partial page is left.
    place = path.resolve()
    draft = place.with_name(f".{place.name}.{os.getpid()}.part") if force else place
    try:
        file = draft.open("xb")
    except FileExistsError:
        raise FileExistsError(_exists(path)) from None
    try:
        with file:
            file.write(data)
        if force:
            if place.exists():
                shutil.copymode(place, draft)
            draft.replace(place)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return path


def _exists(path: Path) -> str:
    return f"{path} exists already: take another name, or force to write over it"
