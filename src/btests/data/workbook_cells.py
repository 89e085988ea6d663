"""Cells of the sheets of a workbook as its parts hold them: their extent, and formulas without saved values."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import IO

from btests._memory import amount
from btests.data.errors import LargeError

# Bytes of a cell: in the compiled reader, and in the rows and columns of Python.
_CELL = 64

# Bytes that are unpacked at a time, and those that are repeated, in which a tag may be cut off.
_PIECE, _TAG = 2**22, 2**12

# Ends of the names of parts that are read, and sheets of Excel.
_PARTS = (".xml", ".bin", ".rels")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")

# Cells of Excel that hold something, by letters and number. Here and below nothing is tried twice (?>, *+): tags may be
# long.
_PLACED = re.compile(rb"""<(?:\w++:)?c\s(?>[^<>]*?\br=["']([A-Z]{1,3})(\d{1,7})["'])[^<>]*+(?<!/)><""")

# Rows of OpenDocument, and cells that hold something.
_ROW_OR_CELL = re.compile(rb"<table:table-(row\b[^<>]*+|cell\b(?>[^<>]*?office:value-type)[^<>]*+)>")
_REPEATED = re.compile(rb'number-(?:rows|columns)-repeated="(\d{1,19})"')


def refuse_far_cells(source: str | bytes, where: str, most_bytes: int | None) -> None:
    """Raise a `LargeError` if a sheet spans so many cells that they take more than ``most_bytes`` bytes.

    All parts are unpacked once, a piece at a time: one that is longer than it declares is an error of zipfile.

    Parameters
    ----------
    source : str or bytes
        Path or contents of the workbook; one that is no archive, of the older kind, passes.
    where : str
        Its name in messages.
    most_bytes : int or None
        None is any number.
    """
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    if most_bytes is None or not zipfile.is_zipfile(file):
        return
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            if name.endswith(_PARTS):
                with archive.open(name) as part:
                    n_bytes = _CELL * _cells_of(part, name)
                if n_bytes > most_bytes:
                    what = f"a sheet whose cells, from the first to the last, take {amount(n_bytes)}"
                    raise LargeError(f"{where!r} has {what}, and may take {amount(most_bytes)}")


def _cells_of(part: IO[bytes], name: str) -> int:
    """Return the cells of a part of a workbook; 0 for one that is no sheet."""
    if _SHEET.fullmatch(name):
        return _spanned(part)
    if name == "content.xml":
        return _repeated(part)
    while part.read(_PIECE):
        pass
    return 0


def _pieces(file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of a file, each with the end of the one before, and where a match must end to be new."""
    rest = b""
    while piece := file.read(_PIECE):
        yield rest + piece, len(rest)
        rest = (rest + piece)[-_TAG:]


def _spanned(file: IO[bytes]) -> int:
    """Return the cells of the rectangle around all cells of a sheet of Excel that hold something."""
    letters: set[bytes] = set()
    first, last = 2**31, 0
    for piece, _ in _pieces(file):
        found = _PLACED.findall(piece)
        if found:
            letters.update(letter for letter, _ in found)
            rows = [int(row) for _, row in found]
            first, last = min(first, *rows), max(last, *rows)
    columns = [_number(letter) for letter in letters]
    return (last - first + 1) * (max(columns) - min(columns) + 1) if columns else 0


def _number(letters: bytes) -> int:
    """Return the number of a column.

    Examples
    --------
    >>> _number(b"A"), _number(b"AA"), _number(b"XFD")
    (1, 27, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _repeated(file: IO[bytes]) -> int:
    """Return the cells of OpenDocument that hold something, each as often as it and its row are repeated."""
    cells, times = 0, 1
    for piece, old in _pieces(file):
        for found in _ROW_OR_CELL.finditer(piece):
            if found.end() <= old:
                continue
            repeated = _REPEATED.search(found[1])
            n = 1 if repeated is None else int(repeated[1])
            if found[1].startswith(b"row"):
                times = n
            else:
                cells += times * n
    return cells


# Sheets and their parts in the lists of a workbook of Excel, and attributes of them.
_LISTED = re.compile(rb"<(?:\w+:)?(?:sheet|Relationship)\s[^<>]*>")
_ATTRIBUTE = re.compile(rb"""(?<![\w:])([\w:]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")

# Cells of Excel with a formula and no value.
_FORMULA = re.compile(
    rb"""<(?:\w++:)?c\s(?>[^<>]*?\br=["']([A-Z]{1,3})\d{1,7}["'])[^<>]*+><(?:\w++:)?f\b"""
    rb"""(?>[^<>]*+(?:(?<=/)>|>[^<>]*+</(?:\w++:)?f>))"""
    rb"""\s*+(?:<(?:\w++:)?v\s*+/>|<(?:\w++:)?v>\s*+</(?:\w++:)?v>)?\s*+</(?:\w++:)?c>"""
)


def note_on_formulas(source: str | bytes, sheet: str, where: str) -> str | None:
    """Return a remark on formulas without saved values in a sheet of Excel, which are read as empty cells.

    Programs that compute nothing write such files. None for other sheets, and for workbooks of other kinds.
    """
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    if not zipfile.is_zipfile(file):
        return None
    with zipfile.ZipFile(file) as archive:
        name = _part_of(archive, sheet)
        if name not in archive.namelist():
            return None
        counts: Counter[bytes] = Counter()
        with archive.open(name) as part:
            for piece, old in _pieces(part):
                counts.update(found[1] for found in _FORMULA.finditer(piece) if found.end() > old)
    if not counts:
        return None
    letters = [letter.decode() for letter in sorted(counts, key=_number)]
    columns = f"column {letters[0]}" if len(letters) == 1 else f"columns {', '.join(letters[:_SHOWN])}"
    more = f" and {len(letters) - _SHOWN} more" if len(letters) > _SHOWN else ""
    cells = "1 formula" if counts.total() == 1 else f"{counts.total()} formulas"
    return (
        f"sheet {sheet!r} of {where} has {cells} without saved values in {columns}{more}, read as empty cells; "
        "open and save it with a program that computes them"
    )


# Columns in a remark at most.
_SHOWN = 8


def _part_of(archive: zipfile.ZipFile, sheet: str) -> str:
    """Return the name of the part that holds a sheet; empty if there is none."""
    names = set(archive.namelist())
    lists = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
    if not names.issuperset(lists):
        return ""
    sheets, targets = ([_attributes(tag) for tag in _LISTED.findall(archive.read(name))] for name in lists)
    places = {own.get("Id", ""): own.get("Target", "") for own in targets}
    own = next((found for found in sheets if found.get("name") == sheet), {})
    place = next((places[value] for key, value in own.items() if key.endswith(":id") and value in places), "")
    return posixpath.normpath(posixpath.join("xl", place)).lstrip("/") if place else ""


def _attributes(tag: bytes) -> dict[str, str]:
    return {
        key.decode("utf-8", "replace"): unescape((one or two).decode("utf-8", "replace"))
        for key, one, two in _ATTRIBUTE.findall(tag)
    }
