"""The figure of Table 2: both errors here and in the paper, one line a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studies.harness.estimates import Estimate
from studies.reproduce.music.published import Published
from studies.reproduce.music.trials import LEVEL

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Line:
    """A test, its Type I and Type II errors, and the published ones."""

    name: str
    errors: tuple[Estimate, Estimate]
    published: Published | None = None


def draw(figure: Figure, groups: Sequence[tuple[str, str, Sequence[Line]]]) -> None:
    """Draw groups of lines, each with a label and a color: errors with intervals, published numbers as diamonds."""
    panels = figure.subplots(1, 2, sharey=True)
    names, y = list[str](), 0
    for label, color, lines in groups:
        for k, line in enumerate(lines):
            both = (None, None) if line.published is None else (line.published.type_1, line.published.type_2)
            for axes, error, paper in zip(panels, line.errors, both, strict=True):
                bar = [[error.value - error.low], [error.high - error.value]]
                own = label if k == 0 else None
                axes.errorbar(error.value, y, xerr=bar, color=color, marker="o", markersize=5, capsize=3, label=own)
                if paper is not None:
                    diamond = "published, on other songs" if y == 0 else None
                    axes.plot(
                        paper, y, marker="D", markersize=9, markerfacecolor="none", markeredgecolor="#222222",
                        linestyle="none", label=diamond, clip_on=False,
                    )  # fmt: skip
            names.append(line.name)
            y += 1
        y += 1
        names.append("")
    left, right = panels
    left.axvline(LEVEL, color="#444444", linewidth=0.9, linestyle=(0, (4, 3)), label="level asked for")
    left.set(xlabel="Type I error", xlim=(-0.004, None), yticks=range(len(names) - 1), yticklabels=names[:-1])
    right.set(xlabel="Type II error", xlim=(-0.04, 1.04))
    left.invert_yaxis()  # and with it the other
    for axes in panels:
        axes.tick_params(axis="y", length=0, pad=8)
        axes.grid(axis="x", color="#DDDDDD", linewidth=0.7)
        axes.set_axisbelow(True)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
