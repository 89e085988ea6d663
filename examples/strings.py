"""A two-sample test on strings, with a kernel that you bring.

Do two sets of DNA sequences come from the same source? The kernel counts what two sequences share: their k-mers, the
pieces of k consecutive letters. Both sources use the four letters equally often; they differ in which letter likes to
follow which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from btests import Pairwise, btest

LETTERS = "ACGT"


@dataclass(frozen=True, slots=True)
class Spectrum:
    """The k-mer spectrum kernel: the scalar product of two sequences' k-mer counts, scaled to k(a, a) = 1."""

    k: int

    def __call__(self, x: Sequence[str], y: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the Gram matrix: two lists of b and c strings to (b, c)."""
        return np.asarray(self._features(x) @ self._features(y).T)

    def _features(self, strings: Sequence[str]) -> npt.NDArray[np.float64]:
        counts = np.zeros((len(strings), len(LETTERS) ** self.k))
        for row, string in zip(counts, strings, strict=True):
            digits = np.array([LETTERS.index(letter) for letter in string])
            codes = sum(digits[i : len(digits) - self.k + 1 + i] * len(LETTERS) ** i for i in range(self.k))
            np.add.at(row, codes, 1.0)
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True))


def shared_pieces(a: str, b: str) -> float:
    """Return how often two strings share a piece of 3 letters: a kernel of two single objects, for Pairwise."""
    pieces_a, pieces_b = (Counter(s[i : i + 3] for i in range(len(s) - 2)) for s in (a, b))
    return float(sum(n * pieces_b[piece] for piece, n in pieces_a.items()))


def sequences(n: int, length: int, repeat: float, rng: np.random.Generator) -> list[str]:
    """Return sequences in which a letter follows itself with probability ``repeat``, else any other does."""
    steps = np.where(rng.random((n, length)) < repeat, 0, rng.integers(1, 4, (n, length)))
    steps[:, 0] = rng.integers(0, 4, n)
    letters = np.array(list(LETTERS))[steps.cumsum(axis=1) % 4]
    return ["".join(row) for row in letters]


def main() -> None:
    """Run the test where it should find nothing, and where it should find something."""
    rng = np.random.default_rng(1)
    x, again = sequences(300, 60, 0.25, rng), sequences(300, 60, 0.25, rng)
    sticky = sequences(300, 60, 0.30, rng)
    print("first sequence of each:", x[0][:20], again[0][:20], sticky[0][:20])

    print("\nThe same source, spectrum kernel:")
    print(btest(x, again, kernel=Spectrum(3), seed=1))

    print("\nLetters that repeat a little more often, spectrum kernel:")
    print(btest(x, sticky, kernel=Spectrum(3), seed=1))

    print("\nThe same data, a plain function of two strings:")
    result = btest(x, sticky, kernel=Pairwise(shared_pieces), block_size=10, seed=1)
    print(f"p-value {result.pvalue:.4g}, {result.n_blocks} blocks of {result.block_size}")


if __name__ == "__main__":
    main()
