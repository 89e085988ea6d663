"""What each column says, in one pass over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from btests.tables.cells import Cells
from btests.tables.encoding import Encoding
from btests.tables.features import column_differences, pooled_ranks, relation_scores
from btests.tables.moves import effect
from btests.tables.relations import n_scores, scored_pairs
from btests.tables.scores import Scored, quadratic_scores
from btests.tables.units import Units


@dataclass(frozen=True, slots=True)
class Evidence:
    """How unlikely the change of each column is, and of each pair, and how large that of each column is.

    ``by_pair`` is None where there is one column, or too many.
    """

    by_column: Scored
    effects: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...]
    by_pair: Scored | None


def gather(columns: Sequence[Cells], encoding: Encoding, units: Units) -> Evidence:
    """Look at columns one by one and in pairs, under the signs of ``units``."""
    most = n_scores(len(columns)) if len(columns) > 1 else 0
    moving, still, groups, start = [], [], [], 0
    effects, scores = [], []
    for cells, code in zip(columns, encoding.codes, strict=True):
        dealt = units.deal(cells)
        rank = pooled_ranks(dealt) if cells.kind in ("number", "time") else None
        d, c = column_differences(dealt, code, np.empty(0) if rank is None else rank, units)
        moving.append(d)
        still.append(c)
        groups.append(slice(start, start + d.shape[1]))
        start = groups[-1].stop
        effects.append(effect(dealt, rank))
        if most:
            scores.append(relation_scores(dealt, rank, most).astype(np.float32))
    joined, constant = np.concatenate(moving, axis=1), np.concatenate(still)
    by_column = quadratic_scores(joined, constant, units.signs, groups, units.exhaustive)
    if not most:
        return Evidence(by_column, tuple(effects), (), None)
    pairs, by_pair = scored_pairs(scores, units)
    return Evidence(by_column, tuple(effects), tuple(pairs), by_pair)
