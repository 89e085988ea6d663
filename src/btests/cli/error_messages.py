"""Errors of commands as one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from btests.cli.options import as_flags


@contextmanager
def one_sentence(verbose: bool = False) -> Iterator[None]:
    """Turn every error into one sentence and status 2: status 1 is the answer of a test."""
    try:
        yield
    except BrokenPipeError:  # which click would turn into status 1
        raise click.exceptions.Exit(141) from None
    except (click.ClickException, OSError):
        raise  # they are sentences already, or become one
    except (ValueError, TypeError) as error:
        if verbose:
            _show_traceback()
        raise click.ClickException(f"{as_flags(str(error)).rstrip('.')}.") from None
    except MemoryError:
        raise click.ClickException("There is not enough memory; try --max-rows with fewer rows.") from None
    except Exception as error:
        _show_traceback()
        raise click.ClickException(f"This should not happen: {type(error).__name__}.") from None


def _show_traceback() -> None:
    import traceback

    click.echo(traceback.format_exc(), err=True)
