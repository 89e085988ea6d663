"""The experiments that need no music, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from studies.reproduce.claims import Claims
from studies.reproduce.figure2 import Figure2
from studies.reproduce.figure3 import Figure3
from studies.reproduce.figure4 import Figure4
from studies.reproduce.protocol import Experiment
from studies.reproduce.table1 import Table1

PLAIN: dict[str, Callable[[int, bool], Experiment]] = {
    "table1": Table1,
    "figure2": Figure2,
    "figure3": Figure3,
    "figure4": Figure4,
    "claims": Claims,
}


def plain(names: Sequence[str], seed: int, quick: bool) -> list[Experiment]:
    """Return those of ``names`` that need no music."""
    return [make(seed, quick) for name, make in PLAIN.items() if name in names]
