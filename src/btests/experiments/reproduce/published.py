"""The numbers that the paper prints for the blobs, and what can be read from its figures and text."""

from __future__ import annotations

#: Trials behind each published number.
SAMPLE_SIZE_TRIALS = 3000
TYPE_TWO_TRIALS = 1000
TYPE_ONE_TRIALS = 30_000
