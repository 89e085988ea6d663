"""Everything that a command prints: the one place where text leaves for a terminal, a file or a pipe."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from btests._text import printable


def echo(text: str, *, err: bool = False) -> None:
    """Print lines of text on standard output, or on standard error.

    Names, cells and messages of readers are data: control characters, which could move the cursor, hide text or reorder
    it, are printed as escapes, and so are letters that the encoding of the stream does not have.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    click.echo(printable(text, keep="\n").encode(encoding, "backslashreplace").decode(encoding), err=err)


def say(sentence: str) -> None:
    """Print one sentence on standard error, on one line; where that is full or closed, the status alone tells it."""
    with suppress(OSError):
        echo(f"btests: {printable(sentence)}", err=True)


@contextmanager
def warnings_as_sentences(translate: Callable[[str], str]) -> Iterator[None]:
    """Print the warnings inside the block as sentences, without the line of code that they come from."""

    def say_warning(message: Warning | str, *_: object, **__: object) -> None:
        say(f"warning: {translate(str(message)).rstrip('.')}.")

    with warnings.catch_warnings():
        warnings.showwarning = say_warning
        yield
