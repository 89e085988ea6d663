"""Small workbooks of Excel, written with the standard library."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"

# Formats of cells: general, day, day and time.
_STYLES = f"""<styleSheet xmlns="{_MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy-mm-dd hh:mm:ss"/>
</numFmts><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>"""


@dataclass(frozen=True, slots=True)
class Formula:
    """Formula of a cell, and its value if one is saved."""

    text: str
    value: float | None = None


def workbook(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """Return the bytes of an .xlsx file with these sheets, each as rows of cells."""
    numbers = range(1, len(sheets) + 1)
    kinds = "".join(
        f'<Override PartName="/xl/worksheets/sheet{k}.xml" ContentType="{_TYPES}.worksheet+xml"/>' for k in numbers
    )
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{k}" r:id="rId{k}"/>' for k, name in zip(numbers, sheets, strict=True)
    )
    targets = "".join(
        f'<Relationship Id="rId{k}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{k}.xml"/>' for k in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/>{kinds}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{targets}'
        f'<Relationship Id="rId0" Type="{_RELATIONS}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": _STYLES,
    }
    for k, rows in zip(numbers, sheets.values(), strict=True):
        cells = "".join(f'<row r="{i}">{_row(i, row)}</row>' for i, row in enumerate(rows, start=1))
        parts[f"xl/worksheets/sheet{k}.xml"] = f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode("utf-8", "replace"))
    return buffer.getvalue()


def _row(i: int, row: Sequence[Any]) -> str:
    return "".join(_cell(f"{_letters(j)}{i}", cell) for j, cell in enumerate(row) if cell is not None)


def _letters(j: int) -> str:
    return (chr(64 + j // 26) if j >= 26 else "") + chr(65 + j % 26)


def _cell(place: str, cell: Any) -> str:
    if isinstance(cell, Formula):
        value = "" if cell.value is None else repr(cell.value)
        return f'<c r="{place}"><f>{escape(cell.text)}</f><v>{value}</v></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, (int, float)):
        return f'<c r="{place}"><v>{cell!r}</v></c>'
    if isinstance(cell, datetime.date):
        moment = datetime.datetime(cell.year, cell.month, cell.day)
        is_time = isinstance(cell, datetime.datetime)
        days = ((cell if isinstance(cell, datetime.datetime) else moment) - datetime.datetime(1899, 12, 30)) / (
            datetime.timedelta(days=1)
        )
        return f'<c r="{place}" s="{2 if is_time else 1}"><v>{days!r}</v></c>'
    text = "".join(letter for letter in str(cell) if letter.isprintable() or letter in "\t\n")
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
