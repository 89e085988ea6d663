"""Reports and their files: the same report gives the same bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from btests import __version__
from studies.harness.counts import Row, to_csv
from studies.harness.files import write_atomically
from studies.harness.markdown import table_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text: a heading (may be empty), names of columns, rows of cells."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Content of NAME.csv, NAME.md and, with ``draw``, NAME.png and NAME.svg.

    Attributes
    ----------
    name : str
        Name of the files.
    title, caption : str
        First lines of the Markdown file; the caption may have several paragraphs.
    counts : sequence of rows
        Raw counts, not rates, with the columns of the first row. Empty: no CSV file.
    tables : tuple of Table
        Tables of the Markdown file.
    draw : callable, optional
        Draws on an empty figure of ``size`` inches.
    size : tuple of float
        Width and height of the figure.
    more : mapping, optional
        Further CSV files by name (without .csv), such as seconds, which do not repeat.
    text : callable, optional
        From the command to the whole Markdown file, in place of title, caption and tables.
    """

    name: str
    title: str = ""
    caption: str = ""
    counts: Sequence[Row] = ()
    tables: tuple[Table, ...] = ()
    draw: Callable[[Figure], None] | None = None
    size: tuple[float, float] = (8.0, 5.0)
    more: Mapping[str, Sequence[Row]] | None = None
    text: Callable[[str], str] | None = None


def write_report(report: Report, out: Path, command: str) -> list[Path]:
    """Write the files of a report that ``command`` makes into a folder, and return their paths."""
    figures = _figures(report)
    texts = {f"{report.name}.md": markdown(report, command, has_figure=bool(figures))}
    tables = {report.name: report.counts, **(report.more or {})}
    texts |= {f"{name}.csv": to_csv(rows) for name, rows in tables.items() if rows}
    files = {name: text.encode() for name, text in texts.items()} | figures
    return [write_atomically(out / name, content) for name, content in files.items()]


def markdown(report: Report, command: str, *, has_figure: bool) -> str:
    """Return the Markdown file of a report."""
    if report.text is not None:
        return report.text(command)
    lines = [f"# {report.title}", ""]
    if "--quick" in command:
        lines += ["**A quick run: a small part of the repetitions that are named below.**", ""]
    lines += [report.caption.strip(), ""]
    if has_figure:
        lines += [f"![{report.title}]({report.name}.svg)", ""]
    for table in report.tables:
        heading = [f"## {table.heading}", ""] if table.heading else []
        lines += [*heading, *table_lines(table.columns, table.rows), ""]
    lines.append(f"Made by `{command}`, btests {__version__}.")
    return "\n".join(lines) + "\n"


def _figures(report: Report) -> dict[str, bytes]:
    """Return the files of the figure; none without matplotlib."""
    if report.draw is None:
        return {}
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure

        from btests.cli.pictures import STYLE
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
