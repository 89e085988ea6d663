"""One thing that moved in a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that moved: what, how much on both sides, in words, and in standard errors."""

    what: str
    a: float | None
    b: float | None
    text: str
    errors: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"what": self.what, "a": self.a, "b": self.b, "text": self.text}
