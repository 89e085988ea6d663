"""Kernels of single objects."""

from __future__ import annotations

from btests import Pairwise


def test_matrix_of_single_values() -> None:
    kernel = Pairwise(lambda a, b: len(a) * len(b))
    assert kernel(["a", "bb"], ["ccc"]).tolist() == [[3.0], [6.0]]


def test_a_sequence_against_itself_costs_half() -> None:
    calls: list[tuple[str, str]] = []

    def count(a: str, b: str) -> float:
        calls.append((a, b))
        return float(ord(a) * ord(b))

    words = ["a", "b", "c"]
    gram = Pairwise(count)(words, words)
    assert len(calls) == 6
    assert gram.tolist() == [[float(ord(a) * ord(b)) for b in words] for a in words]
