"""Null distributions of the test statistic: resampling, closed-form and asymptotic; by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from btests._text import brief, close_match
from btests.nulls.cross_mmd import CrossMMD
from btests.nulls.distributions import (
    NormalDistribution,
    NullDistribution,
    PearsonIIIDistribution,
    ResampledDistribution,
    StudentDistribution,
)
from btests.nulls.exact_moments import ExactMoments, ThirdCumulant
from btests.nulls.moment_matching import BetaDistribution, Gamma, Pearson
from btests.nulls.normal import Bootstrap, Normal
from btests.nulls.null import Null
from btests.nulls.permutation import Permutation
from btests.nulls.sign_flip import SignFlip
from btests.nulls.spectrum import Spectrum
from btests.nulls.tu import TU

__all__ = [
    "NULLS",
    "TU",
    "BetaDistribution",
    "Bootstrap",
    "CrossMMD",
    "ExactMoments",
    "Gamma",
    "Normal",
    "NormalDistribution",
    "Null",
    "NullDistribution",
    "Pearson",
    "PearsonIIIDistribution",
    "Permutation",
    "ResampledDistribution",
    "SignFlip",
    "Spectrum",
    "StudentDistribution",
    "ThirdCumulant",
    "null_of",
]


#: Nulls by name.
NULLS: dict[str, Callable[[], Null]] = {
    "normal": Normal,
    "third-cumulant": ThirdCumulant,
    "sign-flip": SignFlip,
    "cross-mmd": CrossMMD,
    "permutation": Permutation,
    "spectrum": Spectrum,
    "gamma": Gamma,
    "pearson": Pearson,
    "jackknife": Normal,  # of an average, the variance of the jackknife is s^2 / m
    "bootstrap": Bootstrap,
    "tu": TU,
}


def null_of(null: object, known: Mapping[str, Callable[[], Null]] = NULLS) -> Null:
    """Return a null given as an object, a name, or None (``SignFlip()``); raise for anything else."""
    if isinstance(null, str):
        if null not in known:
            like = close_match(null, known)
            raise ValueError(
                f"null must be one of {', '.join(sorted(known))}, or a null object, got {brief(null)}"
                + (f"; did you mean {like!r}?" if like else "")
            )
        return known[null]()
    if isinstance(null, type):
        raise TypeError(f"null must be an object, not the class: write {null.__name__}()")
    if null is not None and not hasattr(null, "distribution"):
        raise TypeError(f"null must be a null such as SignFlip(), got {type(null).__name__}")
    found: Any = SignFlip() if null is None else null
    return found  # type: ignore[no-any-return]
