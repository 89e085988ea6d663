"""Record results over kernels, nulls, block sizes and sources: ``python -m tests.recorded.record FILE``.

The file holds every number as ``float.hex``, with a digest of the block values, so that two versions of the package can
be compared to the last bit. Numbers depend on the instruction sets of the compiled loops and of the BLAS, which are
recorded too.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

import btests
from btests import _core

_KERNELS: dict[str, Callable[[], Any]] = {
    "default": lambda: btests.Aggregate(btests.default_family()),  # the default of that version
    "gaussian": lambda: btests.Gaussian(1.5),
    "laplacian": lambda: btests.Laplacian(2.0),
    "matern": lambda: btests.Matern(1.0),
    "rational": lambda: btests.RationalQuadratic(1.0),
    "energy": btests.Energy,
    "linear": btests.Linear,
    "polynomial": btests.Polynomial,
    "sum": lambda: btests.Gaussian(1.0) + 0.5 * btests.Laplacian(1.0),
    "median": btests.MedianHeuristic,
    "columns": lambda: btests.OnColumns(btests.Gaussian(1.0), (0, 2)),
    "function": lambda: _inner,
    "aggregate": lambda: btests.Aggregate([btests.Gaussian(s) for s in (0.5, 1.0, 2.0, 3.0)]),
    "rank": lambda: btests.Aggregate([btests.Gaussian(s) for s in (0.5, 1.0, 2.0, 3.0)], correction="rank"),
    "max-ratio": lambda: btests.MaxRatio([btests.Gaussian(1.0), btests.Gaussian(3.0)]),
    "weights": lambda: btests.Weights([btests.Gaussian(1.0), btests.Gaussian(3.0)]),
}
_NULLS: dict[str, Callable[[], Any]] = {
    "sign-flip": lambda: btests.SignFlip(299),
    "normal": btests.Normal,
    "third-cumulant": btests.ThirdCumulant,
    "cross": btests.CrossMMD,
    "permutation": lambda: btests.Permutation(99),
    "spectrum": btests.Spectrum,
    "gamma": btests.Gamma,
    "pearson": btests.Pearson,
}
_WHOLE = ("permutation", "spectrum", "gamma", "pearson")
_FAMILIES = ("default", "aggregate", "rank")


def _inner(p: Any, q: Any) -> Any:
    return np.exp(-np.abs(p[:, None, :] - q[None, :, :]).sum(axis=-1))


def samples(n_x: int, n_y: int) -> tuple[Any, Any]:
    """Return two samples that differ a little: (n_x, 3) and (n_y, 3)."""
    rng = np.random.default_rng([n_x, n_y])
    return rng.normal(size=(n_x, 3)), rng.normal(size=(n_y, 3)) * 1.1 + 0.1


def numbers(result: Any) -> dict[str, Any]:
    """Return what is compared of one result."""
    found: dict[str, Any] = {
        "statistic": float(result.statistic).hex(),
        "pvalue": float(result.pvalue).hex(),
        "threshold": float(result.threshold(0.05)).hex(),
        "blocks": [result.n_blocks, result.block_size, result.n_x, result.n_y],
        "values": hashlib.sha256(np.ascontiguousarray(result.block_values).tobytes()).hexdigest()[:16],
    }
    try:
        found["interval"] = [float(end).hex() for end in result.confidence_interval()]
    except ValueError:
        found["interval"] = None
    return found


def run(x: Any, y: Any, kernel: str, null: str, size: int | str | None) -> Any:
    """Return the result of one case; sources are functions that return samples."""
    return btests.btest(x(), y(), kernel=_KERNELS[kernel](), null=_NULLS[null](), block_size=size, seed=7)


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a name for each case, and a function that returns its result."""
    for (n_x, n_y), kernel, null in product(((120, 120), (90, 150)), list(_KERNELS), list(_NULLS)):
        if (kernel in _FAMILIES and null != "sign-flip") or (null == "cross" and n_x != n_y):
            continue
        x, y = (partial(np.copy, rows) for rows in samples(n_x, n_y))
        for size in (None,) if null in _WHOLE else (2, 16, None, "sqrt"):
            if null != "normal" or size is not None:
                yield f"array {n_x} {n_y} {kernel} {null} {size}", partial(run, x, y, kernel, null, size)


def written(folder: Path, n_x: int, n_y: int) -> dict[str, tuple[Any, Any]]:
    """Return the same samples in every kind of source."""
    import pandas as pd

    pair = samples(n_x, n_y)
    found: dict[str, list[Any]] = {name: [] for name in ("npy", "csv", "parquet", "batches", "frame", "parts")}
    for side, rows in zip("xy", pair, strict=True):
        np.save(folder / f"{side}.npy", rows)
        frame = pd.DataFrame(rows, columns=["a", "b", "c"])
        frame.to_csv(folder / f"{side}.csv", index=False)
        frame.to_parquet(folder / f"{side}.parquet", row_group_size=64)
        parts = folder / f"{side}-parts"
        parts.mkdir()
        for i, part in enumerate(np.array_split(rows, 3)):
            np.save(parts / f"{i}.npy", part)
        found["npy"].append(str(folder / f"{side}.npy"))
        found["csv"].append(str(folder / f"{side}.csv"))
        found["parquet"].append(str(folder / f"{side}.parquet"))
        found["parts"].append(str(parts))
        found["frame"].append(frame)
        found["batches"].append(rows)
    return {name: (x, y) for name, (x, y) in found.items()}


def batches(rows: Any) -> Iterator[Any]:
    """Yield rows in batches of 37."""
    for first in range(0, len(rows), 37):
        yield rows[first : first + 37]


def stored_cases(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the cases that read files and batches."""
    for n_x, n_y in ((700, 700), (500, 800)):
        place = folder / f"{n_x}-{n_y}"
        place.mkdir()
        for source, pair in written(place, n_x, n_y).items():
            x, y = (partial(batches if source == "batches" else _itself, side) for side in pair)
            kernels = ("default", "gaussian", "energy", "aggregate", "max-ratio")
            for kernel, null, size in product(kernels, ("sign-flip", "third-cumulant"), (20, None)):
                if kernel not in _FAMILIES or null == "sign-flip":
                    yield f"{source} {n_x} {n_y} {kernel} {null} {size}", partial(run, x, y, kernel, null, size)


def _itself(source: Any) -> Any:
    return source


def tables_case(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield comparisons of two tables with numbers, words, dates and gaps."""
    import pandas as pd

    rng = np.random.default_rng(5)
    paths = []
    for i in range(2):
        frame = pd.DataFrame(
            {
                "weight": rng.normal(3000 + 150 * i, 400, size=400).round(),
                "length": rng.normal(45, 5, size=400).round(1),
                "kind": rng.choice(["a", "b", "c"], size=400, p=[0.5, 0.3 - 0.1 * i, 0.2 + 0.1 * i]),
                "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, size=400), unit="D"),
            }
        )
        frame.loc[rng.random(400) < 0.05, "length"] = np.nan
        path = folder / f"table-{i}.csv"
        frame.to_csv(path, index=False)
        paths.append(str(path))

    yield "tables", partial(btests.compare, *paths, seed=7)


def instruction_sets() -> str:
    """Return what the compiled loops and the BLAS of numpy are made for; Zen takes the code of Haswell."""
    blas = {pool["architecture"] for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"}
    return " ".join([_core.instruction_set(), *sorted({"Haswell" if name == "Zen" else name for name in blas})])


def record(folder: Path) -> dict[str, Any]:
    """Return the numbers of all cases."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, case in [*cases(), *stored_cases(folder)]:
            try:
                found[name] = numbers(case())
            except (TypeError, ValueError) as error:
                found[name] = type(error).__name__
        for name, case in tables_case(folder):
            comparison = case()
            found[name] = {
                "pvalue": float(comparison.pvalue).hex(),
                "columns": [float(column.pvalue).hex() for column in comparison.columns],
            }
    return {"instruction_set": instruction_sets(), "results": found}


def main() -> None:
    """Write the file that the command line names."""
    with tempfile.TemporaryDirectory() as folder:
        found = record(Path(folder))
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(case)}" for name, case in found["results"].items())
    text = f'{{"instruction_set": {json.dumps(found["instruction_set"])}, "results": {{\n{lines}\n}}}}\n'
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
