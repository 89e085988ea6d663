"""Tables of the study, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from studies.harness.counts import Row
from studies.harness.estimates import proportion
from studies.harness.markdown import table_lines
from studies.real_pairs.methods import METHODS
from studies.real_pairs.pairs import DIFFER, RELATIONS, SAME, UNKNOWN

#: Titles of the counts, the method of each, and the column of its rejections.
READINGS = {
    "btests compare": ("btests compare", "different"),
    "evidently: half of the columns": ("evidently", "different"),
    "evidently: any column": ("evidently", "any"),
    "KS / chi-squared, Holm": ("KS / chi-squared, Holm", "different"),
    "hyppo MMD": ("hyppo MMD", "different"),
}

_BY_COLUMN = {method.name: method.by_column for method in METHODS}

_ABSENT = "not available"

Group = dict[str, Row]


def tables(rows: Sequence[Row], command: str) -> str:
    """Return all tables and the settings behind them."""
    whole, draws = (_groups([row for row in rows if row["whole"] == kind]) for kind in (True, False))
    null = [group for group in draws if _truth(group) == SAME]
    others = [group for group in draws if _truth(group) != SAME]
    releases = ", ".join(dict.fromkeys(row["release"] for row in rows))
    lines = [f"Printed by `{command}`, with {releases}. P-values are compared with .05; CPU seconds are of one thread."]
    lines += ["", "### In short", "", *_summary(whole, null, others), ""]
    lines += ["### One comparison of all rows", "", *_whole(whole), ""]
    lines += ["### False alarms in random parts of one table", "", *_counts(null), ""]
    lines += ["### Differences found in draws of few rows", "", *_counts(others), ""]
    lines += ["### CPU seconds: all rows / one draw", "", *_seconds(whole, draws), ""]
    return "\n".join(lines)


def _groups(rows: Sequence[Row]) -> list[Group]:
    """Return the rows of each pair by method."""
    found: dict[str, Group] = {}
    for row in rows:
        found.setdefault(row["pair"], {})[row["method"]] = row
    return list(found.values())


def _first(group: Group) -> Row:
    return next(iter(group.values()))


def _truth(group: Group) -> str:
    return str(_first(group)["truth"])


def _head(group: Group) -> tuple[str, str]:
    row = _first(group)
    return row["pair"], f"{row['n_a']:,} and {row['n_b']:,}"


def _whole(groups: Sequence[Group]) -> list[str]:
    names = list(_BY_COLUMN)
    lines = [
        (*_head(group), _first(group)["columns"], _truth(group), *(_cell(group, name, answer) for name in names))
        for group in groups
    ]
    return table_lines(("pair", "rows", "columns", "known", *names), lines, "llrl" + "l" * len(names))


def _cell(group: Group, name: str, show: Callable[[Row], str]) -> str:
    return show(group[name]) if name in group else _ABSENT


def answer(row: Row) -> str:
    """Return what is said in one comparison, and whether it is right: verdict, marked columns, and p-value if any."""
    marked = [f"{row['marked']} of {row['tested']}"] * _BY_COLUMN[row["method"]]
    if math.isnan(row["pvalue"]):
        readings = {"half": _judged(row, "different"), "any": _judged(row, "any")}
        return "; ".join([*marked, ", ".join(f"{name} {word}" for name, word in readings.items() if word)]).rstrip("; ")
    pvalue = "p < .0001" if row["pvalue"] < 1e-4 else f"p {row['pvalue']:.4f}".replace("0.", ".", 1)
    words = ", ".join(["differ" if row["different"] else "no difference", *marked, pvalue])
    return f"{words}; {_judged(row, 'different')}".rstrip("; ")


def _judged(row: Row, column: str) -> str:
    right = is_right(row["truth"], row[column] > 0)
    return {None: "", True: "right", False: "**wrong**"}[right]


def is_right(truth: str, different: bool) -> bool | None:
    """Return whether a verdict is right; None where that is not known."""
    return None if truth == UNKNOWN else different == (truth != SAME)


def _counts(groups: Sequence[Group]) -> list[str]:
    lines = [
        (*_head(group), _truth(group), _first(group)["trials"], *(_share(group, name) for name in READINGS))
        for group in groups
    ]
    return table_lines(("pair", "rows", "known", "draws", *READINGS), lines, "lllr" + "l" * len(READINGS))


def _share(group: Group, title: str) -> str:
    method, column = READINGS[title]
    return _cell(group, method, lambda row: shown(row[column], row["trials"]))


def shown(hits: int, trials: int) -> str:
    """Return a count and the exact 95 % interval of its share, in percent."""
    share = proportion(hits, trials)
    return f"{hits} ({100.0 * share.low:.0f} to {100.0 * share.high:.0f} %)"


def _summary(whole: Sequence[Group], null: Sequence[Group], others: Sequence[Group]) -> list[str]:
    kinds = {
        "right verdicts on all rows": [group for group in whole if _truth(group) != UNKNOWN],
        "false alarms in draws": null,
        "populations that differ, found in draws": [group for group in others if _truth(group) == DIFFER],
        "relations that differ, found in draws": [group for group in others if _truth(group) == RELATIONS],
    }
    lines = [
        (what, *(_total(groups, title, verdicts=k == 0) for title in READINGS))
        for k, (what, groups) in enumerate(kinds.items())
    ]
    return table_lines(("", *READINGS), lines, "l" + "r" * len(READINGS))


def _total(groups: Sequence[Group], title: str, *, verdicts: bool) -> str:
    """Return how often a reading is right, or finds a difference, of how many comparisons."""
    method, column = READINGS[title]
    rows = [group[method] for group in groups if method in group]
    if not rows:
        return _ABSENT
    hits = sum(bool(is_right(row["truth"], row[column] > 0)) if verdicts else row[column] for row in rows)
    return f"{hits} of {sum(row['trials'] for row in rows)}"


def _seconds(whole: Sequence[Group], draws: Sequence[Group]) -> list[str]:
    by_pair = {_first(group)["pair"]: group for group in draws}
    lines = []
    for group in whole:
        other = by_pair.get(_first(group)["pair"], {})
        cells = [" / ".join(_cell(own, name, _time) for own in (group, other)) for name in _BY_COLUMN]
        lines.append((_first(group)["pair"], *cells))
    return table_lines(("pair", *_BY_COLUMN), lines, "l" + "r" * len(_BY_COLUMN))


def _time(row: Row) -> str:
    return f"{row['seconds'] / row['trials']:.2f}"
