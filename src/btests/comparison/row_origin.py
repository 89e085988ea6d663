"""Where the rows of a table are in the files, or in the data frame, that it was read from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

import numpy as np

from btests.plan import Index


@dataclass(frozen=True, slots=True)
class RowOrigin:
    """Number of each row of a table among all rows of its source.

    Attributes
    ----------
    numbers : ndarray of int, shape (n,), or None
        Numbers from 0; None if the table has all rows of the source in their order.
    files : tuple of (str, int)
        Name and number of rows of each file, in their order; empty where there is one source.
    """

    numbers: Index | None = None
    files: tuple[tuple[str, int], ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether the table has all rows of one source, in their order."""
        return self.numbers is None and not self.files

    def take(self, rows: Index | None) -> RowOrigin:
        """Return the origin of some rows of the table, of all for None."""
        if rows is None:
            return self
        return replace(self, numbers=rows if self.numbers is None else self.numbers[rows])

    def place(self, row: int) -> tuple[str | None, int]:
        """Return the file of a row, None where there is one source, and its number there, from 1.

        Examples
        --------
        >>> import numpy as np
        >>> RowOrigin().place(4), RowOrigin(np.array([0, 12]), (("a.csv", 10), ("b.csv", 10))).place(1)
        ((None, 5), ('b.csv', 3))
        """
        number = row if self.numbers is None else int(self.numbers[row])
        if not self.files:
            return None, number + 1
        ends = np.cumsum([rows for _, rows in self.files])
        k = bisect_right(ends, number)
        return self.files[k][0], number + 1 - (int(ends[k - 1]) if k else 0)


#: All rows of one source, in their order.
WHOLE = RowOrigin()
