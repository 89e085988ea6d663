"""The kernel protocol, properties of kernels, and radial terms that are computed together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Real
from typing import Any, NamedTuple, Protocol

from btests import _core
from btests._text import brief
from btests.plan import Array

# The inverse of a smaller number would overflow.
_SMALLEST = 1e-300


def require_positive(name: str, value: object) -> None:
    """Raise unless ``value`` is a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the range of floats
        number = math.inf
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {brief(value)}")
    if number < _SMALLEST:
        raise ValueError(f"{name} must be at least {_SMALLEST}, got {value}; scale the data up")


class Kernel(Protocol):
    """Map two stacks of points, (..., b, d) and (..., c, d), to a stack of Gram matrices (..., b, c).

    Any function of two arrays (or, for structured data, two sequences of objects) that returns the matrix of their
    kernel values is a kernel. The kernels of this package are frozen dataclasses, and have some of these attributes,
    which a kernel class of a user may have as well:

    ``properties`` : Properties
        Guarantees to callers. Without it the defaults of `Properties` hold: see `properties_of`.
    ``terms()`` : tuple of Radial, or None
        The kernel as a sum of radial terms for the compiled loops: see `terms_of`.
    ``summands`` : tuple of Kernel
        The kernels that a weighted sum consists of: see `summands_of`.
    ``from_squared_distances(squares)``
        Kernel values from squared Euclidean distances, for callers that evaluate many bandwidths.
    ``is_serializable`` : bool
        True on classes whose fields are numbers, text and kernels: see `btests.kernels.serialization`.

    See Also
    --------
    btests.Pairwise : A kernel from a function of two single objects.

    Examples
    --------
    >>> import numpy as np
    >>> import btests
    >>> def cosine(p, q):
    ...     p, q = (s / np.linalg.norm(s, axis=1, keepdims=True) for s in (p, q))
    ...     return p @ q.T
    >>> rng = np.random.default_rng(0)
    >>> btests.btest(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 1.0, kernel=cosine, seed=1).pvalue < 0.01
    True
    """

    def __call__(self, x: Any, y: Any, /) -> Array:
        """Return the Gram matrices of two stacks."""
        ...


@dataclass(frozen=True, slots=True)
class Properties:
    """Guarantees of a kernel to its callers. The defaults are safe for every user function.

    Attributes
    ----------
    takes_stacks : bool
        Whether one call evaluates a stack of blocks; other kernels are called once per block.
    takes_objects : bool or None
        Whether the kernel compares objects that are not rows of numbers; None if unknown.
    centers_rows : bool
        Whether rows are centred before evaluation, which is allowed where MMD^2 does not depend on the origin. The
        compiled loops centre the rows of all radial terms, and the numpy path must round as they do.
    has_bandwidth : bool
        Whether distances are divided by a bandwidth before they are squared, so that no scale of the data underflows.
    supremum : float or None
        Least upper bound of a kernel without negative values; None for all others.
    columns : tuple of int or None
        The only coordinates that the kernel depends on; None for all.
    """

    takes_stacks: bool = False
    takes_objects: bool | None = None
    centers_rows: bool = False
    has_bandwidth: bool = True
    supremum: float | None = None
    columns: tuple[int, ...] | None = None


#: Properties of the kernels between 0 and 1 that decay with a distance.
DECAYING = Properties(takes_stacks=True, takes_objects=False, centers_rows=True, supremum=1.0)


@dataclass(frozen=True, slots=True)
class Radial:
    """A radial term of a kernel, as the compiled loops evaluate it.

    Attributes
    ----------
    shape : str
        Function of the scaled distance: a key of ``btests._core.constants.SHAPES``.
    scale : float
        Factor of the coordinates.
    power : int
        Integer parameter of the shape.
    weight : float
        Factor of the value.
    columns : tuple of int or None
        The coordinates that the distance is of; None for all.
    """

    shape: str
    scale: float
    power: int = 0
    weight: float = 1.0
    columns: tuple[int, ...] | None = None


def properties_of(kernel: Any) -> Properties:
    """Return the properties that a kernel states, or safe defaults: kernels with radial terms are centred."""
    found = getattr(kernel, "properties", None)
    return found if isinstance(found, Properties) else Properties(centers_rows=terms_of(kernel) is not None)


def terms_of(kernel: Any) -> tuple[Radial, ...] | None:
    """Return the radial terms of a kernel, None for a kernel that the compiled loops cannot evaluate."""
    terms: Callable[[], tuple[Radial, ...] | None] | None = getattr(kernel, "terms", None)
    return None if terms is None else terms()


def summands_of(kernel: Any) -> tuple[Kernel, ...]:
    """Return the kernels that a weighted sum consists of; of any other kernel the kernel itself."""
    found: tuple[Kernel, ...] = getattr(kernel, "summands", (kernel,))
    return found


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


class FeatureMap(Protocol):
    """Map stacks of points (..., b, d) to features (..., b, f): values of the points, then a linear map."""

    @property
    def properties(self) -> Properties:
        """Guarantees to callers, as those of a kernel."""
        ...

    def values(self, rows: Any, /) -> Array:
        """Return what the features of each row are linear in: (..., b, d) to (..., b, r), or b objects to (b, r)."""
        ...

    def combine(self, values: Array, /) -> Array:
        """Return the linear map of values or of their differences: (..., r) to (..., f)."""
        ...


class Features(NamedTuple):
    """A feature map, and the weight of each feature."""

    map: FeatureMap
    weights: Array


def features_of(kernel: Any) -> Features | None:
    """Return the explicit features of a kernel, None for a kernel that has none."""
    found = getattr(kernel, "features", None)
    return None if found is None else found()
