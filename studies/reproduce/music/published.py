"""The paper's Table 2."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """Type I error, Type II error and seconds of one line of the table."""

    type_1: float
    type_2: float
    seconds: float


#: By the kernel and whether B is the square root, not 2. The numbers have three digits, from 1000 repetitions.
B_TESTS = {
    ("sigma", False): Published(0.038, 0.927, 0.039),
    ("sigma", True): Published(0.006, 0.597, 1.276),
    ("median", False): Published(0.043, 0.786, 0.047),
    ("median", True): Published(0.026, 0.0, 1.259),
    ("multiple", False): Published(0.0481, 0.867, 0.607),
    ("multiple", True): Published(0.025, 0.012, 18.285),
}
B_TRIALS = 1000

#: By the null and the kernel; two digits, which suggests 100 repetitions.
QUADRATIC = {
    ("spectrum", "sigma"): Published(0.0, 0.0, 160.1356),
    ("bootstrap", "sigma"): Published(0.01, 0.0, 121.2570),
    ("spectrum", "median"): Published(0.0, 0.0, 286.8649),
    ("bootstrap", "median"): Published(0.01, 0.0, 122.8297),
}
QUADRATIC_TRIALS = 100
