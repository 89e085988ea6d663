"""Data of the demos with known differences, and what comes of the tests of the blobs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from btests.api import btest
from btests.atomic_file import write_file
from btests.datasets import blobs
from btests.kernels import Gaussian
from btests.plan import Array
from btests.result import TestResult

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


#: The level that the demo decides at.
LEVEL = 0.05

# The paper's "sigma = 1" is exp(-d^2 / 8), a standard deviation of 2.
_KERNEL = Gaussian(2.0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A sample of P and one of Q, and the tests of P against another sample of P and of P against Q."""

    seed: int
    p: Array
    q: Array
    same: TestResult
    different: TestResult

    @classmethod
    def of_blobs(cls, rows: int, seed: int) -> Outcome:
        """Return the outcome on ``rows`` points of the blobs in each sample."""
        rng = np.random.default_rng(seed)
        p, again, q = blobs(rows, rng), blobs(rows, rng), blobs(rows, rng, rotated=False)
        same, different = (btest(p, other, kernel=_KERNEL, block_size="sqrt", seed=seed) for other in (again, q))
        return cls(seed, p, q, same, different)

    def to_text(self) -> str:
        """Return a table with one column for each of the tests."""
        names = ("verdict", "p-value", "MMD^2", "95 % interval", "rows", "blocks", "computed", "time")
        lines = [("", "P against P", "P against Q"), ("truth", "same", "different")]
        lines += zip(names, _cells(self.same), _cells(self.different), strict=True)
        return "\n".join(
            [
                f"Blobs of Zaremba, Gretton and Blaschko (2013): {len(self.p)} rows a sample, seed {self.seed},",
                f"kernel {_KERNEL!r} (the paper's sigma = 1), level {LEVEL:g}",
                "",
                *(f"{name:<15}{left:<26}{right}".rstrip() for name, left, right in lines),
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain Python values."""
        tests = {"P against P": _plain(self.same), "P against Q": _plain(self.different)}
        return {"problem": "blobs", "rows": len(self.p), "seed": self.seed, "level": LEVEL, "tests": tests}


def _cells(result: TestResult) -> tuple[str, ...]:
    low, high = result.confidence_interval()
    more = "" if result.n_x % result.n_blocks == 0 else f" or {result.block_size + 1}"
    return (
        "different" if result.rejects(LEVEL) else "no difference found",
        f"{result.pvalue:.4g}",
        f"{result.statistic:.4g}",
        f"{low:.4g} to {high:.4g}",
        f"{result.n_x} and {result.n_y}",
        f"{result.n_blocks} of {result.block_size}{more} rows",
        result.engine,
        f"{1e3 * result.seconds:.1f} ms",
    )


def _plain(result: TestResult) -> dict[str, Any]:
    threshold = result.threshold(LEVEL)
    return {
        "rejects": result.rejects(LEVEL),
        **result.to_dict(),
        "confidence_interval": list(result.confidence_interval()),
        # JSON has no infinity: with too few draws for the level nothing exceeds the threshold.
        "threshold": threshold if math.isfinite(threshold) else None,
    }
