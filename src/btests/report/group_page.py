"""Page and notebook table of a comparison of several groups of rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from btests.report.heatmap import Shaded, matrix, steps
from btests.report.number_format import number, percent, pvalue, whole_percent
from btests.report.page import LEAST_TOOLS, N_NOTEBOOK, Numbers, environment, frame
from btests.report.svg import Caption

#: Maximum number of pairs in the table; the others are in the JSON.
MOST_PAIRS = 300

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


def make_groups_notebook(comparison: Mapping[str, Any]) -> str:
    """Return the verdict, the columns and the strongest pairs of groups as HTML for a notebook."""
    data = json.loads(json.dumps(comparison, allow_nan=False))
    template = environment().get_template("groups_notebook.html")
    pairs = sorted(range(len(data["pairs"])), key=lambda i: -strength(data["pairs"][i]))
    return template.render(
        d=data,
        at=Numbers(data),
        n_rows=N_NOTEBOOK,
        n_found=sum(pair["different"] for pair in data["pairs"]),
        pairs=pairs,
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
