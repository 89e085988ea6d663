"""Files that commands write: refused before any work is done, never overwritten silently."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import click

from btests._imports import optional
from btests.atomic_file import write_file


def output_path(context: click.Context, option: click.Parameter, text: str | None) -> Path | None:
    """Return the path of a file to write, or raise ``UsageError`` if it has no name."""
    if text in ("", "-"):
        why = "has no name" if not text else "is a file, and - is standard output, which has the answer"
        raise click.UsageError(f"{option.opts[0]} {why}; name a file.")
    return None if text is None else Path(text)


def check_output(path: Path, flag: str, what: str, *, force: bool) -> None:
    """Raise ``UsageError`` unless a file can be written.

    Parameters
    ----------
    path : Path
        The file.
    flag : str
        The option that names it.
    what : str
        What is written to it, for messages.
    force : bool
        Whether it may be there.
    """
    name = str(path)
    if path.is_dir():
        raise click.UsageError(f"{flag} must be a file, and {name!r} is a folder.")
    if path.exists() and not path.is_file():  # writing to a pipe waits for a reader
        raise click.UsageError(f"{flag} must be a file, and {name!r} is a pipe or a device.")
    if _is_standard(path):
        raise click.UsageError(f"{flag} {name!r} is where the command prints; name another file.")
    if not path.parent.is_dir():
        raise click.UsageError(f"There is no folder {str(path.parent)!r} to put the {what} in.")
    if not os.access(path.parent, os.W_OK):
        raise click.UsageError(f"The folder {str(path.parent)!r} for the {what} cannot be written to.")
    if (path.exists() or path.is_symlink()) and not force:
        raise click.UsageError(already_there(path, flag))


def already_there(path: Path, flag: str) -> str:
    """Return the sentence on a file that is not overwritten."""
    return f"{str(path)!r} exists already; add --force to overwrite it or name another file with {flag}."


def _is_standard(path: Path) -> bool:
    """Return whether a file is standard output or standard error, such as /dev/stdout."""
    for handle in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                return True
    return False


_FORMATS = (".png", ".svg", ".pdf")


def plotting() -> ModuleType | str:
    """Return matplotlib's figures, or the end of a sentence that says what to do for want of them.

    Its log goes to standard error, where a command has one sentence at most: the first picture of a user makes a list
    of fonts, which takes time and is saved, unless the disk is full.
    """
    import logging  # not before a picture is asked for

    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    return optional("matplotlib.figure", "python -m pip install matplotlib")


def check_picture(out: Path, force: bool) -> None:
    """Raise ``UsageError`` unless a picture can be written to ``out``."""
    if out.suffix.lower() not in _FORMATS:
        raise click.UsageError(f"--out must end in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}, got {str(out)!r}.")
    check_output(out, "--out", "picture", force=force)


def picture_format(out: Path) -> str:
    """Return the format of a picture: png, svg or pdf."""
    return out.suffix.lower().removeprefix(".")


def write_picture(image: bytes, out: Path, force: bool) -> None:
    """Write a picture; an existing file is overwritten only if ``force``, and unchanged if writing fails."""
    try:
        write_file(out, lambda file: file.write(image), force=force)
    except FileExistsError:  # it was not there a moment ago
        raise click.UsageError(already_there(out, "--out")) from None
    except OSError as error:
        raise click.UsageError(f"The picture {str(out)!r} could not be written: {error.strerror}.") from None
