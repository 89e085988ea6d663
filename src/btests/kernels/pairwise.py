"""A kernel from a function of two single objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from btests.kernels.combination import add, scale
from btests.kernels.kernel import Properties
from btests.plan import Array


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Kernel on objects of any kind (strings, graphs, ...) from a function of two objects.

    Parameters
    ----------
    function : callable
        Symmetric, positive semi-definite ``function(a, b) -> float``. It is called once per pair of objects, from
        Python: a function of two arrays that returns a Gram matrix is much faster, and is a kernel as it is.

    See Also
    --------
    btests.kernels.Kernel : What a kernel is.

    Notes
    -----
    Files do not hold functions: a saved result has the name of the function and a hash of its code.

    Examples
    --------
    >>> from btests import Pairwise
    >>> shared_letters = Pairwise(lambda a, b: len(set(a) & set(b)))
    >>> shared_letters(["abc"], ["cab", "xyz"])
    array([[3., 0.]])
    """

    properties: ClassVar[Properties] = Properties(takes_objects=True)

    function: Callable[[Any, Any], float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"Pairwise takes a function of two objects, got {type(self.function).__name__}")

    def __call__(self, x: Sequence[Any], y: Sequence[Any]) -> Array:
        """Return the Gram matrix: two sequences of b and c objects to (b, c)."""
        gram = np.empty((len(x), len(y)))
        # A kernel is symmetric: the Gram matrix of one sequence takes half of the calls.
        same = x is y
        for i, a in enumerate(x):
            for j in range(i if same else 0, len(y)):
                gram[i, j] = self.function(a, y[j])
                if same:
                    gram[j, i] = gram[i, j]
        return gram

    def __repr__(self) -> str:
        # Not the function's own repr: its address differs from run to run.
        return f"Pairwise({getattr(self.function, '__qualname__', type(self.function).__qualname__)})"

    __add__ = add
    __mul__ = __rmul__ = scale
