"""Text without characters that a terminal or a log would act on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# Characters of the message of another package that a message quotes.
_MESSAGE = 160

#: End of a message on a column that is not of numbers.
ENCODING = "; btests.compare and the command btests independence encode columns"

# Characters of a value that a message quotes.
_VALUE = 100


def ended(sentence: str) -> str:
    """Return a sentence with one mark at its end."""
    return sentence if sentence.endswith("?") else f"{sentence.rstrip('.')}."


def printable(text: str, keep: str = "") -> str:
    r"""Return text in which every character that is not printable is an escape, as ``repr`` writes it.

    Control characters of both sets, bidirectional and other format controls, lone surrogates, separators other than a
    space and unassigned characters are not printable. A text that is printable is returned as it is.

    Parameters
    ----------
    text : str
        Any text, such as the name of a column or the message of a reader.
    keep : str
        Characters that stay as they are all the same.

    Examples
    --------
    >>> print(printable("a\x1b[2Jb\u202e\n\x9b\udc80"))
    a\x1b[2Jb\u202e\n\x9b\udc80
    >>> printable("one\ntwo", keep="\n")
    'one\ntwo'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter in keep or letter.isprintable() else repr(letter)[1:-1] for letter in text)


def shortly(error: BaseException) -> str:
    """Return the first sentence of a message, short enough to be part of one, without addresses of objects."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", str(error).strip()) or type(error).__name__
    return shortened(printable(re.split(r"\n|\. (?=[A-Z])", text)[0].rstrip(". ")), _MESSAGE)


def shortened(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters, with an ellipsis if it is cut."""
    return text if len(text) <= most else text[: most - 1] + "\u2026"


def close_match(word: str, known: Iterable[str]) -> str | None:
    """Return the word of some that is most like another; None if none is.

    Examples
    --------
    >>> close_match("gaussain", ["energy", "gaussian"]), close_match("x", ["energy"])
    ('gaussian', None)
    """
    from difflib import get_close_matches

    by_fold = {one.casefold(): one for one in sorted(known)}
    found = get_close_matches(word[:_VALUE].casefold(), by_fold, n=1)
    return by_fold[found[0]] if found else None


def brief(value: object) -> str:
    r"""Return any object as part of a sentence: its ``repr`` if that is short and on one line, else what it is.

    Examples
    --------
    >>> import numpy as np
    >>> brief(3), brief("a\x1b"), brief(np.zeros((4, 2)))
    ('3', "'a\\x1b'", 'an array of shape (4, 2)')
    >>> brief(bytes(200)), brief(list(range(100)))[:32]
    ('200 bytes', 'a list of 100 values, [0, 1, 2, ')
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape and all(isinstance(n, int) for n in shape):
        return f"{_noun(value)} of shape {shape}"
    try:
        text = repr(value)
    except Exception:  # of an object of the user, whatever it is
        return _noun(value)
    return text if len(text) <= _VALUE and text.isprintable() else _described(value, text)


def _described(value: object, text: str) -> str:
    """Return what an object with a long ``repr`` is, and how that begins."""
    if isinstance(value, (bytes, bytearray)):
        return f"{len(value)} bytes"
    if isinstance(value, str):
        return f"a text of {len(value)} characters, {_start(text)}"
    many = f" of {len(value)} values" if type(value) in (list, tuple, set, frozenset, dict) else ""  # type: ignore[arg-type]
    return f"{_noun(value)}{many}, {_start(text)}"


def _noun(value: object) -> str:
    """Return what an object is: the name of its type, with an article."""
    name = {"ndarray": "array"}.get(type(value).__name__, type(value).__name__)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _start(text: str) -> str:
    return shortened(printable(" ".join(text.split())), _VALUE // 2)


@contextmanager
def converting(what: str) -> Iterator[None]:
    """Raise a `ValueError` that names ``what`` in place of the errors of the block, in which other packages alone run.

    Lazy frames compute inside it, and objects of users: they may raise anything.
    """
    try:
        yield
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        raise ValueError(f"{what} cannot be read: {type(error).__name__}, {shortly(error)}") from error


@contextmanager
def printable_errors() -> Iterator[None]:
    """Escape the messages of the errors that leave the block: they quote names and cells, and end in logs."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (printable(error.args[0]),)
        raise
