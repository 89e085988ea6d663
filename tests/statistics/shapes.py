"""Sizes that between them reach every branch of the loops over blocks."""

from __future__ import annotations

from typing import NamedTuple

from btests.plan import Plan


class Shape(NamedTuple):
    """Rows of both samples, block size and width."""

    n_x: int
    n_y: int
    block_size: int
    d: int

    @property
    def plan(self) -> Plan:
        """The plan of the rows."""
        return Plan.of_size(self.n_x, self.n_y, self.block_size)


SHAPES = [
    Shape(64, 64, 2, 1),
    Shape(91, 91, 3, 2),  # a remainder: blocks of 4 and 3
    Shape(95, 95, 3, 3),
    Shape(203, 203, 14, 5),
    Shape(170, 170, 8, 36),
    Shape(130, 130, 8, 37),
    Shape(400, 400, 40, 2),  # more rows in a block than groups
    Shape(1700, 1700, 70, 2),
    Shape(900, 900, 35, 7),  # an odd number of rows in most blocks, and products of rows
    Shape(2001, 2001, 2, 1),
    Shape(30, 30, 30, 1),  # one block: quadratic time
    Shape(33, 33, 33, 2),
    Shape(50, 50, 25, 2),
    Shape(100, 100, 50, 37),
    Shape(200, 200, 100, 100),
    Shape(1000, 1000, 1000, 1),
    Shape(520, 520, 260, 3),
    Shape(64, 64, 16, 2000),
    Shape(40, 40, 20, 2000),
    Shape(50, 73, 10, 3),  # samples of unequal sizes
    Shape(8, 64, 4, 3),
    Shape(90, 60, 7, 300),
    Shape(1000, 1300, 100, 4),
    Shape(2, 40, 2, 1),
    Shape(97, 95, 95, 40),
]

# Blocks large enough to be cut into parts.
LARGE = [Shape(1100, 1100, 1100, 2), Shape(1030, 1200, 1030, 4), Shape(1024, 1024, 1024, 40)]
