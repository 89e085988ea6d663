"""The results in the docs: the tables are those that the counts beside them give, and every link leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from studies.reproduce import layout
from studies.reproduce.figure2 import Figure2
from studies.reproduce.figure3 import Figure3
from studies.reproduce.figure4 import Figure4
from studies.reproduce.intervals import Estimate
from studies.reproduce.protocol import Experiment, Report
from studies.reproduce.report import Writer, to_csv
from studies.reproduce.search import Step
from tests.studies.reproduce.results import DOCS, RESULTS, read

SEED = 2013


def assert_documented(report: Report) -> None:
    """Assert that the Markdown and CSV files in the docs are those of a report."""
    text = Writer(DOCS, f"python -m studies.reproduce {report.name} --seed {SEED}").markdown(report, has_picture=True)
    assert (RESULTS / f"{report.name}.md").read_text() == text
    assert (RESULTS / f"{report.name}.csv").read_text() == to_csv(report.counts)


@pytest.mark.parametrize("experiment", [Figure2(SEED, False), Figure3(SEED, False), Figure4(SEED, False)])
def test_figures_say_what_their_counts_say(experiment: Experiment) -> None:
    (report,) = experiment.report({"all": read(experiment.name)})
    assert_documented(report)


def test_table_1_says_what_its_counts_say() -> None:
    answers = {
        row["method"]: Step(
            {}, row["level_measured_at"], Estimate(row["samples"], row["low"], row["high"], row["trials"])
        )
        for row in read("table1-sizes")
    }
    assert_documented(layout.report("table1", read("table1"), answers, read("table1-seconds")))


def links(text: str) -> Sequence[str]:
    return [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]


def test_links_lead_somewhere() -> None:
    page = (DOCS / "reproduction.md").read_text()
    linked = {DOCS / link for link in links(page)}
    assert all(path.exists() for path in linked)
    assert set(RESULTS.glob("*.md")) <= linked
    for path in RESULTS.glob("*.md"):
        text = path.read_text()
        assert all((RESULTS / link).exists() for link in links(text))
        assert f"Made by `python -m studies.reproduce {path.stem} --seed {SEED}`, btests " in text
    assert all(path.suffix in (".csv", ".md", ".svg", ".json") for path in RESULTS.iterdir())
    assert all(path.stat().st_size < 300_000 for path in RESULTS.iterdir())
