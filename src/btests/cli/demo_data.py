"""Two small demo tables: the orders of two shops, with known changes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from btests.atomic_file import write_file

#: The files that ``write_demo_tables`` writes.
FILES = ("reference.csv", "current.csv")

_ROWS = 2000


def write_demo_tables(folder: Path, *, force: bool = False) -> None:
    """Write both tables; in the second, amounts are larger, fewer ratings are there, and more is paid by card."""
    for k, name in enumerate(FILES):
        try:
            write_file(folder / name, partial(_write, k), force=force)
        except FileExistsError:
            raise ValueError(f"{str(folder / name)!r} exists already; add --force to overwrite it") from None


def _write(k: int, file: IO[bytes]) -> None:
    rng = np.random.default_rng([2013, k])
    file.write(b"order,ordered,shop,amount,items,paid,gift,rating\n")
    file.writelines(_line(rng, 1000 + row, changed=bool(k)).encode() for row in range(_ROWS))


def _line(rng: np.random.Generator, number: int, *, changed: bool) -> str:
    day = np.datetime64("2024-03-01") + int(rng.integers(92))
    shop = rng.choice(["north", "south", "west"], p=[0.5, 0.3, 0.2])
    items = 1 + int(rng.poisson(1.5))
    amount = items * float(rng.lognormal(2.5 + 0.15 * changed, 0.6))
    paid = rng.choice(["card", "cash", "invoice"], p=[0.62, 0.28, 0.1] if changed else [0.5, 0.4, 0.1])
    rating = "" if rng.random() < (0.45 if changed else 0.3) else str(int(rng.integers(1, 6)))
    gift = "true" if rng.random() < 0.1 else "false"
    return f"{number},{day},{shop},{amount:.2f},{items},{paid},{gift},{rating}\n"
