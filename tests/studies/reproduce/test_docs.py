"""The results in the docs: the tables are those that the counts beside them give, and every link leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from studies.harness.counts import read_csv, to_csv
from studies.harness.estimates import Estimate
from studies.harness.experiment import Experiment
from studies.harness.report import Report, markdown
from studies.reproduce import table1_report
from studies.reproduce.figure2 import Figure2
from studies.reproduce.figure3 import Figure3
from studies.reproduce.figure4 import Figure4
from studies.reproduce.search import Step

SEED = 2013
DOCS = Path(__file__).parents[3] / "docs"
RESULTS = DOCS / "reproduction"


def assert_documented(report: Report) -> None:
    """Assert that the Markdown and CSV files in the docs are those of a report."""
    text = markdown(report, f"python -m studies.reproduce {report.name} --seed {SEED}", has_figure=True)
    assert (RESULTS / f"{report.name}.md").read_text() == text
    assert (RESULTS / f"{report.name}.csv").read_text() == to_csv(report.counts)


@pytest.mark.parametrize("experiment", [Figure2(SEED, False), Figure3(SEED, False), Figure4(SEED, False)])
def test_figures_say_what_their_counts_say(experiment: Experiment) -> None:
    (report,) = experiment.report({"all": read_csv(RESULTS / f"{experiment.name}.csv")})
    assert_documented(report)


def test_table_1_says_what_its_counts_say() -> None:
    answers = {
        row["method"]: Step(
            {}, row["level_measured_at"], Estimate(row["samples"], row["low"], row["high"], row["trials"])
        )
        for row in read_csv(RESULTS / "table1-sizes.csv")
    }
    assert_documented(
        table1_report.report(
            "table1", read_csv(RESULTS / "table1.csv"), answers, read_csv(RESULTS / "table1-seconds.csv")
        )
    )


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
