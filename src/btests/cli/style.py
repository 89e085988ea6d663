"""Style of figures."""

from __future__ import annotations

from typing import Any

# Any: what types these keys have differs between versions of matplotlib.
STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.edgecolor": "#777777",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "btests",  # the same picture, the same file
}
