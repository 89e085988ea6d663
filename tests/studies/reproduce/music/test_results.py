"""The results on music in the docs: tables are those of the counts beside them, and the page quotes what they hold."""

from __future__ import annotations

import re
from pathlib import Path

from studies.harness.counts import read_csv, to_csv
from studies.harness.report import Report
from studies.reproduce.music.figure5 import Figure5
from studies.reproduce.music.songs import Pair, Song
from studies.reproduce.music.table2_report import make_report

DOCS = Path(__file__).parents[4] / "docs"
RESULTS = DOCS / "reproduction"


def _pair(text: str) -> Pair:
    """Return the songs that the last table of Table 2 names."""
    titles = [tuple(line.split(" | ")[:2]) for line in text.partition("## Other pairs")[2].splitlines()]
    songs = [tuple(Song(title.strip("| "), "") for title in pair) for pair in titles if len(pair) == 2][2:]
    (p, q), *others = songs
    return Pair(p, q, tuple((one, other) for one, other in others), "")


def assert_documented(report: Report) -> None:
    """Assert that the tables and the counts in the docs are those of a report."""
    text = (RESULTS / f"{report.name}.md").read_text()
    for table in report.tables:
        lines = "\n".join(f"| {' | '.join(cells)} |" for cells in table.rows)
        assert lines in text
    assert (RESULTS / f"{report.name}.csv").read_text() == to_csv(report.counts)


def test_table_2_says_what_its_counts_say() -> None:
    pair = _pair((RESULTS / "table2.md").read_text())
    assert len(pair.others) == 4
    assert_documented(
        make_report("table2", pair, "", read_csv(RESULTS / "table2.csv"), read_csv(RESULTS / "table2-seconds.csv"))
    )


def test_figure_5_says_what_its_counts_say() -> None:
    song = Song("P", "")
    (report,) = Figure5(Pair(song, song, (), ""), "", 2013, False).report({"all": read_csv(RESULTS / "figure5.csv")})
    assert_documented(report)


def test_figure_1_has_all_draws() -> None:
    rows = read_csv(RESULTS / "figure1.csv")
    for b in (2, 250):
        for law in ("H0", "H_A"):
            assert sum(row[law] for row in rows if row["block_size"] == b) == 3000


def test_the_page_quotes_numbers_that_are_in_the_tables() -> None:
    page = (DOCS / "music.md").read_text()
    for link in re.findall(r"\]\(([^)#]+)\)", page):
        assert (DOCS / link).exists()
    tables = "".join((RESULTS / f"{name}.md").read_text() for name in ("table2", "figure1", "figure5"))
    quoted = re.findall(r"(?<!\d)\.\d{3}\b", page.partition("## What holds")[2])
    assert len(quoted) > 20
    for number in quoted:
        assert f"0{number}" in tables
