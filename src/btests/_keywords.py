"""Keyword arguments that users guess: ``rng`` in place of ``seed``, and advice in place of a bare ``TypeError``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from btests._text import brief, close_match

P = ParamSpec("P")
T = TypeVar("T")

# Names of a source of random numbers that are accepted in place of ``seed``: SPEC 7, and scikit-learn.
_SEEDS = ("rng", "random_state")

_DRAWS = "draws belong to the null distribution: null=SignFlip(n_resamples=1999) or null=Permutation(n_resamples=999)"
_BANDWIDTH = "a bandwidth belongs to the kernel, exp(-d^2 / (2 bandwidth^2)): kernel=Gaussian(bandwidth=1.0)"
_LEVEL = "a test returns a p-value, and the result is asked for a level: result.rejects(0.05)"

# Advice on arguments of other packages that have no counterpart here.
_ADVICE = {
    **dict.fromkeys(("n_permutations", "n_resamples", "permutations", "n_perm", "reps", "num_resamples"), _DRAWS),
    **dict.fromkeys(("sigma", "bandwidth", "lengthscale", "length_scale"), _BANDWIDTH),
    "gamma": f"{_BANDWIDTH}, with bandwidth = (2 gamma)^-1/2",
    **dict.fromkeys(("alpha", "level", "significance_level", "p_val"), _LEVEL),
    **dict.fromkeys(("n_jobs", "num_threads", "threads"), "the number of threads is n_threads"),
    **dict.fromkeys(("axis", "axes"), "rows are observations and columns are coordinates of one joint test"),
    "alternative": "the test is against every other distribution, and has no direction",
    "verbose": "progress is reported to a function: progress=print",
}


def corrects_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that takes ``rng`` or ``random_state`` for its ``seed``, and gives advice on unknown keywords.

    ``seed`` and its other names may be a `numpy.random.Generator`, `RandomState` or `SeedSequence`, from which one
    seed is drawn. Where a function takes ``by`` and values of it, ``a`` and ``b`` are these, as on the command line.
    """
    code = function.__code__
    known = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    name = function.__name__

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> T:
        return function(*arguments, **_corrected(name, known, len(arguments), keywords))

    return call


def _corrected(name: str, known: frozenset[str], n_given: int, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return keywords by their own names; raise a `TypeError` with advice where there is none."""
    found = dict(keywords)
    if {"by", "value_a"} <= known and n_given and found.get("by") is not None:
        for side in ("a", "b")[: 3 - n_given]:
            if side in found and f"value_{side}" not in found:
                found[f"value_{side}"] = found.pop(side)
    for other in _SEEDS:
        if other in found and "seed" in known:
            if found.get("seed") is not None:
                raise TypeError(f"{name}() takes seed or {other}, and not both")
            found["seed"] = _seed_of(other, found.pop(other))
    if found.get("seed") is not None:
        found["seed"] = _seed_of("seed", found["seed"])
    for keyword in found:
        if keyword not in known:
            raise TypeError(f"{name}() has no argument {keyword!r}{_advice(keyword, known)}")
    return found


def _advice(keyword: str, known: frozenset[str]) -> str:
    if keyword in _ADVICE:
        return f"; {_ADVICE[keyword]}"
    like = close_match(keyword, known)
    return f"; did you mean {like}?" if like else f"; there are {', '.join(sorted(known))}"


def _seed_of(name: str, source: object) -> object:
    """Return a seed drawn from a source of random numbers; anything else as it is, to be checked as a seed."""
    if isinstance(source, np.random.Generator):
        return int(source.integers(2**53))
    if isinstance(source, np.random.RandomState):
        return int(source.randint(2**31 - 1))
    if isinstance(source, np.random.SeedSequence):
        return int(source.generate_state(1, np.uint64)[0] >> np.uint64(11))
    if name != "seed" and (isinstance(source, bool) or not isinstance(source, (int, np.integer, type(None)))):
        raise TypeError(f"{name} must be a whole number or a numpy Generator, got {brief(source)}")
    return source
