"""Page and notebook table of a comparison of two tables."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from btests.report import number_format
from btests.report.coordinates import coordinate_maps
from btests.report.figures import (
    bin_names,
    blocks_figure,
    column_figure,
    ends,
    null_figure,
    squared,
    witness_figure,
)
from btests.report.heatmap import ramp
from btests.report.sparkline import sparkline
from btests.report.svg import printable

#: Number of columns whose large drawings are open on the page.
N_OPEN = 3
#: Maximum number of columns whose drawings are open in print, with a table of their numbers.
N_PRINTED = 12
#: Number of columns with a large drawing of their own; of the others the small one is enlarged, so that pages of
#: hundreds of columns can be mailed and opened on a phone.
N_DRAWN = 60
#: Number of columns in the table before a button shows more of them.
PAGE_ROWS = 50
#: Minimum number of columns for a search field and filters.
LEAST_TOOLS = 5
#: Number of columns that a notebook shows.
N_NOTEBOOK = 20
#: Number of fields of the example rows that are shown, and that can be unfolded.
N_FIELDS, MOST_FIELDS = 12, 60

_LOADER = PackageLoader("btests.report", "assets")

_FORMS = {
    **number_format.FORMS,
    "pvalue": number_format.pvalue,
    "percent": number_format.percent,
    "bytes": number_format.size,
    "plain": number_format.plain,
}


@dataclass(frozen=True, slots=True)
class Numbers:
    """Lookup of the numbers of the page in the comparison by JSON pointers, so that page and JSON agree."""

    comparison: Mapping[str, Any]

    def at(self, pointer: str) -> Any:
        """Return the value at a JSON pointer."""
        found: Any = self.comparison
        for part in pointer.split("/")[1:]:
            found = found[int(part)] if isinstance(found, list | tuple) else found[part]
        return found

    def text(self, pointer: str, form: str = "number") -> str:
        """Return the number at a pointer, rounded."""
        value = self.at(pointer)
        # The mean of dates is a date.
        return printable(value) if isinstance(value, str) else _FORMS[form](value)

    def __call__(self, pointer: str, form: str = "number") -> Markup:
        """Return the number at a pointer as an element with the rounded value, the full value and the pointer."""
        value, shown = self.at(pointer), self.text(pointer, form)
        if value is None:
            return Markup(number_format.NOTHING)
        exact = value if isinstance(value, str) else json.dumps(value)
        return Markup('<data value="{}" data-at="{}">{}</data>').format(printable(exact), pointer, shown)


@cache
def environment() -> Environment:
    """Return the environment of the templates."""
    found = Environment(
        loader=_LOADER,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    found.filters["words"] = _words
    found.filters["name"] = _name
    found.filters["squared"] = squared
    found.filters["file_name"] = lambda path: re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path
    found.filters["sentence"] = lambda text: text[:1].upper() + text[1:].rstrip(".") + "."
    return found


_HYPHENATED = re.compile(r"p-value|\b\d{4}-\d\d-\d\d\b")

# Words that are written from right to left; numbers and signs beside them keep their own order.
_RIGHT_TO_LEFT = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+(?: +[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+)*"
)


def _words(text: str) -> Markup:
    """Return a sentence that breaks at words: no line begins with a percent sign or ends within a "->" or a date."""
    found = printable(text).replace(" -> ", " → ").replace(" %", "\N{NO-BREAK SPACE}%")
    found = _RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", str(escape(found)))
    return Markup(_HYPHENATED.sub(r'<span class="whole">\g<0></span>', found))


def _name(text: str) -> Markup:
    """Return the name of a column that breaks at underscores, if it must."""
    return Markup(str(escape(printable(text))).replace("_", "_<wbr>"))


def _finalize(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _digest(text: str) -> str:
    """Return the hash source of an inline text for the content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _fields(comparison: Mapping[str, Any]) -> list[int]:
    """Return the places of the columns of the example rows, most changed first."""
    ranks = {column["name"]: place for place, column in enumerate(comparison["columns"])}
    names: Sequence[str] = comparison["examples"]["columns"] if comparison.get("examples") else []
    return sorted(range(len(names)), key=lambda i: (ranks.get(names[i], len(ranks)), i))


def _printed(columns: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the places of the columns whose drawings are printed: those that changed, or else the first ones."""
    changed = [i for i, column in enumerate(columns) if column["changed"]][:N_PRINTED]
    others = [i for i in range(len(columns)) if i not in changed]
    return sorted(changed + others[: max(0, N_OPEN - len(changed))])


def frame(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all pages are made of: the numbers, style, script and their content security policy."""
    # Round trip through JSON, so that page and JSON have the same values and types.
    data: dict[str, Any] = json.loads(json.dumps(comparison, allow_nan=False))
    style, script = (_LOADER.get_source(environment(), name)[0] for name in ("style.css", "script.js"))
    return {
        "d": data,
        "at": Numbers(data),
        "style": Markup(style),
        "script": Markup(script),
        "policy": f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src {_digest(script)}",
        "embedded": _embedded(data),
        "plural": number_format.plural,
        "pvalue_word": Markup('<span class="whole">p-value</span>'),
        "page_rows": PAGE_ROWS,
    }


def make_notebook(comparison: Mapping[str, Any]) -> str:
    """Return the verdict and the columns of a comparison as HTML for a notebook: no script, no style sheet."""
    data = json.loads(json.dumps(comparison, allow_nan=False))
    template = environment().get_template("notebook.html")
    return template.render(d=data, at=Numbers(data), sparkline=sparkline, n_rows=N_NOTEBOOK)


def make(comparison: Mapping[str, Any]) -> str:
    """Return the page of a comparison."""
    common = frame(comparison)
    data = common["d"]
    names = (data["names"]["a"], data["names"]["b"])
    columns = data["columns"]
    printed = _printed(columns)
    # Regions and typical rows are noise if the tables do not differ.
    is_found = data["verdict"]["pvalue_any_difference"] <= data["verdict"]["alpha"]
    return (
        environment()
        .get_template("page.html")
        .render(
            **common,
            is_found=is_found,
            printed=printed,
            shown=[i for i in printed if columns[i]["changed"]][:N_OPEN],
            n_drawn=N_DRAWN,
            n_fields=N_FIELDS,
            most_fields=MOST_FIELDS,
            least_tools=LEAST_TOOLS,
            fields=_fields(data),
            null_figures=[null_figure(i, test, data["verdict"]["alpha"]) for i, test in enumerate(data["tests"])],
            blocks=blocks_figure(data["blocks"]) if data.get("blocks") else None,
            charts=[column_figure(i, column, names) for i, column in enumerate(columns[:N_DRAWN])],
            maps=coordinate_maps(columns, data["excluded"]) if is_found else [],
            witness=witness_figure(data["witness"]) if is_found and data.get("witness") else None,
            ramp=ramp(),
            bin_names=bin_names,
            ends=ends,
            sparkline=sparkline,
        )
    )


def _embedded(data: Mapping[str, Any]) -> Markup:
    """Return the comparison as JSON, escaped for a script element."""
    text = json.dumps(data, separators=(",", ":"))
    for sign in "<>&'":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)
