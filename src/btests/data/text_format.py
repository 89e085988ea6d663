"""Encodings and decimal commas of delimited text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from btests._imports import arrow
from btests.data.compression import open_input
from btests.data.errors import DamagedError
from btests.data.formats import SOME, UTF_16, has_control, what_it_is

# Numbers that may have a decimal comma, and whose digits may be grouped by points.
_NUMBER = r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?\s*$"

# Bytes beyond ASCII, and those of them that are characters of UTF-8.
_HIGH = re.compile(rb"[\x80-\xff]+")
_VALID = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How delimited text is read, as users name it; None is found from the file.

    Attributes
    ----------
    delimiter : str or None
        Character between cells.
    decimal : str or None
        ``","`` or ``"."`` before the fraction of a number; a comma is found where ``";"`` is the delimiter.
    encoding : str or None
        Name of an encoding; UTF-8, UTF-16 with its mark and Latin-1 are found.
    missing : tuple of str
        Cells that are missing, besides empty ones and their like.
    guess : str
        Delimiter by the name or the content of the file, for want of one that is named.
    form : str or None
        Format of the file, whatever it is, of ``formats.FORMATS``; None is found from its name or content.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    guess: str = ","
    form: str | None = None

    def commas(self, delimiter: str) -> str:
        """Return whether numbers have a decimal comma in text with this delimiter.

        ``"named"`` if the user says so, ``"found"`` if columns have it by their cells, empty if they have none.
        """
        if self.decimal == ",":
            return "named"
        return "found" if self.decimal is None and delimiter == ";" else ""


#: Text of which nothing is named.
AS_FOUND = TextFormat()


def encoding_of(data: bytes) -> str | None:
    """Return the encoding of text that is not UTF-8, by its first bytes or all of them; None for UTF-8 and no text.

    Text is Latin-1 (cp1252, its superset) if most of its bytes beyond ASCII are no characters of UTF-8: else it is
    UTF-8 with some damage.

    Examples
    --------
    >>> [encoding_of("größe".encode(name)) for name in ("utf-8", "latin-1", "utf-16")]
    [None, 'latin-1', 'utf-16']
    """
    if data.startswith(UTF_16) and not data.startswith(b"\xff\xff"):
        return "utf-16"
    if what_it_is(data) is not None or has_control(data[:SOME]):
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)  # whose last character may be cut off
    except UnicodeDecodeError:
        high, valid = (sum(map(len, pattern.findall(data))) for pattern in (_HIGH, _VALID))
        return "latin-1" if 2 * valid < high else None
    return None


def spoken(encoding: str) -> str:
    """Return the name of an encoding that was found, as messages have it."""
    return {"latin-1": "Latin-1", "utf-16": "UTF-16"}.get(encoding, encoding)


def decoder(encoding: str) -> codecs.IncrementalDecoder:
    """Return a decoder; that of Latin-1 takes the letters of cp1252 for bytes that are none in Latin-1."""
    if encoding == "latin-1":
        return codecs.getincrementaldecoder("cp1252")("btests-latin-1")
    return codecs.getincrementaldecoder(encoding)()


def _as_latin(error: UnicodeError) -> tuple[str, int]:
    """Return the characters of Latin-1 for the five bytes that cp1252 does not have."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("btests-latin-1", _as_latin)


def as_utf8(data: bytes, where: str, encoding: str | None) -> bytes:
    """Return text in an encoding as UTF-8; unchanged for None."""
    if encoding is None:
        return data
    try:
        return decoder(encoding).decode(data, True).encode()
    except (UnicodeError, LookupError):
        raise DamagedError(f"{where!r} is not text in the encoding {spoken(encoding)}") from None


def open_utf8(path: str, encoding: str | None) -> Any:
    """Return a file as an open file, uncompressed and as UTF-8; its bytes as they are for None."""
    file = open_input(path)
    return file if encoding is None else Recoded(file, encoding)


class Recoded:
    """Open file whose bytes are text in an encoding, read as UTF-8.

    Parameters
    ----------
    file : file object
        Open for reading.
    encoding : str
        Of its text, as `decoder` takes it.
    """

    def __init__(self, file: Any, encoding: str) -> None:
        self._file, self._decoder = file, decoder(encoding)
        self._rest, self._ended = b"", False

    def __enter__(self) -> Recoded:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def read(self, n_bytes: int) -> bytes:
        """Return at most ``n_bytes`` bytes, fewer at the end of the file only."""
        while len(self._rest) < n_bytes and not self._ended:
            data = bytes(self._file.read(n_bytes))
            self._ended = not data
            self._rest += self._decoder.decode(data, self._ended).encode()
        found, self._rest = self._rest[:n_bytes], self._rest[n_bytes:]
        return found


def comma_floats(column: Any) -> Any | None:
    """Return a column of texts, all of which are numbers that may have a decimal comma, as floats; None for others.

    Examples
    --------
    >>> import pyarrow
    >>> comma_floats(pyarrow.array(["1.234,5", "2"])).to_pylist(), comma_floats(pyarrow.array(["1.5"]))
    ([1234.5, 2.0], None)
    """
    pc = arrow("pyarrow.compute")
    if pc.all(pc.match_substring_regex(column, _NUMBER)).as_py() is False:
        return None
    points = pc.replace_substring(pc.replace_substring(column, ".", ""), ",", ".")
    return pc.utf8_trim_whitespace(points).cast(arrow().float64())


def is_comma_number(cell: str) -> bool:
    """Return whether a text is a number that may have a decimal comma."""
    return comma_floats(arrow().array([cell])) is not None
