"""Invariants of a comparison: its verdict, columns, relations, effects and texts do not contradict one another."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from btests.comparison.format import text_width

Document = Mapping[str, Any]

# Words of a difference: of tables, of columns, of relations.
_CHANGE = re.compile(r"\b(chang\w*|mov\w*|differ\w*|more often|less often)\b|->")

# The same where none was found.
_NONE = re.compile(
    r"no difference found|no evidence that .* differ by more than [\d.e-]+ % of the rows|no change found"
    r"|no single column changed significantly",
    re.IGNORECASE,
)

# Columns on a screen without a height, and its width.
_MOST_COLUMNS, _WIDTH = 20, 80

_SHARE = re.compile(r"(?:about|at least|not significantly more than) ([\d.e-]+) % of the rows changed")
_ON_PAGE = re.compile(r"rows that changed (?:about|at least|not significantly more than) ([\d.e-]+) %")


def contradictions(document: Document, text: str) -> list[str]:
    """Return what contradicts something else in a comparison of two tables.

    Parameters
    ----------
    document : mapping
        ``Comparison.to_dict()``.
    text : str
        ``str()`` of the same.
    """
    return [*_of_verdict(document), *_of_columns(document), *_of_effect(document), *_of_text(document, text)]


def _of_verdict(document: Document) -> Iterator[str]:
    verdict, columns, relations = document["verdict"], document["columns"], document["relations"]
    alpha, tolerance, any_p = verdict["alpha"], verdict["tolerance"], verdict["pvalue_any_difference"]
    if verdict["different"] != (verdict["pvalue"] <= alpha):
        yield "the verdict is not that of its p-value"
    if verdict["pvalue"] < any_p:
        yield "more than the tolerance is more significant than any difference"
    if verdict["pvalue"] < verdict["smallest_pvalue"] * (1.0 - 1e-9):
        yield "a p-value is smaller than the smallest possible"
    marks = "changed" if tolerance is None else "beyond"
    if any(column[marks] for column in columns) and not verdict["different"]:
        yield f"a column is marked ({marks}), and no difference was found"
    found = any_p <= alpha
    if not found and (relations or any(column["changed"] for column in columns)):
        yield "columns or relations changed, and no difference was found"
    if not found and (document["witness"] or document["examples"]):
        yield "regions or rows that differ, and no difference was found"
    if found and not relations and not any(column["changed"] for column in columns):
        joint = next(test["pvalue"] for test in document["tests"] if test["name"] == "joint")
        if joint > alpha:
            yield "a difference without a column, a relation or the joint test"


def _of_columns(document: Document) -> Iterator[str]:
    verdict, columns = document["verdict"], document["columns"]
    alpha, tolerance = verdict["alpha"], verdict["tolerance"]
    for column in columns:
        name = column["name"]
        if column["changed"] != (column["pvalue_corrected"] <= alpha):
            yield f"{name}: the mark is not that of the p-value"
        if column["pvalue_corrected"] < column["pvalue"]:
            yield f"{name}: the corrected p-value is smaller"
        if column["changed"] != (column["effect"] > 0.0):
            yield f"{name}: effect {column['effect']}, changed {column['changed']}"
        if not column["changed"] and (column["changes"] or _CHANGE.search(_NONE.sub("", column["summary"]))):
            yield f"{name}: changes of a column that did not change"
        yield from _of_tolerance(column, alpha, tolerance)
    effects = [column["effect"] for column in columns]
    if effects != sorted(effects, reverse=True):
        yield "columns are not in the order of their effects"
    unchanged = {column["name"] for column in columns if not column["changed"]}
    for relation in document["relations"]:
        if not set(relation["columns"]) <= unchanged:
            yield f"{relation['columns']}: a relation of a column that changed"
        if relation["pvalue_corrected"] > alpha:
            yield f"{relation['columns']}: a relation that is not significant"


def _of_tolerance(column: Document, alpha: float, tolerance: float | None) -> Iterator[str]:
    name = column["name"]
    if tolerance is None:
        if column["beyond"] is not None:
            yield f"{name}: beyond no tolerance"
        return
    if column["beyond"] != (column["pvalue_beyond"] <= alpha):
        yield f"{name}: the mark of the tolerance is not that of the p-value"
    if column["beyond"] and (not column["changed"] or column["effect"] <= tolerance):
        yield f"{name}: beyond the tolerance by {column['effect']}"
    if tolerance == 0.0 and column["pvalue_beyond"] != column["pvalue_corrected"]:
        yield f"{name}: more than nothing is not any difference"


def _of_effect(document: Document) -> Iterator[str]:
    verdict, effect = document["verdict"], document["effect"]
    most = 1.0 if verdict["different"] else verdict["tolerance"] or 0.0
    if verdict["pvalue_any_difference"] > verdict["alpha"]:
        most = 0.0
    bound = effect["total_variation_bound"]
    if bound is not None and bound > most + 1e-12:
        yield f"at least {bound} of the rows differ, and the verdict finds no more than {most}"
    share, largest = effect["share"], document["columns"][0]["effect"]
    if not max(min(largest, most), bound or 0.0) <= share <= most + 1e-12:
        yield f"effect {share}, a column of {largest}, a bound of {bound}, and the verdict finds no more than {most}"
    if (share > 0.0) != ("of the rows changed" in effect["meaning"] and "no lower bound" not in effect["meaning"]):
        yield f"effect {share}: {effect['meaning']}"
    if document["detectable"] is not None and verdict["pvalue_any_difference"] <= verdict["alpha"]:
        yield "a difference was found, and the rows would have shown one"
    intervals = [(effect["low"], effect["high"]), document["test"]["confidence_interval"] or (None, None)]
    for low, high in intervals:
        if low is not None and (low > 2.0 * most**2 + 1e-12) * (most < 1.0) + (low > high):
            yield f"MMD^2 between {low} and {high}, and the verdict finds no more than {2.0 * most**2}"


def _of_text(document: Document, text: str) -> Iterator[str]:
    verdict = document["verdict"]
    words = " ".join(text.split())
    if " ".join(verdict["text"].split()) not in words:
        yield "the verdict is not on the screen"
    if verdict["different"] == bool(
        re.match(r"No (difference found|evidence)|.* are identical", verdict["text"], re.DOTALL)
    ):
        yield f"the verdict is {verdict['different']}, and its text {verdict['text']!r}"
    starred = len(re.findall(r"^\* (?!changed)", text, re.MULTILINE))
    marks = "changed" if verdict["tolerance"] is None else "beyond"
    if starred != sum(column[marks] for column in document["columns"][:_MOST_COLUMNS]):
        yield f"{starred} columns are marked on the screen"
    if verdict["pvalue_any_difference"] > verdict["alpha"]:
        body = re.sub(r"(?ms)^(note|excluded)\b.*|^  column +change [^\n]*|^  power .*?(?=^  rows )", "", text)
        odd = _CHANGE.search(_NONE.sub("", " ".join(body.split())))
        if odd or _SHARE.search(words):
            yield f"words of a difference without one: {odd and odd[0]!r} in {body!r}"


def page_contradictions(document: Document, text: str, page: str) -> list[str]:
    """Return what the page of a comparison says otherwise than its screen and its dictionary.

    Parameters
    ----------
    document : mapping
        ``Comparison.to_dict()``.
    text : str
        ``str()`` of the same.
    page : str
        Its page.
    """
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    words = _plain(html.unescape(re.sub(r"<[^>]+>", " ", shown)))
    screen, found = _plain(text), []
    marks = "changed" if document["verdict"]["tolerance"] is None else "beyond"
    n_marked = sum(column[marks] for column in document["columns"])
    if shown.count('<tbody class="changed">') != n_marked:
        found.append(f"{n_marked} columns are marked, and others on the page")
    shares = [re.search(pattern, part) for pattern, part in ((_SHARE, screen), (_ON_PAGE, words))]
    if any((share is not None) != (document["effect"]["share"] > 0.0) for share in shares):
        found.append(f"effect {document['effect']['share']}: {shares}")
    elif shares[0] is not None and shares[1] is not None and abs(float(shares[0][1]) - float(shares[1][1])) > 0.1:
        found.append(f"at least {shares[0][1]} % on the screen and {shares[1][1]} % on the page")
    said = [document["verdict"]["text"], *document["notes"], *(one["text"] for one in document["relations"][:5])]
    if document["detectable"] is not None and "are identical" not in document["verdict"]["text"]:
        said.append(document["detectable"]["text"])
    found += [f"not on the screen: {one}" for one in said if _plain(one) not in screen]
    said += [column["summary"] for column in document["columns"] if column["changed"]]
    found += [f"not on the page: {one}" for one in said if _plain(one) not in words]
    return found + [f"wide: {line}" for line in text.splitlines() if text_width(line) > _WIDTH]


def _plain(text: str) -> str:
    """Return text on one line, with the arrows and minus signs of a screen."""
    return " ".join(text.replace("\u2192", "->").replace("\u2212", "-").split())


def group_contradictions(document: Document, text: str) -> list[str]:
    """Return what contradicts something else in a comparison of several groups."""
    verdict, found = document["verdict"], []
    for kind in ("columns", "pairs"):
        for part in document[kind]:
            if part["different"] != (part["pvalue_corrected"] <= verdict["alpha"]):
                found.append(f"{kind}: a mark is not that of its p-value")
            if part["different"] and not verdict["different"]:
                found.append(f"{kind}: a difference, and the verdict finds none")
            if not part["different"] and (part["effect"] or part.get("group") or part.get("changes")):
                found.append(f"{kind}: an effect without a difference")
    if verdict["different"] == ("no difference found" in verdict["text"]):
        found.append(f"the verdict is {verdict['different']}, and its text {verdict['text']!r}")
    if not verdict["different"] and re.search(r"^\*", text, re.MULTILINE):
        found.append("marks without a difference")
    return found
