"""Files of pictures: names that are allowed, and writing without overwriting."""

from __future__ import annotations

from pathlib import Path

import click

_FORMATS = (".png", ".svg", ".pdf")


def check_picture(out: Path, force: bool) -> None:
    """Raise ``UsageError`` unless a picture can be written to ``out``."""
    if out.suffix.lower() not in _FORMATS:
        raise click.UsageError(f"--out must end in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}, got {str(out)!r}.")
    if out.is_dir():
        raise click.UsageError(f"--out must be a file, and {str(out)!r} is a folder.")
    if not out.parent.is_dir():
        raise click.UsageError(f"There is no folder {str(out.parent)!r} to put the picture in.")
    if out.exists() and not force:
        raise click.UsageError(_already_there(out))


def picture_format(out: Path) -> str:
    """Return the format of a picture: png, svg or pdf."""
    return out.suffix.lower().removeprefix(".")


def write_picture(image: bytes, out: Path, force: bool) -> None:
    """Write a picture; an existing file is overwritten only if ``force``."""
    try:
        with out.open("wb" if force else "xb") as file:
            file.write(image)
    except FileExistsError:  # it was not there a moment ago
        raise click.UsageError(_already_there(out)) from None
    except OSError as error:
        raise click.UsageError(f"The picture {str(out)!r} could not be written: {error.strerror}.") from None


def _already_there(out: Path) -> str:
    return f"{str(out)!r} exists already; add --force to overwrite it or name another file with --out."
