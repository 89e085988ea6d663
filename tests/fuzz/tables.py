"""Random tables of mixed columns, nearly all of which a comparison can take."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

#: Texts that terminals, shells, CSV readers and pages may stumble over.
ODD_TEXTS = (
    *(
        "",
        " ",
        ",",
        ";",
        "\t",
        '"',
        "'",
        "a,b",
        'a"b',
        "a\nb",
        "a\r\nb",
        "\x00",
        "\x1b[31mred\x1b[0m",
        "\x07",
        "\x9b2J",
    ),
    *(
        "\u202eabc",
        "\ufeff",
        "\u2028",
        "naïve",
        "日本語",
        "🙂",
        "e\u0301",
        "NaN",
        "nan",
        "null",
        "None",
        "NA",
        "-",
        "#N/A",
    ),
    *(
        "true",
        "0",
        "-0",
        "1e999",
        "1e-999",
        "0x10",
        "1_000",
        "1,5",
        "١٢",
        "2024-13-45",
        "99999-01-01",
        "=1+1",
        "<b>&amp;",
    ),
    *(
        "</script><script>alert(1)</script>",
        "$(ls)",
        "`ls`",
        "%s%d",
        "{0}",
        "{}",
        "\\",
        "../..",
        "-x",
        "--json",
        "*",
        "[a]",
    ),
    *("x" * 3000, "a b", "A", "a", "missing", "other", "side", "Unnamed: 0"),
)


@dataclass(frozen=True, slots=True)
class Table:
    """Names of columns, and their cells; all columns have the same number of cells."""

    names: tuple[str, ...]
    columns: tuple[tuple[Any, ...], ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def take(self, start: int, stop: int) -> Table:
        """Return some rows."""
        return Table(self.names, tuple(column[start:stop] for column in self.columns))

    def without(self, column: int) -> Table:
        """Return the table without a column."""
        keep = [k for k in range(len(self.names)) if k != column]
        return Table(tuple(self.names[k] for k in keep), tuple(self.columns[k] for k in keep))


Maker = Callable[[Random, int], list[Any]]


def _choices(*cells: Any) -> Maker:
    return lambda rng, n: rng.choices(cells, k=n)


def _normal(rng: Random, n: int) -> list[Any]:
    return [rng.gauss(0.0, 1.0) for _ in range(n)]


def _rounded(rng: Random, n: int) -> list[Any]:
    return [round(rng.gauss(3.0, 2.0), 1) for _ in range(n)]


def _counts(rng: Random, n: int) -> list[Any]:
    return [int(rng.expovariate(0.3)) for _ in range(n)]


def _days(rng: Random, n: int) -> list[Any]:
    return [datetime.date(2024, 1, 1) + datetime.timedelta(days=rng.randrange(200)) for _ in range(n)]


def _times(rng: Random, n: int) -> list[Any]:
    start = datetime.datetime(2024, 1, 1)
    return [start + datetime.timedelta(seconds=rng.randrange(10**7)) for _ in range(n)]


def _holes(make: Maker) -> Maker:
    def draw(rng: Random, n: int) -> list[Any]:
        share = rng.choice([0.05, 0.3, 0.9])
        return [None if rng.random() < share else cell for cell in make(rng, n)]

    return draw


#: Columns that every comparison takes.
GOOD: dict[str, Maker] = {
    "normal": _normal,
    "rounded": _rounded,
    "counts": _counts,
    "codes": _choices(1, 2, 3),
    "ties": _choices(0.0, 0.5, 1.0, 2.5),
    "category": _choices("red", "green", "blue"),
    "boolean": _choices(True, False),
    "days": _days,
    "times": _times,
    "normal with holes": _holes(_normal),
    "counts with holes": _holes(_counts),
    "category with holes": _holes(_choices("red", "green", "blue")),
    "boolean with holes": _holes(_choices(True, False)),
    "days with holes": _holes(_days),
}


def _sprinkled(make: Maker, *odd: Any) -> Maker:
    """Return columns with a few odd cells among good ones."""

    def draw(rng: Random, n: int) -> list[Any]:
        cells = make(rng, n)
        for _ in range(rng.randint(1, 3)):
            if cells:
                cells[rng.randrange(n)] = rng.choice(odd)
        return cells

    return draw


def _constant(rng: Random, n: int) -> list[Any]:
    return [rng.choice([0, 1.5, "a", True, None, math.nan])] * n


def _rare(rng: Random, n: int) -> list[Any]:
    return [int(k == 0) for k in range(n)]


def _identifiers(rng: Random, n: int) -> list[Any]:
    return [f"id-{rng.randrange(10**6)}" for _ in range(n)]


#: Columns that are unusual; some cannot be compared, or not written in every format.
ODD: dict[str, Maker] = {
    "texts": lambda rng, n: rng.choices(ODD_TEXTS, k=n),
    "some odd texts": _sprinkled(_choices("red", "green", "blue"), *ODD_TEXTS),
    "some odd texts among numbers": _sprinkled(_normal, "n/a", "-", "1e999", "1,5", "#REF!"),
    "constant": _constant,
    "nothing": lambda rng, n: [None] * n,
    "one cell": _rare,
    "identifiers": _identifiers,
    "infinite": _sprinkled(_normal, math.inf, -math.inf),
    "not a number": _sprinkled(_normal, math.nan),
    "huge": _sprinkled(_normal, 1e300, -1.7e308, 1e18),
    "tiny": lambda rng, n: [5e-324 * rng.randrange(9) for _ in range(n)],
    "offset": lambda rng, n: [1e15 + rng.randrange(5) for _ in range(n)],
    "long integers": lambda rng, n: [2**53 + rng.randrange(9) for _ in range(n)],
    "longer integers": _sprinkled(_counts, 2**63 - 1, -(2**63), 2**64 - 1, 2**64, 10**30),
    "years": lambda rng, n: [rng.randrange(1900, 2030) for _ in range(n)],
    "old days": _sprinkled(_days, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)),
    "mixed": lambda rng, n: rng.choices([1, 2.5, "a", True, None, datetime.date(2024, 1, 1)], k=n),
    "lists": lambda rng, n: [[rng.random()] * rng.randrange(3) for _ in range(n)],
    "vectors": lambda rng, n: [[rng.gauss(0.0, 1.0) for _ in range(3)] for _ in range(n)],
    "long vectors": lambda rng, n: [[rng.gauss(0.0, 1.0) for _ in range(90)] for _ in range(n)],
    "some vectors": _sprinkled(
        lambda rng, n: [[rng.random(), 1e200] for _ in range(n)], None, [math.nan, 1.0], [None, 0]
    ),
    "records": lambda rng, n: [{"a": rng.random()} for _ in range(n)],
    "bytes": lambda rng, n: [rng.randbytes(3) for _ in range(n)],
    "durations": lambda rng, n: [datetime.timedelta(seconds=rng.randrange(999)) for _ in range(n)],
    "percentages": lambda rng, n: [f"{rng.gauss(50.0, 20.0):.1f} %" for _ in range(n)],
    "amounts": lambda rng, n: [f"${rng.gauss(5000.0, 2000.0):,.2f}" for _ in range(n)],
    "odd amounts": _sprinkled(
        lambda rng, n: [f"{rng.randrange(10**6):,}" for _ in range(n)],
        "5%",
        "-$1",
        "1.234,5",
        "+1",
        "",
        "9" * 3000 + "x",
    ),
    "leading zeros": lambda rng, n: [f"{rng.randrange(999):05d}" for _ in range(n)],
    "wide vectors": lambda rng, n: [[rng.gauss(0.0, 1.0)] * 700 for _ in range(n)],
    "hours": lambda rng, n: [datetime.time(rng.randrange(24), rng.randrange(60)) for _ in range(n)],
}

#: Columns that a numpy array of numbers can hold.
NUMBERS = ("normal", "rounded", "counts", "codes", "ties")


def random_lengths(rng: Random, *, odd: bool) -> tuple[int, int]:
    """Return rows of two tables: a few as a rule, sometimes hardly any, rarely a thousand."""
    least, most = rng.choice([(6, 20), (10, 40), (20, 60)])
    if odd:
        least, most = rng.choice([(0, 3), (1, 8), (2, 2), (300, 1200)])
    return rng.randint(least, most), rng.randint(least, most)


def random_tables(rng: Random, lengths: tuple[int, ...], *, odd: bool, numbers: bool = False) -> list[Table]:
    """Return tables of these lengths with the same columns, drawn alike or with a shift."""
    kinds = rng.choices(NUMBERS if numbers else list(GOOD), k=rng.choice([1, 1, 2, 2, 3, 4]))
    makers = [GOOD[kind] for kind in kinds]
    names = [f"x{k}" if numbers else "uvwxyz"[k] for k in range(len(kinds))]  # x0, x1: as columns of arrays are called
    if odd and not numbers:
        for _ in range(rng.randint(1, 2)):
            makers.insert(rng.randint(0, len(makers)), ODD[rng.choice(list(ODD))])
            names = [f"c{k}" for k in range(len(makers))]
    if odd and rng.random() < 0.4:
        names[rng.randrange(len(names))] = rng.choice(ODD_TEXTS)
    if odd and rng.random() < 0.05:
        names = [names[0]] * len(names)
    shift = rng.choice([0.0, 0.0, 1.0, 5.0])
    found = []
    for k, n in enumerate(lengths):
        columns = [make(rng, n) for make in makers]
        columns = [_shifted(cells, shift * k) for cells in columns]
        found.append(Table(tuple(names), tuple(tuple(cells) for cells in columns)))
    return found


def _shifted(cells: list[Any], shift: float) -> list[Any]:
    if not shift:
        return cells
    return [cell + shift if isinstance(cell, float) else cell for cell in cells]
