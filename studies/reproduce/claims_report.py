"""The report on the claims of sections 2.2 and 2.3: exponents beside those that the paper has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from studies.harness.counts import Row
from studies.harness.estimates import COLUMNS, Estimate
from studies.harness.report import Report, Table
from studies.reproduce.block_values import GRID
from studies.reproduce.claims_figure import Curves, draw
from studies.reproduce.slopes import Cell, parts, parts_with_intervals, read_cells, slope, variance_slope

_CAPTION = """
The claims of sections 2.2 and 2.3 of the paper about the average of the block values, measured on the blobs as slopes
of straight lines on logarithmic axes. *fine* is the paper's sigma = 1 (bandwidth 2), P against P (H0) or P against Q
(H_A). *wide* is bandwidth 25, about what the median heuristic gives there, under H0 and for P against P moved by 30
along the first axis (H_A). Intervals are jackknife intervals over ten batches of draws, with Student's law of 9
degrees of freedom; for variances, where by chance ten batches may agree too well, no narrower than normal theory has
them: the log of a variance of m normal draws has the standard error sqrt(2 / m). *paper* is the exponent that the paper
claims, or the right one where the paper is in error, which the line says. *agrees*: it lies in the 95 % interval.

What to know when reading it:

- The null variance of a block is 8 sum(lambda^2) / (B (B - 1)), so that the power law is one in B - 1, and one in B
  only in the limit.
- Under H_A, n times the variance is s + c / (B - 1). The first part is the paper's sigma_u^2 and free of B, the second
  is like that of H0. With the fine kernel c is hundreds of times s, and the variance falls with B for every block size
  that anyone would take: the paper says so itself, in its discussion of Figure 1. With the wide kernel and the shift
  s rules.
- The paper bounds the distance to the normal law under H0 by B^3.5 / sqrt(n), taking the third absolute moment of a
  block for a constant. It falls like B^-3, and the rate is sqrt(B / n).
- The fine kernel has many eigenvalues and blocks that are nearly normal, so the shape of the law is studied with the
  wide kernel. The skewness of a block grows with B to its limit, and has come near it at B = 32.
"""


def report(name: str, rows: Sequence[Row]) -> Report:
    """Return the slopes beside what they should be, the points, and the picture of them."""
    cells = read_cells(rows)
    table = Table("Exponents", ("claim", *COLUMNS), tuple(_cells(*line) for line in _claims(cells)))
    counts = [{key: value for key, value in row.items() if not isinstance(value, list)} for row in rows]
    return Report(
        name,
        "The claims of sections 2.2 and 2.3",
        _CAPTION,
        counts,
        (table, _parts(cells), _points(cells)),
        lambda figure: draw(figure, _curves(cells)),
        (10.0, 7.6),
        {f"{name}-distribution": _distribution(cells)},
    )


def _b(cell: Cell) -> float:
    return cell.block_size


def _b_less_one(cell: Cell) -> float:
    return cell.block_size - 1


def _n(cell: Cell) -> float:
    return cell.n


def _m(cell: Cell) -> float:
    return cell.n_blocks


def _root(cell: Cell) -> float:
    return math.sqrt(cell.block_size / cell.n)


def _claims(cells: Sequence[Cell]) -> list[tuple[str, float, Estimate]]:
    """Return each claim with the exponent that it should have, and the one that is found."""
    found = []
    for case in ("fine", "wide"):
        over_b, over_n = _over_b(cells, f"{case}, H0"), _over_n(cells, f"{case}, H0")
        large = [cell for cell in over_b if cell.block_size >= 16]
        exact = slope(large, _b, lambda cell, used: 1.0 / (cell.block_size - 1)).value
        found += [
            (f"H0, {case}: variance over n, B = 16", -1.0, variance_slope(over_n, _n)),
            (
                f"H0, {case}: variance over B - 1, n = 512 (the exact law)",
                -1.0,
                variance_slope(over_b, _b_less_one),
            ),
            (
                f"H0, {case}: variance over B, n = 512, B >= 16 (in the limit; the exact law has {exact:.3f} here)",
                -1.0,
                variance_slope(large, _b),
            ),
        ]
    for case in ("fine", "wide"):
        over_b, over_n = _over_b(cells, f"{case}, H_A"), _over_n(cells, f"{case}, H_A")
        large = [cell for cell in over_b if cell.block_size >= 64]
        s, c = parts(over_b)
        exact = _slope_of_parts(large, s, c)
        found += [
            (f"H_A, {case}: variance over n, B = 64", -1.0, variance_slope(over_n, _n)),
            (
                f"H_A, {case}: variance over B, n = 1024, B >= 64 (in the limit; the two parts give {exact:.3f} here)",
                0.0,
                variance_slope(large, _b),
            ),
        ]
    over_b, over_n = _over_b(cells, "wide, H0"), _over_n(cells, "wide, H0")
    found += [
        ("H0, wide: skewness over the number of blocks, B = 16", -0.5, slope(over_n, _m, Cell.skewness)),
        ("H0, wide: distance to normal over sqrt(B/n), B = 16 (corrected)", 1.0, slope(over_n, _root, Cell.distance)),
        (
            "H0, wide: distance to normal over sqrt(B/n), n = 512, B >= 32 (corrected)",
            1.0,
            slope([cell for cell in over_b if cell.block_size >= 32], _root, Cell.distance),
        ),
    ]
    return found


def _slope_of_parts(cells: Sequence[Cell], s: float, c: float) -> float:
    return slope(cells, _b, lambda cell, used: s + c / (cell.block_size - 1)).value


def _over_b(cells: Sequence[Cell], case: str) -> list[Cell]:
    """Return the cells of one n and many block sizes."""
    own = [cell for cell in cells if cell.case == case]
    return [cell for cell in own if cell.n == (512 if cell.is_null else 1024)]


def _over_n(cells: Sequence[Cell], case: str) -> list[Cell]:
    """Return the cells of one block size and many n, smallest n first."""
    own = [cell for cell in cells if cell.case == case]
    return sorted((c for c in own if c.block_size == (16 if c.is_null else 64)), key=_n)


def _cells(claim: str, expected: float, found: Estimate) -> tuple[str, ...]:
    agrees = "yes" if found.low <= expected <= found.high else "no"
    return claim, f"{expected:g}", f"{found.value:.3f}", f"{found.low:.3f} to {found.high:.3f}", agrees


def _parts(cells: Sequence[Cell]) -> Table:
    lines = tuple((case, *_split(_over_b(cells, case))) for case in ("fine, H_A", "wide, H_A"))
    heading = "Under H_A: n times the variance as s + c / (B - 1)"
    return Table(heading, ("case", "s (95 % interval)", "c (95 % interval)", "c / s"), lines)


def _split(cells: Sequence[Cell]) -> tuple[str, str, str]:
    s, c = parts_with_intervals(cells)
    shown = [f"{e.value:.3e} ({e.low:.3e} to {e.high:.3e})" for e in (s, c)]
    return shown[0], shown[1], f"{c.value / s.value:.3g}"


def _points(cells: Sequence[Cell]) -> Table:
    lines = []
    for c in cells:
        distances = (f"{c.distance():.4f}", f"{c.distance(studentised=True):.4f}") if c.is_null else ("", "")
        sizes = (str(number) for number in (c.block_size, c.n, c.n_blocks, c.draws))
        variances = (c.variance(), c.n * c.variance(), c.n * (c.block_size - 1) * c.variance())
        lines.append((c.case, *sizes, *(f"{v:.3e}" for v in variances), f"{c.skewness():.3f}", *distances))
    columns = ("case", "B", "n", "blocks", "draws", "variance", "times n", "times n (B - 1)", "skewness")
    return Table("Points", (*columns, "distance, standardised", "distance, studentised"), tuple(lines))


def _distribution(cells: Sequence[Cell]) -> list[Row]:
    """Return how many draws are at or below each point."""
    return [
        {
            "case": c.case,
            "block_size": c.block_size,
            "n": c.n,
            "draws": c.draws,
            "point": float(z),
            "standardised": int(c.standardised[:, k].sum()),
            "studentised": int(c.studentised[:, k].sum()),
        }
        for c in cells
        if c.is_null
        for k, z in enumerate(GRID)
    ]


def _curves(cells: Sequence[Cell]) -> Curves:
    """Return the points of each curve of the picture."""
    curves = {}
    for case in ("fine, H0", "wide, H0", "fine, H_A", "wide, H_A"):
        curves[f"{case}, over B"] = _pairs(_over_b(cells, case), _b, lambda c: c.n * c.variance())
        curves[f"{case}, over n"] = _pairs(_over_n(cells, case), _n, lambda c: c.variance())
    for case in ("fine, H0", "wide, H0"):
        curves[f"{case}, skewness"] = _pairs(_over_n(cells, case), _m, lambda c: c.skewness())
    wide = [cell for cell in cells if cell.case == "wide, H0"]
    curves["standardised"] = _pairs(wide, _root, lambda c: c.distance())
    curves["studentised"] = _pairs(wide, _root, lambda c: c.distance(studentised=True))
    # The mean of Kolmogorov's law: what the distance would be of draws from the normal law itself.
    curves["noise"] = ([0.0], [0.8687 / math.sqrt(wide[0].draws)])
    return curves


def _pairs(
    cells: Sequence[Cell], x: Callable[[Cell], float], y: Callable[[Cell], float]
) -> tuple[list[float], list[float]]:
    points = sorted((float(x(cell)), float(y(cell))) for cell in cells)
    return [p[0] for p in points], [p[1] for p in points]
