"""HTML report of a comparison as one self-contained file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from btests._imports import optional
from btests.atomic_file import write_file

__all__ = ["render", "render_notebook", "write", "write_page"]

#: Schema of a comparison of several groups.
GROUPS = "btests.compare-groups/1"


def render(comparison: Mapping[str, Any]) -> str:
    """Return the report of a comparison as HTML, with styles, drawings and script inline.

    Parameters
    ----------
    comparison : mapping
        Result of ``to_dict()`` of a comparison, or of ``--json``. All numbers on the page are taken from it.

    Raises
    ------
    ImportError
        If jinja2 is not installed; ``pip install 'btests[tables]'`` installs it.
    """
    found = optional("jinja2", "python -m pip install 'btests[tables]'")
    if isinstance(found, str):
        raise ImportError(f"a report needs jinja2; {found}")
    if comparison["schema"] == GROUPS:
        from btests.report.group_page import make_groups

        return make_groups(comparison)
    from btests.report.page import make

    return make(comparison)


def render_notebook(comparison: Mapping[str, Any]) -> str | None:
    """Return a comparison as HTML for a notebook; None where jinja2 is not installed."""
    if isinstance(optional("jinja2", ""), str):
        return None
    if comparison["schema"] == GROUPS:
        from btests.report.group_page import make_groups_notebook

        return make_groups_notebook(comparison)
    from btests.report.page import make_notebook

    return make_notebook(comparison)


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
    try:
        write_file(path, lambda file: file.write(data), force=force)
    except FileExistsError:
        raise FileExistsError(f"{path} exists already: take another name, or force to write over it") from None
    return path


def write_page(self: Any, path: str | Path, *, force: bool = False) -> None:
    """Write the comparison to ``path`` as one HTML page.

    Parameters
    ----------
    path : str or Path
        File to write.
    force : bool, default False
        Overwrite a file that exists.

    Raises
    ------
    FileExistsError
        If ``path`` exists and ``force`` is False.
    """
    write(path, render(self.to_dict()), force=force)
