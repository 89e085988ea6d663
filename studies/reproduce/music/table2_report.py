"""The report on Table 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studies.harness.counts import Row
from studies.harness.estimates import RULE, Estimate, proportion, verdict
from studies.harness.report import Report, Table
from studies.reproduce.music import trends
from studies.reproduce.music.published import B_TESTS, B_TRIALS, QUADRATIC, QUADRATIC_TRIALS, Published
from studies.reproduce.music.quadratic import LABELS as NULL_LABELS
from studies.reproduce.music.songs import Pair
from studies.reproduce.music.table2_figure import Line, draw
from studies.reproduce.music.trials import LABELS, LEVEL, ROWS, TESTS

_CAPTION = """
Table 2 of the paper: errors of tests at level .05 on rows of two songs. Other songs have other errors, so the column
*agrees* is not what to look at; what the paper says of its numbers is in the table of trends, line by line.
"""

_COUNTS = """
Repetitions: {b} for the block tests at n = {n} (the paper: 1000 with B = 32, which is sqrt(1000) rounded up), {larger}
at n = {n_larger}. For the quadratic-time tests the paper has B = 2000 and errors of two digits, which suggests 100
repetitions; here there are {q1} for each error at n = {n_larger}. The spectrum draws 500 times from its law, and the
bootstrap relabels 1000 times, as in the paper. Counting takes rows in the 264 coordinates that windows of such signals
need: an orthonormal basis, in which no distance changes. Seconds are for the rows as they are, with 1000 coordinates.
"""

_HEAD = (
    *("method", "kernel", "n", "B"),
    *("Type I: paper", "here", "95 % interval", "agrees"),
    *("Type II: paper", "here", "95 % interval", "agrees"),
    *("seconds: paper", "here"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """The counts and seconds of a run, to be asked for by line."""

    counts: Mapping[tuple[str, str, str, int, str], tuple[int, int]]
    seconds: Mapping[tuple[int, str, str, int], float]
    sizes: Mapping[str, tuple[int, tuple[int, ...], tuple[int, ...]]]

    @classmethod
    def of(cls, counts: Sequence[Row], times: Sequence[Row]) -> Found:
        """Return what was found, by part, null, kernel, block size and truth."""
        by_line = {
            (r["part"], r["null"], r["strategy"], r["block_size"], r["truth"]): (r["rejections"], r["trials"])
            for r in counts
        }
        seconds = {(r["n"], r["null"], r["strategy"], r["block_size"]): r["seconds"] for r in times}
        sizes = {}
        for part in dict.fromkeys(r["part"] for r in counts):
            own = [r for r in counts if r["part"] == part]
            single, multiple = (
                tuple(dict.fromkeys(r["block_size"] for r in own if (r["strategy"] == "multiple") == is_multiple))
                for is_multiple in (False, True)
            )
            sizes[part] = own[0]["n"], single, multiple
        return cls(by_line, seconds, sizes)

    def size(self, part: str, strategy: str, is_root: bool) -> int:
        """Return the block size of a line: 2 or the square root."""
        _, single, multiple = self.sizes[part]
        return (multiple if strategy == "multiple" else single)[int(is_root)]

    def errors(self, part: str, null: str, strategy: str, b: int) -> tuple[Estimate, Estimate]:
        """Return the Type I and the Type II error of a line."""
        hits, trials = self.counts[part, null, strategy, b, "P = P"]
        found, all_ = self.counts[part, null, strategy, b, "P != Q"]
        return proportion(hits, trials), proportion(all_ - found, all_)

    def block_errors(self, part: str, strategy: str, is_root: bool) -> tuple[Estimate, Estimate]:
        """Return both errors of a block test."""
        return self.errors(part, "normal", strategy, self.size(part, strategy, is_root))


def make_report(name: str, pair: Pair, described: str, counts: Sequence[Row], times: Sequence[Row]) -> Report:
    """Return the report on all counts and the seconds."""
    found = Found.of(counts, times)
    n, n_larger = found.sizes["paper"][0], found.sizes["larger"][0]
    repeated = _COUNTS.format(
        b=found.counts["paper", "normal", "sigma", 2, "P = P"][1],
        n=n,
        larger=found.counts["larger", "normal", "sigma", 2, "P = P"][1],
        n_larger=n_larger,
        q1=found.counts["quadratic", "spectrum", "sigma", n_larger, "P = P"][1],
    )
    machine = f"Seconds are those of one test with one thread on: {times[0]['machine']}. They do not repeat."
    parts = [_CAPTION, described, ROWS, TESTS, repeated, RULE, trends.RULE, machine]
    tables = [
        Table("The paper's lines", _HEAD, tuple(_line(found, *line) for line in _paper_keys(found))),
        Table("Trends", trends.COLUMNS, tuple(trend.cells() for trend in check(found))),
        Table(
            "Lines that the paper lacks", _HEAD, tuple(_line(found, key, None, B_TRIALS) for key in _more_keys(found))
        ),
    ]
    if others := [part for part in found.sizes if part.startswith("pairs")]:
        tables.append(_pairs(found, pair, others))
    caption = "\n\n".join(part.strip() for part in parts if part)
    return Report(
        name,
        "Table 2: errors on music",
        caption,
        counts,
        tuple(tables),
        lambda figure: draw(figure, _groups(found)),
        (10.0, 7.0),
        {f"{name}-seconds": list(times)},
    )


def check(found: Found) -> list[trends.Trend]:
    """Return every trend that the paper reports of this table, and whether it holds."""
    lines = list[trends.Trend]()
    for strategy in ("sigma", "median", "multiple"):
        root = "sqrt(n / 2)" if strategy == "multiple" else "sqrt(n)"
        paper = B_TESTS[strategy, False].type_2, B_TESTS[strategy, True].type_2
        small, large = (found.block_errors("paper", strategy, is_root)[1] for is_root in (False, True))
        lines.append(trends.falls(f"Type II error falls from B = 2 to {root}: {LABELS[strategy]}", paper, small, large))
    for strategy in ("sigma", "median", "multiple"):
        for is_root in (False, True):
            b, (level, _) = found.size("paper", strategy, is_root), found.block_errors("paper", strategy, is_root)
            said = f"conservative, Type I error below .05: {LABELS[strategy]}, B = {b}"
            lines.append(trends.is_below(said, B_TESTS[strategy, is_root].type_1, level, LEVEL))
    for strategy in ("sigma", "median", "multiple"):
        paper = B_TESTS[strategy, False].type_1, B_TESTS[strategy, True].type_1
        small, large = (found.block_errors("paper", strategy, is_root)[0] for is_root in (False, True))
        said = f"more conservative at the square root than at B = 2: {LABELS[strategy]}"
        lines.append(trends.falls(said, paper, small, large))
    root_errors = {strategy: found.block_errors("paper", strategy, True)[1] for strategy in LABELS}
    published = {strategy: B_TESTS[strategy, True].type_2 for strategy in ("sigma", "median", "multiple")}
    for better in ("median", "multiple"):
        verb = "have" if better == "multiple" else "has"
        said = f"{LABELS[better]} {verb} a lower Type II error than sigma = 1, at the square root"
        paper = published["sigma"], published[better]
        lines.append(trends.falls(said, paper, root_errors["sigma"], root_errors[better]))
    said = "the same if sigma = 1 means exp(-d^2 / 8): the median has a lower Type II error, at the square root"
    lines.append(
        trends.falls(said, (published["sigma"], published["median"]), root_errors["wider"], root_errors["median"])
    )
    said = "multiple kernels come within .05 of the median at the square root, with half of the rows"
    pair = published["multiple"], published["median"]
    lines.append(trends.is_close(said, pair, root_errors["multiple"], root_errors["median"], LEVEL))
    n = found.sizes["larger"][0]
    for (null, strategy), line in QUADRATIC.items():
        _, error = found.errors("quadratic", null, strategy, n)
        said = f"{NULL_LABELS[null]} misses hardly anything, Type II error below .1: {LABELS[strategy]}"
        lines.append(trends.is_below(said, line.type_2, error, 0.1))
    for (null, strategy), line in QUADRATIC.items():
        ours = found.seconds[n, "normal", strategy, found.size("larger", strategy, True)]
        ratio = found.seconds[n, null, strategy, n] / ours
        said = f"{NULL_LABELS[null]} takes ten times as long as the block test, or more: {LABELS[strategy]}, n = {n}"
        lines.append(trends.is_times(said, line.seconds / B_TESTS[strategy, True].seconds, ratio, 10.0))
    return lines


Key = tuple[str, str, str, int]


def _paper_keys(found: Found) -> list[tuple[Key, Published, int]]:
    """Return the part, null, kernel and block size of each of the paper's lines, its numbers and its repetitions."""
    n = found.sizes["larger"][0]
    return [
        *(
            (("paper", "normal", strategy, found.size("paper", strategy, is_root)), published, B_TRIALS)
            for (strategy, is_root), published in B_TESTS.items()
        ),
        *(
            (("quadratic", null, strategy, n), published, QUADRATIC_TRIALS)
            for (null, strategy), published in QUADRATIC.items()
        ),
    ]


def _more_keys(found: Found) -> list[Key]:
    lines = [("paper", "wider", is_root) for is_root in (False, True)]
    lines += [("larger", strategy, is_root) for strategy in LABELS for is_root in (False, True)]
    return [(part, "normal", strategy, found.size(part, strategy, is_root)) for part, strategy, is_root in lines]


def _groups(found: Found) -> list[tuple[str, str, list[Line]]]:
    """Return the lines of the picture."""

    def line(key: Key, published: Published | None = None) -> Line:
        part, null, strategy, b = key
        method = NULL_LABELS.get(null, "B-test")
        name = f"{method}, {LABELS[strategy]}, n = {found.sizes[part][0]}, B = {b}"
        return Line(name, found.errors(*key), published)

    return [
        ("the paper's lines", "#0072B2", [line(key, published) for key, published, _ in _paper_keys(found)]),
        ("lines that the paper lacks", "#009E73", [line(key) for key in _more_keys(found)]),
    ]


def _line(found: Found, line: Key, published: Published | None, trials: int) -> tuple[str, ...]:
    part, null, strategy, b = line
    n = found.sizes[part][0]
    cells = list[str]()
    both = (None, None) if published is None else (published.type_1, published.type_2)
    # The published errors have as many digits as their trials allow.
    for error, paper in zip(found.errors(*line), both, strict=True):
        agrees = verdict(error, paper, trials, 0.5 / trials)
        cells += ["" if paper is None else f"{paper:g}", f"{error.value:.3f}", error.interval(), agrees]
    seconds = "" if published is None else f"{published.seconds:g}"
    method = NULL_LABELS.get(null, "B-test")
    return method, LABELS[strategy], str(n), str(b), *cells, seconds, f"{found.seconds[n, null, strategy, b]:.2g}"


def _pairs(found: Found, pair: Pair, parts: Sequence[str]) -> Table:
    """Return the Type II errors of the pair and of others."""
    single = found.sizes["paper"][1]
    columns = ("P", "Q", *(f"{LABELS[s]}, B = {b}" for s in ("sigma", "median") for b in single))
    lines = []
    named = [("paper", pair.p, pair.q)]
    named += [(part, *pair.others[int(part.rpartition("-")[2])]) for part in parts]
    for part, p, q in named:
        cells = []
        for strategy in ("sigma", "median"):
            for b in single:
                hits, trials = found.counts[part, "normal", strategy, b, "P != Q"]
                error = proportion(trials - hits, trials)
                cells.append(f"{error.value:.3f} ({error.interval()})")
        lines.append((p.title, q.title, *cells))
    n = found.sizes["paper"][0]
    return Table(f"Other pairs: Type II errors at n = {n}, with 95 % intervals", columns, tuple(lines))
