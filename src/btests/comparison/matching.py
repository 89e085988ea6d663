"""Columns of two tables, matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from btests.comparison.cells import KINDS, kind_of
from btests.comparison.sources import Loaded
from btests.comparison.tokens import first_text, hint_at_marks
from btests.comparison.wording import option


@dataclass(frozen=True, slots=True)
class Matched:
    """Columns that both tables have, in the order of the first, and those that take no part, with the reason."""

    names: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def match(
    a: Loaded,
    b: Loaded,
    columns: Sequence[str],
    exclude: Sequence[str],
    *,
    common: bool,
    categories: Sequence[str] = (),
) -> Matched:
    """Return the columns to compare; what does not match is an error that names it, or left out where ``common``."""
    in_a, in_b = a.table.column_names, b.table.column_names
    _require("columns", columns, a, b, common)
    _require("exclude", exclude, a, b, True)
    _require("categories", categories, a, b, True)
    wanted = [name for name in in_a if (not columns or name in columns) and name not in exclude]
    extra = [name for name in in_b if name not in in_a and (not columns or name in columns) and name not in exclude]
    left_out = [(name, "excluded") for name in dict.fromkeys([*in_a, *in_b]) if name in exclude]
    if columns:
        named = set(columns) | set(exclude)
        left_out += [
            (name, "not among the columns asked for") for name in dict.fromkeys([*in_a, *in_b]) if name not in named
        ]
    only_a = [name for name in wanted if name not in in_b]
    if not set(in_a) & set(in_b):
        raise ValueError(f"{a.name} and {b.name} have no column in common: {_some(in_a)} against {_some(in_b)}")
    if (only_a or extra) and not common:
        parts = [f"only in {t.name}: {_some(names)}" for t, names in ((a, only_a), (b, extra)) if names]
        raise ValueError(
            f"the tables do not have the same columns ({'; '.join(parts)}); "
            f"{option('common', True)} goes on with the others"
        )
    left_out += [(name, f"only in {a.name}") for name in only_a] + [(name, f"only in {b.name}") for name in extra]
    kept, conflicts = [], []
    for name in wanted:
        if name not in in_b:
            continue
        kinds = kind_of(a.table[name].type), kind_of(b.table[name].type)
        for side, kind in zip((a, b), kinds, strict=True):
            if kind not in (*KINDS, "empty"):
                conflicts.append((name, f"holds {kind} in {side.name}", _odd(side, name, kind)))
                break
        else:
            if "empty" in kinds or kinds[0] == kinds[1]:
                kept.append(name)
                continue
            what = [_kind(kind) + " in " + side.name for kind, side in zip(kinds, (a, b), strict=True)]
            if set(kinds) == {"number", "category"}:
                k = kinds.index("category")
                what[k] += first_text((a, b)[k].table[name])
            why = f"is {what[0]} and {what[1]}"
            conflicts.append((name, why, ""))
    if conflicts and not common:
        name, why, _ = conflicts[0]
        more = f" (and {len(conflicts) - 1} more such)" if len(conflicts) > 1 else ""
        hint = hint_at_marks(name, [a.table[name], b.table[name]])
        advice = f"leave it out with {option('exclude')}, or go on without such columns with {option('common', True)}"
        raise ValueError(f"column {name!r} {why}{more}; {hint or advice}")
    left_out += [(name, why) for name, why, _ in conflicts]
    if not kept:
        raise ValueError(f"no column of {a.name} and {b.name} is left to compare: {reasons(left_out)}")
    return Matched(tuple(kept), tuple(left_out))


def reasons(left_out: Sequence[tuple[str, str]], most: int = 4) -> str:
    """Return columns and why they are left out, as part of a sentence."""
    shown = "; ".join(f"{name!r}: {why}" for name, why in left_out[:most])
    return shown + (f" and {len(left_out) - most} more" if len(left_out) > most else "")


def _require(keyword: str, names: Sequence[str], a: Loaded, b: Loaded, either: bool) -> None:
    for name in names:
        absent = [t.name for t in (a, b) if name not in t.table.column_names]
        if len(absent) == 2 or (absent and not either):
            there = _some(a.table.column_names)
            raise ValueError(
                f"{option(keyword)} names {name!r}, which is not in {' nor in '.join(absent)}; there are {there}"
            )


def _odd(side: Loaded, name: str, kind: str) -> str:
    return f"{side.name}: {name} ({kind})"


def _kind(kind: str) -> str:
    return {"number": "numbers", "boolean": "true or false", "category": "text", "time": "times"}[kind]


def _some(names: Sequence[Any], most: int = 6) -> str:
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
