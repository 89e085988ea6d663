"""Radial terms of kernels: which of them are computed together, and sums over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import product
from operator import add

from btests import _core
from btests.kernels.kernel import Radial, terms_of
from btests.kernels.pair import KernelPair
from btests.plan import Array

# Scales that are further apart are no family: the square of their ratio must be a float.
_FAR = 2.0**300


def weighted(term: Radial, found: Array) -> Array:
    """Return values or moments of a term of weight 1 times the weight of a term."""
    return found if term.weight == 1.0 else term.weight * found  # moments are large enough that a copy shows


def unit(term: Radial) -> Radial:
    """Return a term with weight 1."""
    return term if term.weight == 1.0 else replace(term, weight=1.0)


@lru_cache(64)
def groups_of(terms: tuple[Radial, ...]) -> list[tuple[Radial, ...]]:
    """Return the terms, each once, those together that the compiled loops compute together."""
    groups: dict[object, list[Radial]] = {}
    for term in dict.fromkeys(sorted(terms, key=lambda term: term.scale)):
        shared = _core.belong_together(term.shape)
        group = groups.setdefault((term.shape, term.columns) if shared else term, [])
        if group and term.scale / group[0].scale > _FAR:  # begin anew
            groups[len(groups), group[0]] = list(group)
            group.clear()
        group.append(term)
    return [tuple(group) for group in groups.values()]


def hsic_of_terms(
    pairs: Sequence[KernelPair], compute: Callable[[tuple[Radial, ...], tuple[Radial, ...]], tuple[Array, Array]]
) -> list[tuple[Array, Array]]:
    """Return values and moments of pairs of kernels, which are linear in the kernel of x and in that of y.

    Parameters
    ----------
    pairs : sequence of KernelPair
        Kernels that have radial terms.
    compute : callable
        From i terms of x and j of y that are computed together, all of weight 1, to values (i, j, m) and moments
        (i, j, q, k, k).
    """
    own = [(terms_of(pair.x) or (), terms_of(pair.y) or ()) for pair in pairs]
    groups_x, groups_y = (groups_of(tuple(unit(t) for terms in own for t in terms[side])) for side in (0, 1))
    wanted = {(unit(s), unit(t)) for terms in own for s, t in product(*terms)}
    found: dict[tuple[Radial, Radial], tuple[Array, Array]] = {}
    for group_x, group_y in product(groups_x, groups_y):
        if wanted.isdisjoint(product(group_x, group_y)):
            continue
        values, moments = compute(group_x, group_y)
        for (i, s), (j, t) in product(enumerate(group_x), enumerate(group_y)):
            found[s, t] = values[i, j], moments[i, j]

    def total(terms: tuple[tuple[Radial, ...], tuple[Radial, ...]]) -> tuple[Array, Array]:
        parts = [[weighted(s, weighted(t, one)) for one in found[unit(s), unit(t)]] for s, t in product(*terms)]
        values, moments = (reduce(add, of) for of in zip(*parts, strict=True))
        return values, moments

    return [total(terms) for terms in own]
