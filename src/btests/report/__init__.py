"""The page: reads the plain values of a comparison and nothing else."""

from __future__ import annotations

from typing import Any


def render(comparison: dict[str, Any]) -> str:
    """Return a page for ``Comparison.to_dict()``."""
    raise ValueError(f"there is no page yet for {comparison['schema']}")
