"""The report on Table 1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from studies.harness.counts import Row, add_up
from studies.harness.estimates import COLUMNS, RULE, proportion, verdict
from studies.harness.report import Report, Table
from studies.reproduce.methods import BEYOND, BY_KEY, MEDIANS, PAPER, TAKEN_LITERALLY, Method
from studies.reproduce.published import MEDIAN_NEEDS_MORE_THAN, TABLE1_TRIALS, leeway
from studies.reproduce.search import Step
from studies.reproduce.table1_figure import draw

_CAPTION = """
Table 1 of the paper: the least number of rows n of each sample for Type I and Type II errors of 5 % on the blobs. The
search doubles n, bisects, and fits a probit curve of the Type II error over log n to the trials near the answer, 3000
of them as near to the answer as it is known by then; *here* is where the curve is at 5 %. *Type I* is measured at
the n that stands with it: the centre of the search, near the answer, which is fitted later.

**What sigma = 1 means.** The published sizes come out with the kernel exp(-d^2 / 8), which is bandwidth 2 in
exp(-d^2 / (2 sigma^2)); that is the first table. With a literal sigma of 1 the problem is easier and every test needs
fewer rows: that is the second table, beside the same published numbers.

How the tests were run: block tests with the normal null of the paper, all rows used (the paper drops a remainder);
multiple kernels as 26 bandwidths, weights learned on one half of the rows and tested on the other, n counts both;
1000 relabellings for the bootstrap, 500 draws for the spectrum; Pearson curves with three moments and the paper's bound
for the kurtosis, their quantile computed rather than drawn 500 times; gamma by two moments over all relabellings.
"""


_LEEWAY = (
    "Added to that are half a unit of the third digit of a published number, and 1 % of it, for the paper's search "
    "stopped within 0.25 % of the error."
)


def report(name: str, rows: Sequence[Row], answers: Mapping[str, Step], times: Sequence[Row]) -> Report:
    """Return the report on all counts, the answers of the searches and the seconds."""
    counts = add_up(rows)
    cells = {(row["method"], row["n"], row["truth"]): (row["rejections"], row["trials"]) for row in counts}
    took = {row["method"]: row["seconds"] for row in times}
    n_timed = times[0]["n"]
    machine = f"Seconds are processor time for n = {n_timed}, on: {times[0]['machine']}. They do not repeat."
    columns = (
        "method",
        "kernel",
        "block size",
        *COLUMNS,
        "Type I, and at which n",
        "Type II at the paper's n",
        "paper, s",
        "here, s",
    )
    tables = [
        Table(heading, columns, tuple(_line(method, answers[method.key], cells, took) for method in methods))
        for heading, methods in (
            ("The paper's rows, sigma = 1 as its experiments had it (bandwidth 2)", PAPER),
            ("The same with sigma = 1 taken literally", TAKEN_LITERALLY),
            ("Rows that the paper lacks", BEYOND),
        )
    ]
    caption = f"{_CAPTION.strip()}\n\n{RULE} {_LEEWAY}\n\n{machine}"
    return Report(
        name,
        "Table 1: samples that a test needs",
        caption,
        counts,
        (*tables, _medians(counts, took)),
        lambda figure: draw(figure, answers),
        (9.0, 7.0),
        {f"{name}-seconds": times, f"{name}-sizes": _sizes(answers)},
    )


def _line(
    method: Method, found: Step, cells: Mapping[tuple[str, int, str], tuple[int, int]], took: Mapping[str, float]
) -> tuple[str, ...]:
    answer = found.answer
    assert answer is not None, "the search is over"
    published = method.published
    if math.isinf(answer.value):
        here = (f"> {found.centre}", "", "")
    else:
        rounding = 0.0 if published is None else leeway(published)
        here = (
            f"{answer.value:.0f}",
            f"{answer.low:.0f} to {answer.high:.0f}",
            verdict(answer, published, TABLE1_TRIALS, rounding),
        )
    level = proportion(*cells[method.key, found.centre, "P = Q"])
    at_published = ""
    if published is not None and (counted := cells.get((method.key, published, "P != Q"))) is not None:
        error = proportion(counted[1] - counted[0], counted[1])
        at_published = f"{error.value:.3f} ({error.interval()})"
    return (
        method.name,
        method.kernel_name,
        method.size_name,
        "" if published is None else str(published),
        *here,
        f"{level.value:.3f} ({level.interval()}) at {found.centre}",
        at_published,
        "" if method.published_seconds is None else f"{method.published_seconds:g}",
        f"{took[method.key]:.2g}",
    )


def _medians(counts: Sequence[Row], took: Mapping[str, float]) -> Table:
    """Return the table of the median bandwidth: Type II errors at sizes that can be afforded."""
    keys = [method.key for method in MEDIANS]
    lines = []
    for row in (row for row in counts if row["method"] in keys):
        method = BY_KEY[row["method"]]
        error = proportion(row["trials"] - row["rejections"], row["trials"])
        more = error.low > 0.05
        lines.append(
            (
                method.name,
                method.size_name,
                f"> {MEDIAN_NEEDS_MORE_THAN}" if "flips" not in method.key else "",
                str(row["n"]),
                f"{error.value:.3f}",
                error.interval(),
                f"more than {row['n']}" if more else "no more",
                f"{took[method.key]:.2g}",
            )
        )
    columns = ("method", "block size", "paper", "n", "Type II error here", "95 % interval", "samples needed", "here, s")
    return Table("Median bandwidth: the Type II error at the largest n that was tried", columns, tuple(lines))


def _sizes(answers: Mapping[str, Step]) -> list[Row]:
    """Return the answers of the searches, with the trials that each rests on."""
    return [
        {
            "method": key,
            "samples": round(found.answer.value, 3),
            "low": round(found.answer.low, 3),
            "high": round(found.answer.high, 3),
            "trials": found.answer.trials,
            "level_measured_at": found.centre,
        }
        for key, found in answers.items()
        if found.answer is not None
    ]
