"""Rows that wait for their turn."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from btests.data.protocol import Rows
from btests.plan import Array


@dataclass(slots=True)
class Queue:
    """Rows of one sample that wait, first in, first out."""

    batches: deque[Array] = field(default_factory=deque)
    n_rows: int = 0

    def put(self, rows: Rows) -> None:
        """Add rows (m, d), as float64 and as a copy: the caller may use the array again."""
        self.batches.append(np.array(rows, dtype=np.float64))
        self.n_rows += len(rows)

    def take_back(self) -> None:
        """Let go of what is left of the rows that came last."""
        self.n_rows -= len(self.batches.pop())

    def first(self, n: int) -> Array:
        """Return the first n rows: (n, d)."""
        found, n_found = [], 0
        for batch in self.batches:
            if n_found == n:
                break
            found.append(batch[: n - n_found])
            n_found += len(found[-1])
        return np.concatenate(found)

    def drop(self, n: int) -> None:
        """Let the first n rows go."""
        self.n_rows -= n
        while n:
            batch = self.batches.popleft()
            if len(batch) > n:
                self.batches.appendleft(batch[n:])
            n -= min(n, len(batch))
