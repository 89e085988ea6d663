"""The figure of the claims: variance over B and over n, skewness, and the distance to the normal distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = Mapping[str, tuple[list[float], list[float]]]

_GREY = "#777777"
_STYLES = {
    "fine, H0": ("#0072B2", "o"),
    "wide, H0": ("#56B4E9", "^"),
    "fine, H_A": ("#D55E00", "s"),
    "wide, H_A": ("#CC79A7", "v"),
}


def draw(figure: Figure, curves: Curves) -> None:
    """Draw the four panels, with lines of the claimed slopes."""
    (by_b, by_n), (skew, distance) = figure.subplots(2, 2)
    for case, style in _STYLES.items():
        _plot(by_b, curves[f"{case}, over B"], case, style)
        _plot(by_n, curves[f"{case}, over n"], case, style)
    _guide(by_b, curves["fine, H0, over B"], -1.0, "slope -1")
    _guide(by_n, curves["wide, H0, over n"], -1.0, "slope -1")
    for case in ("fine, H0", "wide, H0"):
        _plot(skew, curves[f"{case}, skewness"], case, _STYLES[case])
    _guide(skew, curves["wide, H0, skewness"], -0.5, "slope -1/2")
    _plot(distance, curves["standardised"], "wide, H0, known variance", ("#0072B2", "o"), "none")
    _plot(distance, curves["studentised"], "wide, H0, sample variance (the test)", ("#D55E00", "s"), "none")
    _guide(distance, curves["standardised"], 1.0, "slope 1")
    dots = (0, (1, 2))
    distance.axhline(curves["noise"][1][0], color=_GREY, linewidth=0.9, linestyle=dots, label="noise of the draws")
    by_b.set(title="(a) n times the variance, over the block size", xlabel="block size B", ylabel="n x variance")
    by_n.set(title="(b) variance over the number of rows", xlabel="rows n", ylabel="variance")
    skew.set(title="(c) skewness of the statistic, B = 16", xlabel="number of blocks n / B", ylabel="skewness")
    distance.set(title="(d) largest distance to the normal law", xlabel="sqrt(B / n)", ylabel="distance")
    ticks = ((2, 8, 32, 128, 512), (64, 256, 1024, 4096), (4, 8, 16, 32, 64), (0.0625, 0.125, 0.25, 0.5))
    for axes, own in zip((by_b, by_n, skew, distance), ticks, strict=True):
        axes.set_xticks(own, [f"{tick:g}" for tick in own])
        axes.set_xticks((), minor=True)
        axes.legend(fontsize=8)


def _plot(
    axes: Axes, curve: tuple[list[float], list[float]], label: str, style: tuple[str, str], line: str = "-"
) -> None:
    positive = [(x, y) for x, y in zip(*curve, strict=True) if y > 0.0]  # for the logarithmic axis
    x, y = [p[0] for p in positive], [p[1] for p in positive]
    axes.plot(x, y, color=style[0], marker=style[1], markersize=5, linestyle=line, label=label)
    axes.set(xscale="log", yscale="log")


def _guide(axes: Axes, curve: tuple[list[float], list[float]], exponent: float, label: str) -> None:
    """Draw a line of a given slope a little above the curve, from end to end."""
    x, y = curve
    end = 1.5 * max(y[-1], 1e-12)
    start = end * (x[0] / x[-1]) ** exponent
    axes.plot([x[0], x[-1]], [start, end], color=_GREY, linewidth=1.0, linestyle=(0, (4, 3)), label=label)
