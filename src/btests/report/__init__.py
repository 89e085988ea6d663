"""A comparison as one page to share: a file that needs no network, made from the comparison's dictionary alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["render", "write"]


def render(comparison: Mapping[str, Any]) -> str:
    """Return the page of a comparison as HTML: one file with its styles, drawings and script inside.

    Parameters
    ----------
    comparison
        What ``Comparison.to_dict()`` returns, or ``--json`` prints. All numbers on the page are taken from it.

    Raises
    ------
    ImportError
        Without jinja2, which ``pip install 'btests[tables]'`` brings.
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError("a report needs jinja2: pip install 'btests[tables]'") from error
    from btests.report.page import make

    return make(comparison)


def write(path: str | Path, text: str, force: bool = False) -> Path:
    """Write a page to a file, and return its path; a file that exists stays as it is unless ``force`` says otherwise.

    Where writing fails, whatever was there before still is.

    Raises
    ------
    FileExistsError
        When there is something at ``path`` already, and ``force`` is false.
    """
    path = Path(path)
    data = text.encode("utf-8")  # before anything is opened
    if not force and (path.exists() or path.is_symlink()):
        raise FileExistsError(_exists(path))
    if path.exists() and not path.is_file():  # a device or a pipe: nothing to lose, and nothing to put in its place
        path.write_bytes(data)
        return path
    # Beside the file that a link may point to, under an unused name; half a page is worse than none.
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
