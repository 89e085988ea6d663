"""The tables of the study of levels, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from studies.counts import Counts

#: What the interval of the default must touch at .05 and .01.
TARGETS = ((0.045, 0.055), (0.008, 0.012))

DEFAULT = "SignFlip"
_OTHERS = ("Normal", "ThirdCumulant", "CrossMMD")


def misses(counts: Sequence[Counts], null: str = DEFAULT) -> list[Counts]:
    """Return the cells under the null hypothesis where a 99 % interval fails to touch a target."""
    return [c for c in _tried(counts, null) if any(_misses(c, k) for k in range(len(TARGETS)))]


def write_tables(path: Path, counts: Sequence[Counts], command: str) -> None:
    """Write the tables of levels and powers."""
    lines = [
        f"Printed by `{command}`; each row of the first table is one cell. Levels at .05 / .01 / .001; "
        "`*`: the 99 % interval touches neither [.045, .055] at .05 nor, at .01, [.008, .012], one of them at least.",
        "",
        "### Levels",
        "",
        f"| problem | n | B | trials | {DEFAULT} | 99 % interval at .05 | at .01 | {' | '.join(_OTHERS)} |",
        "| --- | --: | --: | --: | --- | --- | --- | --- | --- | --- |",
    ]
    by_cell = {c.cell: c for c in counts}
    for c in (c for c in counts if c.is_null and c.null == DEFAULT):
        others = [by_cell[(*c.cell[:4], null)] for null in _OTHERS]
        low, high = c.interval(0)
        low_1, high_1 = c.interval(1)
        lines.append(
            f"| {c.problem} | {c.n} | {c.block_size} | {c.trials} | {_levels(c)} | {low:.4f} to {high:.4f} | "
            f"{low_1:.4f} to {high_1:.4f} | {' | '.join(_levels(o) for o in others)} |"
        )
    lines += ["", "Cells that miss a target:", "", "| null | cells | of |", "| --- | --: | --: |"]
    lines += [f"| {null} | {len(misses(counts, null))} | {len(_tried(counts, null))} |" for null in (DEFAULT, *_OTHERS)]
    lines += [
        "",
        "### Powers at level .05",
        "",
        f"| problem | n | B | trials | {DEFAULT} | {' | '.join(_OTHERS)} |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for c in (c for c in counts if not c.is_null and c.null == DEFAULT):
        others = [by_cell[(*c.cell[:4], null)] for null in _OTHERS]
        powers = " | ".join("refuses" if _refuses(o) else f"{o.rate(0):.3f}" for o in (c, *others))
        lines.append(f"| {c.problem} | {c.n} | {c.block_size} | {c.trials} | {powers} |")
    lines += [
        "",
        f"Power of {DEFAULT} less that of another null, over the cells where the other's level is at most .055:",
        "",
    ]
    lines += [f"- {null}: {low:+.3f} to {high:+.3f}" for null in _OTHERS for low, high in [_gains(by_cell, null)]]
    path.write_text("\n".join(lines) + "\n")


def write_default_table(path: Path, counts: Sequence[Counts], command: str) -> None:
    """Write the table of levels of the default test."""
    lines = [
        f"Printed by `{command}`. Levels at .05 / .01 / .001 with 99 % intervals; `*`: the interval at .05 or .01 lies "
        "outside [.045, .055] or [.008, .012].",
        "",
        "| problem | n | test | trials | levels | 99 % interval at .05 | at .01 |",
        "| --- | --: | --- | --: | --- | --- | --- |",
    ]
    for c in counts:
        low, high = c.interval(0)
        low_1, high_1 = c.interval(1)
        intervals = f"{low:.4f} to {high:.4f} | {low_1:.4f} to {high_1:.4f}"
        lines.append(f"| {c.problem} | {c.n} | {c.null} | {c.trials} | {_levels(c)} | {intervals} |")
    path.write_text("\n".join(lines) + "\n")


def _gains(by_cell: dict[tuple[str, int, int, bool, str], Counts], null: str) -> tuple[float, float]:
    """Return the least and the largest gain in power of the default over ``null``."""
    gains = [
        by_cell[(*cell[:4], DEFAULT)].rate(0) - count.rate(0)
        for cell, count in by_cell.items()
        if not count.is_null and count.null == null and not _refuses(count)
        if (level := by_cell.get((*cell[:3], True, null))) is not None and level.rate(0) <= 0.055
    ]
    return min(gains, default=0.0), max(gains, default=0.0)


def _tried(counts: Sequence[Counts], null: str) -> list[Counts]:
    """Return the cells under the null hypothesis that ``null`` takes."""
    return [c for c in counts if c.is_null and c.null == null and not _refuses(c)]


def _refuses(c: Counts) -> bool:
    return c.null == "CrossMMD" and "x a y" in c.problem


def _levels(c: Counts) -> str:
    if _refuses(c):
        return "refuses"
    star = "*" if any(_misses(c, k) for k in range(len(TARGETS))) else ""
    return f"{c.rate(0):.4f} / {c.rate(1):.4f} / {c.rate(2):.4f}{star}"


def _misses(c: Counts, k: int) -> bool:
    low, high = c.interval(k)
    return high < TARGETS[k][0] or low > TARGETS[k][1]
