"""One real data set: how much the p-value of a test depends on its seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from studies.power.methods import default, small_blocks

#: The columns that are tested.
COLUMNS = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")

_TESTS: dict[str, Callable[[Any, Any, int], float]] = {"default": default, "B = sqrt(n)": small_blocks}
_SEEDS = range(20)


def section() -> str:
    """Return a table of p-values over twenty seeds, penguins of 2007 against those of 2009, or why there is none."""
    title = "### Palmer penguins, 2007 and 2009"
    if find_spec("palmerpenguins") is None or find_spec("pandas") is None:
        return f"{title}\n\nNot run: palmerpenguins is not installed.\n"
    lines = ["| data | test | smallest p | largest p | largest - smallest |", "| --- | --- | --: | --: | --: |"]
    for data, (x, y) in _samples().items():
        for name, test in _TESTS.items():
            lines.append(row(data, name, [test(x, y, seed) for seed in _SEEDS]))
    words = f"Four measurements, rows with missing cells dropped; p-values over {len(_SEEDS)} seeds."
    return "\n\n".join([title, words, "\n".join(lines)]) + "\n"


def row(data: str, name: str, pvalues: Sequence[float]) -> str:
    """Return a line of the table."""
    low, high = min(pvalues), max(pvalues)
    return f"| {data} | {name} | {low:.4f} | {high:.4f} | {high - low:.4f} |"


def _samples() -> dict[str, tuple[Any, Any]]:
    """Return both years as data frames, and as arrays of columns scaled by their pooled standard deviation."""
    from palmerpenguins import load_penguins

    table = load_penguins().dropna(subset=list(COLUMNS))
    x, y = (table.loc[table["year"] == year, list(COLUMNS)] for year in (2007, 2009))
    deviations = table.loc[table["year"].isin([2007, 2009]), list(COLUMNS)].std().to_numpy()
    scaled = tuple(frame.to_numpy(dtype="float64") / deviations for frame in (x, y))
    return {f"data frame, {len(x)} and {len(y)} rows": (x, y), "columns scaled": (scaled[0], scaled[1])}
