"""From scores and weights to what a selector hands back."""

from __future__ import annotations

from functools import reduce

import numpy as np
import numpy.typing as npt

from btests._warnings import SelectionWarning, warn
from btests.kernels.combination import add, scale
from btests.kernels.protocol import Kernel
from btests.plan import Array
from btests.selection.protocol import Candidate, Selection
from btests.selection.train_test_split import Parts

NO_DIFFERENCE = "no kernel found a difference on the rows of the choice"


def take_best(
    kernels: tuple[Kernel, ...],
    scores: Array,
    is_alive: npt.NDArray[np.bool_],
    parts: Parts,
    *,
    note: str = "",
    slack: Array | float = 0.0,
) -> Selection:
    """Return the kernel of the largest score, the first of them where several have it, within their ``slack``.

    A kernel that is 0 or constant on the rows of the choice has the score 0, which would beat one that was unlucky and
    is negative; so it is not asked. Where all are such, there is nothing to choose by: the answer is the average of
    them all, which is blind to none of the differences that one of them can see, and a warning.
    """
    if not is_alive.any():
        note = "no kernel tells any rows apart, so nothing can be chosen; taking all with the same weight"
        warn(note, SelectionWarning)
        return combine(kernels, scores, np.full(len(kernels), 1.0 / len(kernels)), parts, note)
    best = first_of_the_best(scores, is_alive, slack)
    weights = (np.arange(len(kernels)) == best).astype(np.float64)
    return combine(kernels, scores, weights, parts, note or ("" if scores[best] > 0.0 else NO_DIFFERENCE))


def first_of_the_best(scores: Array, is_alive: npt.NDArray[np.bool_], slack: Array | float) -> int:
    """Return the first of the alive whose score is the largest, within its ``slack``: (J,) to a number."""
    return int(np.argmax(is_alive & (scores + slack >= np.where(is_alive, scores - slack, -np.inf).max())))


def combine(kernels: tuple[Kernel, ...], scores: Array, weights: Array, parts: Parts, note: str = "") -> Selection:
    """Return the weighted sum of the kernels, or the only one with a weight, and the rows that it has not seen."""
    candidates = tuple(
        Candidate(kernel, float(s), float(w)) for kernel, s, w in zip(kernels, scores, weights, strict=True)
    )
    taken = [c for c in candidates if c.weight > 0.0]
    chosen: Kernel = taken[0].kernel
    if len(taken) > 1:
        chosen = reduce(add, (scale(c.kernel, c.weight) for c in taken))
    spent = (len(parts.choice_x), len(parts.choice_y))
    return Selection(chosen, parts.test_x, parts.test_y, candidates, note, spent)
