"""What each column says, in one pass over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from btests.comparison.cells import Cells
from btests.comparison.encoding import Encoding
from btests.comparison.features import column_differences, pooled_ranks, relation_scores
from btests.comparison.relations import Margin, most_scores, scored_pairs
from btests.comparison.scores import Features, Scored, quadratic_scores
from btests.comparison.share import share_moved
from btests.comparison.units import Units


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
    most = most_scores(len(columns)) if len(columns) > 1 else 0
    features: list[Features] = []
    owners: list[int] = []
    effects, margins = [], []
    for j, (cells, code) in enumerate(zip(columns, encoding.codes, strict=True)):
        dealt = units.deal(cells)
        rank = pooled_ranks(dealt) if cells.kind in ("number", "time") else None
        for part in column_differences(dealt, code, rank, units):
            features.append(part)
            owners += [j] * part.weights.shape[1]
        effects.append(share_moved(dealt, rank, code.periods))
        if most:
            scores, n_scores = relation_scores(dealt, rank, most)
            margins.append(Margin(scores.astype(np.float32), n_scores))
    # Cells that are there and missing cells are statistics of their own: a column has moved if one of them has.
    by_column = quadratic_scores(features, units.signs, units.exhaustive).grouped(owners)
    if not most:
        return Evidence(by_column, tuple(effects), (), None)
    pairs, by_pair = scored_pairs(margins, units)
    return Evidence(by_column, tuple(effects), tuple(pairs), by_pair)
