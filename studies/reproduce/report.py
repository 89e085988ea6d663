"""From a report to its files: the same report, the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from btests import __version__
from btests.cli.style import STYLE
from studies.reproduce.protocol import Report, Row, Table


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the reports of an experiment into a folder; ``command`` is how they are made again."""

    out: Path
    command: str

    def write(self, report: Report) -> list[Path]:
        """Write the files of a report, each whole or not at all, and return them."""
        pictures = _pictures(report)
        texts = {f"{report.name}.md": self.markdown(report, has_picture=bool(pictures))}
        tables = {report.name: report.counts, **(report.more or {})}
        texts |= {f"{name}.csv": to_csv(rows) for name, rows in tables.items() if rows}
        files = {name: text.encode() for name, text in texts.items()} | pictures
        return [replace(self.out / name, content) for name, content in files.items()]

    def markdown(self, report: Report, *, has_picture: bool) -> str:
        """Return the text of a report."""
        lines = [f"# {report.title}", ""]
        if "--quick" in self.command:
            lines += ["**A quick run: a small part of the repetitions that are named below.**", ""]
        lines += [report.caption.strip(), ""]
        if has_picture:
            lines += [f"![{report.title}]({report.name}.svg)", ""]
        for table in report.tables:
            lines += [*tomarkdown(table), ""]
        lines.append(f"Made by `{self.command}`, btests {__version__}.")
        return "\n".join(lines) + "\n"


def replace(path: Path, content: bytes) -> Path:
    """Write a file that appears whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_bytes(content)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None  # a full disk names no file
    return partial.replace(path)


def to_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV, columns as in the first of them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def tomarkdown(table: Table) -> list[str]:
    """Return the lines of a table."""
    heading = [f"## {table.heading}", ""] if table.heading else []
    rule = "| " + " | ".join("---" for _ in table.columns) + " |"
    return [*heading, _line(table.columns), rule, *(_line(row) for row in table.rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _pictures(report: Report) -> dict[str, bytes]:
    """Return the files of the figure; none where there is no matplotlib."""
    if report.draw is None:
        return {}
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return {}
    files = {}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=report.size, layout="constrained")
        report.draw(figure)
        for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            image = io.BytesIO()
            figure.savefig(image, format=ending, dpi=130, metadata=metadata)
            files[f"{report.name}.{ending}"] = image.getvalue()
    return files
