"""The figure of Table 1: samples needed here and in the paper, one line a test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from studies.reproduce.methods import BEYOND, PAPER, TAKEN_LITERALLY, Method
from studies.reproduce.search import Step

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GROUPS: tuple[tuple[str, Sequence[Method], str], ...] = (
    ("sigma = 1 as the paper's experiments had it, and multiple kernels", PAPER, "#0072B2"),
    ("sigma = 1 taken literally", TAKEN_LITERALLY, "#D55E00"),
    ("rows that the paper lacks", BEYOND, "#009E73"),
)


def draw(figure: Figure, answers: Mapping[str, Step]) -> None:
    """Draw the answers with their intervals, and the published numbers as diamonds."""
    axes = figure.subplots()
    names, y = [], 0
    for label, methods, color in _GROUPS:
        for k, method in enumerate(methods):
            answer = answers[method.key].answer
            if answer is not None and math.isfinite(answer.value):
                bar = [[answer.value - answer.low], [answer.high - answer.value]]
                own = label if k == 0 else None
                axes.errorbar(answer.value, y, xerr=bar, color=color, marker="o", markersize=5, capsize=3, label=own)
            if method.published is not None:
                diamond = "published" if y == 0 else None
                axes.plot(
                    method.published, y, marker="D", markersize=9, markerfacecolor="none", markeredgecolor="#222222",
                    linestyle="none", label=diamond,
                )  # fmt: skip
            names.append(_name(method))
            y += 1
        y += 1
        names.append("")
    axes.set(xscale="log", xlabel="samples needed for a Type II error of 5 % (rows of each sample)", xlim=(90, 60_000))
    axes.set_xticks([100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000])
    axes.set_xticklabels(["100", "200", "500", "1000", "2000", "5000", "10,000", "20,000", "50,000"])
    axes.set_xticks((), minor=True)
    axes.set_yticks(range(len(names) - 1), names[:-1])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.7)
    axes.set_axisbelow(True)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)


def _name(method: Method) -> str:
    kernel = method.kernel_name.removesuffix(" (bandwidth 2)").removesuffix(" taken literally")
    return f"{method.name}, {kernel}, {method.size_name}"
