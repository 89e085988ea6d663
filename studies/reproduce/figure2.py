"""Figure 2: the blobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from btests.datasets import blobs
from studies.harness.counts import Row
from studies.harness.experiment import Done, Task, rows_of
from studies.harness.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS = 2000

_CAPTION = """
Figure 2 of the paper: samples of the two distributions, each a grid of 5 x 5 Gaussians. In P the covariance of a blob
has eigenvalues 10 and 1 and is turned by pi/4, in Q it is the identity. (The paper's text gives the names the other
way round; no test minds.) There is no number to compare: the two differ in the shape of a blob alone.
"""


@dataclass(frozen=True, slots=True)
class Figure2:
    """A sample of P and one of Q."""

    seed: int
    quick: bool
    name: str = "figure2"
    cost: float = 0.1

    def plan(self, done: Done) -> Sequence[Task]:
        """Return the only task."""
        return [Task("points", draw_points, (self.seed, _POINTS // 10 if self.quick else _POINTS), 0.1)]

    def report(self, done: Done) -> Sequence[Report]:
        """Return the two panels."""
        rows = rows_of(done)
        return [
            Report(self.name, "Figure 2: the blobs", _CAPTION, rows, draw=lambda f: _draw(f, rows), size=(9.0, 4.8))
        ]


def draw_points(seed: int, n: int) -> list[Row]:
    """Return points of P and of Q, to two digits."""
    rng = np.random.default_rng([seed, 2])
    points = {"P": blobs(n, rng), "Q": blobs(n, rng, rotated=False)}
    return [
        {"sample": name, "first": round(float(p[0]), 2), "second": round(float(p[1]), 2)}
        for name, sample in points.items()
        for p in sample
    ]


def _draw(figure: Figure, rows: Sequence[Row]) -> None:
    for axes, (name, text), color in zip(
        figure.subplots(1, 2, sharex=True, sharey=True),
        (("P", "P: covariance eigenvalues 10 and 1, turned"), ("Q", "Q: covariance 1")),
        ("#0072B2", "#D55E00"),
        strict=True,
    ):
        points = np.array([(r["first"], r["second"]) for r in rows if r["sample"] == name])
        # Thousands of points are pixels in the SVG as well: it stays small.
        axes.scatter(points[:, 0], points[:, 1], s=4.0, c=color, linewidths=0, rasterized=True)
        axes.set_title(f"({'a' if name == 'P' else 'b'}) {text}")
        axes.set_aspect("equal")
        axes.set(xticks=range(0, 91, 15), yticks=range(0, 91, 15), xlabel="first coordinate")
    figure.axes[0].set_ylabel("second coordinate")
