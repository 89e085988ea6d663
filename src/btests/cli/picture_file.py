"""Files of pictures: names that are allowed, and writing without overwriting."""

from __future__ import annotations

from pathlib import Path

import click

from btests.atomic_file import write_file
from btests.cli.output_file import already_there, check_output

_FORMATS = (".png", ".svg", ".pdf")


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
