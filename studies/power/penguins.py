"""Palmer penguins: how much the p-value of a test depends on its seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from studies.harness.markdown import table
from studies.power.methods import default, small_blocks

#: The columns that are tested.
COLUMNS = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")

_TESTS: dict[str, Callable[[Any, Any, int], float]] = {"default": default, "B = sqrt(n)": small_blocks}
_SEEDS = range(20)


def section() -> str:
    """Return p-values over twenty seeds, penguins of 2007 against those of 2009, or the reason for their absence."""
    title = "### Palmer penguins, 2007 and 2009"
    if find_spec("palmerpenguins") is None or find_spec("pandas") is None:
        return f"{title}\n\nNot run: palmerpenguins is not installed.\n"
    lines = [
        row(data, name, [test(x, y, seed) for seed in _SEEDS])
        for data, (x, y) in _samples().items()
        for name, test in _TESTS.items()
    ]
    words = f"Four measurements, rows with missing cells dropped; p-values over {len(_SEEDS)} seeds."
    columns = ("data", "test", "smallest p", "largest p", "largest - smallest")
    return "\n\n".join([title, words, table(columns, lines, "llrrr")]) + "\n"


def row(data: str, name: str, pvalues: Sequence[float]) -> tuple[str, ...]:
    """Return a row of the table."""
    low, high = min(pvalues), max(pvalues)
    return data, name, f"{low:.4f}", f"{high:.4f}", f"{high - low:.4f}"


def _samples() -> dict[str, tuple[Any, Any]]:
    """Return both years as data frames, and as arrays of columns scaled by their pooled standard deviation."""
    from palmerpenguins import load_penguins

    table = load_penguins().dropna(subset=list(COLUMNS))
    x, y = (table.loc[table["year"] == year, list(COLUMNS)] for year in (2007, 2009))
    deviations = table.loc[table["year"].isin([2007, 2009]), list(COLUMNS)].std().to_numpy()
    scaled = tuple(frame.to_numpy(dtype="float64") / deviations for frame in (x, y))
    return {f"data frame, {len(x)} and {len(y)} rows": (x, y), "columns scaled": (scaled[0], scaled[1])}
