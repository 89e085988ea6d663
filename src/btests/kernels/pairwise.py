"""A kernel from a function of two single objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from btests.kernels.combination import add, scale
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Pairwise:
    """A kernel on objects of any kind (strings, graphs, ...) from ``function(a, b) -> number``.

    Examples
    --------
    >>> from btests import Pairwise
    >>> shared_letters = Pairwise(lambda a, b: len(set(a) & set(b)))
    >>> shared_letters(["abc"], ["cab", "xyz"])
    array([[3., 0.]])
    """

    function: Callable[[Any, Any], float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"Pairwise takes a function of two objects, got {type(self.function).__name__}")

    def __call__(self, x: Sequence[Any], y: Sequence[Any]) -> Array:
        """Return the Gram matrix: two sequences of b and c objects to (b, c)."""
        gram = np.empty((len(x), len(y)))
        # A kernel is symmetric: a sequence against itself costs half.
        same = x is y
        for i, a in enumerate(x):
            for j in range(i if same else 0, len(y)):
                gram[i, j] = self.function(a, y[j])
                if same:
                    gram[j, i] = gram[i, j]
        return gram

    def __repr__(self) -> str:
        # Not the function's own repr: that has an address in it, which differs from run to run.
        return f"Pairwise({getattr(self.function, '__qualname__', type(self.function).__qualname__)})"

    __add__ = add
    __mul__ = __rmul__ = scale
