"""Everything that a command prints; errors are one sentence, with flags in place of Python parameters."""

from __future__ import annotations

import ast
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from btests._text import ended, printable
from btests.cli.interrupts import was_interrupted


def echo(text: str, *, err: bool = False) -> None:
    """Print lines of text on standard output, or on standard error.

    Names, cells and messages of readers are data: control characters, which could move the cursor, hide text or reorder
    it, are printed as escapes, and so are letters that the encoding of the stream does not have.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    click.echo(printable(text, keep="\n").encode(encoding, "backslashreplace").decode(encoding), err=err)


def say(sentence: str) -> None:
    """Print one sentence on standard error, on one line; nothing where that is full or closed."""
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


# Flags that are not named after their parameter.
_FLAGS = {"value_a": "--a", "value_b": "--b", "file_format": "--format"}


# Parameters of ``compare`` that messages of the core name without backticks, and null distributions.
_PARAMETERS = (
    "alpha|block_size|budget|checkpoint|columns|decimal|delimiter|encoding|exclude|file_format|kernel|max_rows|memory|null|seed|"
    "tolerance"
)


_NULLS = {
    **{"SignFlip": "sign-flip", "Normal": "normal", "ThirdCumulant": "third-cumulant", "CrossMMD": "cross-mmd"},
    **{"Permutation": "permutation", "Spectrum": "spectrum", "Gamma": "gamma", "Pearson": "pearson"},
    "ExactMoments": "pearson",
}


# A text in quotes, which may be data, is left alone; ties of SignFlip have no option.
_PYTHON = re.compile(
    rf"""`(?P<marked>[a-z_]+)(?:=(?P<text>[^`]*))?`
    |(?P<null>(?:\bnull=)?\b(?P<class>{"|".join(_NULLS)})\((?![^()]*ties)[^()]*\))
    |\b(?P<name>{_PARAMETERS})=(?P<value>'[^']*'|[-\w.]+)
    |\b(?P<word>block_size|max_rows)\b
    |(?P<paired>\bpaired=True\b)
    |(?P<none>,?\ or\ None\b)
    |(?<!\w)'(?:[^'\\]|\\.)*' | (?<!\w)"(?:[^"\\]|\\.)*" """,
    re.VERBOSE,
)


def flag(name: str) -> str:
    """Return the flag of a parameter.

    Examples
    --------
    >>> flag("max_rows"), flag("value_a")
    ('--max-rows', '--a')
    """
    return _FLAGS.get(name, "--" + name.replace("_", "-"))


def as_flags(message: str, sign_flip: str = "sign-flip", workers: str = "--workers") -> str:
    r"""Return a message with flags in place of the Python parameters and null distributions that it names.

    Parameters
    ----------
    message : str
        Message of the core. Texts in quotes, which may be names or cells, stay as they are.
    sign_flip : str
        Name of sign flips among the values of --null.
    workers : str
        The option that named the workers.

    Examples
    --------
    >>> print(as_flags("they differ; `common=True` goes on, or name `value_a`"))
    they differ; --common goes on, or name --a
    >>> print(as_flags("block_size must be at least 2; `missing=['-', 'n/a']` and `delimiter='\\t'`"))
    --block-size must be at least 2; --missing -,n/a and --delimiter $'\t'
    >>> print(as_flags("Normal() needs 2 blocks; take block_size=9 or null=SignFlip(), not 'block_size=9'"))
    --null normal needs 2 blocks; take --block-size 9 or --null sign-flip, not 'block_size=9'
    >>> print(as_flags("Pearson() tests all rows at once: block_size must be 300 or None, got 'a or None'"))
    --null pearson tests all rows at once: --block-size must be 300, got 'a or None'
    """
    message = re.sub(rf"^({_PARAMETERS})(?= must )", lambda found: flag(found[1]), message)
    return _PYTHON.sub(lambda found: workers if found[0] == "`workers`" else _as_flag(found, sign_flip), message)


def _as_flag(found: re.Match[str], sign_flip: str) -> str:
    if found["marked"]:
        return _with_value(found["marked"], found["text"])
    if found["null"]:
        name = "normal" if "skewed=False" in found["null"] else _NULLS[found["class"]]
        return f"--null {sign_flip if name == 'sign-flip' else name}"
    if found["name"]:
        return _with_value(found["name"], found["value"])
    if found["word"]:
        return flag(found["word"])
    if found["none"]:  # an option is left out
        return ""
    return "btests.btest(..., paired=True) in Python" if found["paired"] else found[0]


def _with_value(name: str, text: str | None) -> str:
    if text is None or text == "True":
        return flag(name)
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):  # a placeholder such as FILE
        return f"{flag(name)} {text}"
    joined = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{flag(name)} " + ("$'\\t'" if joined == "\t" else shlex.quote(joined))
