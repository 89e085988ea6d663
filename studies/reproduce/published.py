"""The numbers that the paper prints for the blobs (Table 1), and how many trials are behind them."""

from __future__ import annotations

#: Trials behind each published number of Table 1.
TABLE1_TRIALS = 3000

#: Minimum number of samples for 5 % Type I and Type II error, by method; and seconds for 2000 samples.
SAMPLES = {
    "b2": 26400,
    "b8": 3850,
    "sqrt": 886,
    "multiple-b2": 37000,
    "multiple-b8": 5400,
    "multiple-sqrt": 1700,
    "pearson": 186,
    "gamma": 183,
    "spectrum": 186,
    "bootstrap": 190,
}
SECONDS = {
    "b2": 0.0012,
    "b8": 0.0039,
    "sqrt": 0.0572,
    "multiple-b2": 0.0700,
    "multiple-b8": 0.1295,
    "multiple-sqrt": 0.8332,
    "pearson": 387.4649,
    "gamma": 0.2667,
    "spectrum": 407.3447,
    "bootstrap": 129.4094,
}

# The paper's search stops at a Type II error of 5 % +- 0.25 %, which is about that much of the number of samples.
_STOPS_WITHIN = 0.01


def leeway(samples: int) -> float:
    """Return by how much a published number of samples is round (to three digits), and the search behind it loose."""
    return 0.5 * 10.0 ** (len(str(samples)) - 3) + _STOPS_WITHIN * samples


#: With the median bandwidth the paper found no test that needs fewer samples than this.
MEDIAN_NEEDS_MORE_THAN = 60_000
