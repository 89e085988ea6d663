"""Everything that a command prints, errors as one sentence: text leaves for a terminal or a file here alone."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from btests._text import printable
from btests.cli.interrupts import was_interrupted
from btests.cli.options import as_flags


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


@contextmanager
def one_sentence(sign_flip: str = "sign-flip", workers: str = "--workers") -> Iterator[None]:
    """Turn every error into one sentence and status 2: status 1 is the answer of a test.

    ``sign_flip`` is the name of sign flips among the values of --null, ``workers`` the option that named the workers.
    """
    try:
        with _interrupts():
            yield
    except BrokenPipeError:  # which click would turn into status 1
        raise click.exceptions.Exit(141) from None
    except (click.ClickException, OSError):
        raise  # they are sentences already, or become one
    except (ValueError, TypeError) as error:
        raise click.ClickException(ended(as_flags(str(error), sign_flip, workers))) from None
    except Exception as error:
        if _is_short_of_memory(error):
            raise click.ClickException("There is not enough memory; try --max-rows with fewer rows.") from None
        import traceback

        echo(traceback.format_exc(), err=True)
        raise click.ClickException(f"This should not happen: {type(error).__name__}.") from None


def ended(sentence: str) -> str:
    """Return a sentence with one mark at its end."""
    return sentence if sentence.endswith("?") else f"{sentence.rstrip('.')}."


def _is_short_of_memory(error: Exception) -> bool:
    """Return whether memory is short: for data, for the stack of a thread, or for a library that is loaded late."""
    threads = isinstance(error, RuntimeError) and str(error) == "can't start new thread"
    library = isinstance(error, ImportError) and re.search("failed to map segment|annot allocate memory", str(error))
    return isinstance(error, MemoryError) or threads or bool(library)


@contextmanager
def _interrupts() -> Iterator[None]:
    """Raise `KeyboardInterrupt` where a package has turned it into an error of its own, or into none at first."""
    try:
        yield
    except Exception as error:
        if was_interrupted():
            raise KeyboardInterrupt from None
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt(*cause.args) from None
            cause = cause.__cause__ or cause.__context__
        raise
