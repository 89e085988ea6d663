"""Open files of text in any encoding as UTF-8."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from btests.data.compression import open_input
from btests.data.text_format import decoder


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
