"""Batches of two samples, checked against those that came before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests._validation import check_batch, check_names, column_names
from btests.data.protocol import Rows


@dataclass(slots=True)
class Columns:
    """What all batches of both samples have in common: how many columns, and their names where they have any."""

    width: int | None = None
    names: list[str] | None = None

    def admit(self, x: Any, y: Any, names: Sequence[str] | None = None) -> tuple[Rows | None, Rows | None]:
        """Return batches as rows (m, d) in the order of columns of the first batch, None for no rows; both or none."""
        width, known = self.width, self.names
        admitted: list[Rows | None] = []
        for label, batch in (("x", x), ("y", y)):
            rows = None if batch is None else check_batch(label, batch)
            if rows is not None and len(rows):
                if width is not None and rows.shape[1] != width:
                    others = "those before had" if self.width is not None else "that of x has"
                    raise ValueError(f"this batch of {label} has {rows.shape[1]} columns, and {others} {width}")
                found = column_names(batch) or names
                if found is not None and known is not None and list(found) != known:
                    check_names(found, known, "this batch", "those before", f"all batches of {label}")
                    rows = np.ascontiguousarray(rows[:, [list(found).index(column) for column in known]])
                width, known = rows.shape[1], known or (None if found is None else list(found))
            admitted.append(rows if rows is not None and len(rows) else None)
        self.width, self.names = width, known  # both are right: now they count
        return admitted[0], admitted[1]
