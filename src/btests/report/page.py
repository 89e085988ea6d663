"""Pages of comparisons of two tables, and of several groups of rows."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from btests.report import number_format
from btests.report.figures import (
    bin_names,
    blocks_figure,
    column_figure,
    null_figure,
    squared,
    witness_figure,
)
from btests.report.heatmap import Shaded, matrix, ramp, steps
from btests.report.histogram import sparkline
from btests.report.number_format import number, percent, pvalue, whole_percent
from btests.report.svg import Caption, printable

#: Maximum number of columns whose drawings are open on the page and in print; the others are collapsed.
N_OPEN = 12
#: Minimum number of open columns, changed or not.
LEAST_OPEN = 3
#: Minimum number of columns for a search field and filters.
LEAST_TOOLS = 5
#: Number of columns that a notebook shows.
N_NOTEBOOK = 20
#: Number of fields of the example rows that are shown.
N_FIELDS = 12

_LOADER = PackageLoader("btests.report", "assets")

_FORMS = {
    "number": number_format.number,
    "pvalue": number_format.pvalue,
    "percent": number_format.percent,
    "duration": number_format.duration,
    "bytes": number_format.size,
    "plain": number_format.plain,
}

#: Maximum number of pairs in the table; the others are in the JSON.
MOST_PAIRS = 300


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

    def __call__(self, pointer: str, form: str = "number") -> Markup:
        """Return the number at a pointer as an element with the rounded value, the full value and the pointer."""
        value = self.at(pointer)
        if value is None:
            return Markup(number_format.NOTHING)
        # The mean of dates is a date.
        shown = printable(value) if isinstance(value, str) else _FORMS[form](value)
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
    # Lines may break after the hyphen of "->": use an arrow character.
    found.filters["arrows"] = lambda text: text.replace(" -> ", " → ")
    found.filters["squared"] = squared
    found.filters["sentence"] = lambda text: text[:1].upper() + text[1:].rstrip(".") + "."
    return found


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


def _open(columns: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the places of the columns whose drawings are open: those that changed, or else the first ones."""
    changed = [i for i, column in enumerate(columns) if column["changed"]][:N_OPEN]
    others = [i for i in range(len(columns)) if i not in changed]
    return sorted(changed + others[: max(0, LEAST_OPEN - len(changed))])


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
    shown = _open(columns)
    # Regions and typical rows are noise if the tables do not differ.
    is_found = data["verdict"]["pvalue_any_difference"] <= data["verdict"]["alpha"]
    return (
        environment()
        .get_template("page.html")
        .render(
            **common,
            is_found=is_found,
            shown=shown,
            folded=[i for i in range(len(columns)) if i not in shown],
            n_fields=N_FIELDS,
            least_tools=LEAST_TOOLS,
            fields=_fields(data),
            null_figures=[null_figure(i, test, data["verdict"]["alpha"]) for i, test in enumerate(data["tests"])],
            blocks=blocks_figure(data["blocks"]) if data.get("blocks") else None,
            charts=[column_figure(i, column, names) for i, column in enumerate(columns)],
            witness=witness_figure(data["witness"]) if is_found and data.get("witness") else None,
            ramp=ramp(),
            bin_names=bin_names,
            sparkline=sparkline,
        )
    )


def _embedded(data: Mapping[str, Any]) -> Markup:
    """Return the comparison as JSON, escaped for a script element."""
    text = json.dumps(data, separators=(",", ":"))
    for sign in "<>&'":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


#: Maximum number of groups of a matrix, and of columns of a table in a matrix.
MOST_GROUPS, MOST_COLUMNS = 24, 24


def make_groups(comparison: Mapping[str, Any]) -> str:
    """Return the page of a comparison of several groups."""
    common = frame(comparison)
    data = common["d"]
    names = [group["name"] for group in data["groups"]]
    shown = shown_groups(names, data["pairs"])
    differing = [column for column in data["columns"] if column["different"]][:MOST_COLUMNS]
    values = [strength(pair) for pair in data["pairs"]]
    return (
        environment()
        .get_template("groups.html")
        .render(
            **common,
            least_tools=LEAST_TOOLS,
            pairs=pairs_figure(data, shown),
            columns=columns_figure(differing, names, shown) if differing else None,
            n_differing=len(differing),
            n_shown=len(shown),
            most_pairs=MOST_PAIRS,
            steps=steps(),
            largest=_text(max(values), bounded=data["pairs"][0]["effect"] is not None),
            largest_column=percent(max((max(column["effects"]) for column in differing), default=0.0)),
            differing_pairs=_counts(names, data["pairs"]),
        )
    )


def strength(pair: Mapping[str, Any]) -> float:
    """Return the effect of a pair, MMD^2 where the kernel has no bound; at least 0."""
    return max(0.0, float(pair["mmd2"] if pair["effect"] is None else pair["effect"]))


def shown_groups(names: Sequence[str], pairs: Sequence[Mapping[str, Any]], most: int = MOST_GROUPS) -> list[int]:
    """Return the numbers of the groups in the matrix: all, or those with the largest effects on average."""
    totals = dict.fromkeys(names, 0.0)
    for pair in pairs:
        for name in pair["groups"]:
            totals[name] += strength(pair)
    order = sorted(range(len(names)), key=lambda j: -totals[names[j]])
    return sorted(order[:most])


def pairs_figure(data: Mapping[str, Any], shown: Sequence[int]) -> Markup:
    """Return the matrix of all pairs of the shown groups."""
    names = [data["groups"][j]["name"] for j in shown]
    found = {frozenset(pair["groups"]): pair for pair in data["pairs"]}
    cells = [[None if one == two else _pair_cell(found[frozenset((one, two))]) for two in names] for one in names]
    n_found = sum(pair["different"] for pair in data["pairs"])
    text = f"{n_found} of {len(data['pairs'])} pairs differ; a number and a shade for each, a star if it differs."
    return matrix(Caption("pairs-map", f"Pairs of groups of {data['by']}", text), names, names, cells)


def columns_figure(columns: Sequence[Mapping[str, Any]], names: Sequence[str], shown: Sequence[int]) -> Markup:
    """Return the matrix of columns and of the shown groups: how far each group is from all others together."""
    cells = [
        [
            Shaded(
                column["effects"][j],
                whole_percent(column["effects"][j]),
                f"{column['name']}, {names[j]}: {percent(column['effects'][j])} from the others",
                names[j] == column["group"],
            )
            for j in shown
        ]
        for column in columns
    ]
    text = "A number and a shade for each column and group; the group that stands out most in a column is in bold."
    caption = Caption("columns-map", "Groups that stand out in each column", text)
    return matrix(caption, [column["name"] for column in columns], [names[j] for j in shown], cells)


def _pair_cell(pair: Mapping[str, Any]) -> Shaded:
    bounded, value = pair["effect"] is not None, strength(pair)
    short = whole_percent(value) if bounded else number(value, 1)
    title = f"{' and '.join(pair['groups'])}: {_text(value, bounded=bounded)}, corrected p-value"
    title += f" {pvalue(pair['pvalue_corrected'])}"
    return Shaded(value, short + "*" * pair["different"], title, pair["different"])


def _text(value: float, *, bounded: bool) -> str:
    return percent(value) if bounded else f"MMD² {number(value, 2)}"


def _counts(names: Sequence[str], pairs: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return how many other groups each group differs from."""
    return [sum(pair["different"] and name in pair["groups"] for pair in pairs) for name in names]
