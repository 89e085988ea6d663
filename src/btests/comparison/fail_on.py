"""Conditions under which a comparison counts as failed in a pipeline, such as ``effect>10%``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from btests._option_checks import share_of
from btests._text import brief, close_match
from btests.comparison.format import option

#: Kinds of conditions.
KINDS = ("difference", "effect", "columns", "column", "never")

_FORMS = "difference, effect>10%, columns>2, column:NAME, column:NAME>10% or never"


@dataclass(frozen=True, slots=True)
class FailOn:
    """A condition on the result of a comparison.

    Attributes
    ----------
    text : str
        The condition as it was given.
    kind : str
        ``"difference"`` (the verdict), ``"effect"`` (share of rows that changed), ``"columns"`` (number of
        columns that changed), ``"column"`` (effect of one column) or ``"never"``.
    more_than : float
        What the share or the number exceeds.
    name : str
        Name of the column.
    """

    text: str
    kind: str
    more_than: float = 0.0
    name: str = ""

    @classmethod
    def parse(cls, text: object) -> FailOn:
        """Return the condition of a text; raise ``ValueError`` or ``TypeError`` if there is none."""
        if not isinstance(text, str):
            raise TypeError(f"fail_on must be {_FORMS}, got {brief(text)}")
        words = text.strip()
        if words in ("difference", "never"):
            return cls(words, words)
        if words.startswith("column:") and len(words) > len("column:"):
            return cls._of_column(words)
        found = re.fullmatch(r"(effect|columns)\s*(?:>\s*([^>=]+))?", words)
        if found is None:
            like = close_match(re.split(r"[\s:<>=]", words)[0], KINDS)
            hint = f"; did you mean {like!r}?" if like and like != words else ""
            raise ValueError(f"fail_on must be {_FORMS}, got {brief(text)}{hint}")
        kind, limit = found[1], (found[2] or "0").strip()
        if kind == "columns":
            if not limit.isdecimal():
                raise ValueError(f"fail_on counts columns, such as columns>2, got {brief(text)}")
            return cls(words, kind, float(limit))
        return cls(words, kind, share_of("fail_on effect", limit))

    @classmethod
    def _of_column(cls, words: str) -> FailOn:
        """Return the condition on a column, whose name may have any characters."""
        name, mark, limit = words.removeprefix("column:").rpartition(">")
        if mark and re.match(r"\s*[\d.]", limit):
            return cls(words, "column", share_of("fail_on column", limit.strip()), name.strip())
        return cls(words, "column", 0.0, words.removeprefix("column:"))

    def value(self, found: Any) -> float:
        """Return the share or the number that the condition is about, of a `Comparison` or `GroupComparison`."""
        if self.kind == "effect":
            return float(found.effect)
        if self.kind == "column":
            try:
                column = found[self.name]
            except KeyError as error:
                raise ValueError(f"{option('fail_on')} is {self.text!r}, and {error.args[0]}") from None
            return float(column.effect) if _is_marked(column) else 0.0
        if self.kind == "columns":
            return float(sum(map(_is_marked, found.columns)))
        return float(found.different and self.kind == "difference")

    def holds(self, found: Any) -> bool:
        """Whether the condition holds; no condition holds without a difference."""
        return bool(found.different) and self.value(found) > self.more_than


def _is_marked(column: Any) -> bool:
    """Whether a column changed, or with a tolerance by more than that, or differs between groups."""
    beyond = getattr(column, "beyond", None)
    if beyond is not None:
        return bool(beyond)
    return bool(column.changed if hasattr(column, "changed") else column.different)


def check_fail_on(texts: object) -> tuple[str, ...]:
    """Return one or several conditions as texts; raise if a text is no condition, or there is none."""
    listed = [texts] if isinstance(texts, (str, bytes, Mapping)) or not isinstance(texts, Iterable) else texts
    found = tuple(FailOn.parse(text).text for text in listed)
    if not found:
        raise ValueError(f"fail_on must be {_FORMS}, or several of these, got {brief(texts)}")
    return found


def failed(found: Any, conditions: Iterable[str]) -> bool:
    """Whether any condition holds."""
    return any(FailOn.parse(text).holds(found) for text in conditions)
