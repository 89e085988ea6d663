"""A comparison as plain values: the schema of docs/compare-schema.md."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from btests.comparison.charts import histogram

if TYPE_CHECKING:
    from btests.comparison.api import Comparison

#: Changes with the meaning of a key, not with keys that are added.
SCHEMA = "btests.compare/1"


def as_dict(found: Comparison) -> dict[str, Any]:
    """Return everything of a comparison as plain values, None where a number is not finite."""
    from btests import __version__
    from btests.comparison.text import effect_interval, effect_meaning, largest_move, short_name, verdict
    from btests.comparison.tolerance import least_share

    settings = found.details["settings"]
    tolerance = settings["tolerance"]
    low, high = effect_interval(found.effect)
    result = found.result
    interval = effect_interval(result)
    details = found.details
    whole = {
        "schema": SCHEMA,
        "version": __version__,
        "names": {"a": found.names[0], "b": found.names[1]},
        "verdict": {
            "different": found.different,
            "text": verdict(found),
            "pvalue": found.pvalue,
            "pvalue_at_all": details["pvalue_at_all"],
            "alpha": found.alpha,
            "smallest_pvalue": details["smallest_pvalue"],
            "tolerance": tolerance,
            "question": "at all" if tolerance is None else "more than the tolerance",
            "beyond": details["beyond"],
        },
        "effect": {
            "mmd2": found.effect.summary.mean(),
            "low": low,
            "high": high,
            "level": 0.95,
            "kernel": repr(found.effect.kernel),
            "kernel_short": short_name(found.effect.kernel),
            "least_share": least_share(effect_interval(found.effect)[0], found.effect.kernel),
            "meaning": effect_meaning(found),
            "largest_move": largest_move(found),
        },
        "rows": details["rows"],
        "test": {
            **result.to_dict(),
            "kernel_short": short_name(result.kernel),
            "threshold": result.threshold(found.alpha),
            "confidence_interval": None if interval[0] is None else list(interval),
        },
        "looks": [asdict(look) for look in found.looks],
        "blocks": {
            "n": result.n_blocks,
            "size": result.block_size,
            "axis": f"block MMD^2 with {short_name(result.kernel)}",
            "mean": result.summary.mean(),
            "histogram": histogram(result.block_values),
        },
        "columns": [
            {
                "name": column.name,
                "kind": column.kind,
                "rank": rank,
                "effect": column.effect,
                "pvalue": column.pvalue,
                "pvalue_corrected": column.pvalue_corrected,
                "moved": column.moved,
                "pvalue_beyond": column.pvalue_beyond,
                "beyond": column.beyond,
                "summary": column.summary,
                "what": [move.to_dict() for move in column.what],
                "a": column.a,
                "b": column.b,
                **column.details,
            }
            for rank, column in enumerate(found.columns, start=1)
        ],
        "relations": [{**asdict(r), "columns": list(r.columns)} for r in found.relations],
        "relations_tested": details["relations_tested"],
        "witness": details["witness"],
        "examples": details["examples"],
        "left_out": [{"name": name, "why": why} for name, why in found.left_out],
        "notes": list(found.notes),
        "settings": settings,
        "command": details["command"],
        "command_note": details.get("command_note"),
        "seconds": details["seconds"],
        "memory_bytes": peak_memory(),
    }
    plain: dict[str, Any] = _plain(whole)
    return plain


def peak_memory() -> int | None:
    """Return the most memory that this process has had, in bytes, None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    import sys

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


def _plain(value: Any) -> Any:
    """Return a value with numbers that JSON does not know as None."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
