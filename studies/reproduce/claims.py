"""The claims of sections 2.2 and 2.3, measured: variances, skewness, and the distance to the normal distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from studies.harness.experiment import Done, Task, rows_of
from studies.harness.report import Report
from studies.reproduce.block_values import CASES, moments
from studies.reproduce.claims_report import report
from studies.reproduce.slopes import N_BATCHES

# Draws in a batch: many where the shape of the distribution is of interest, few where it is the variance alone.
_DRAWS = {"fine, H0": 2000, "wide, H0": 10_000, "fine, H_A": 500, "wide, H_A": 500}


def _sizes(case: str) -> Iterator[tuple[int, int]]:
    """Yield block sizes and numbers of rows: many block sizes at one n, and many n at one block size."""
    is_null = CASES[case].is_null
    n, b = (512, 16) if is_null else (1024, 64)
    yield from ((2**power, n) for power in range(1, 8 if is_null else 10))
    yield from ((b, m) for m in ((64, 128, 256, 1024) if is_null else (256, 512, 2048, 4096)))


@dataclass(frozen=True, slots=True)
class Claims:
    """Many draws of the statistic for each block size and number of rows."""

    seed: int
    quick: bool
    name: str = "claims"

    @property
    def cost(self) -> float:
        """Seconds of one core."""
        return sum(task.cost for task in self.plan({}))

    def plan(self, done: Done) -> Sequence[Task]:
        """Return the batches of every cell."""
        tasks = []
        for case, most in _DRAWS.items():
            draws = most // 50 if self.quick else most
            for b, n in _sizes(case):
                cost = draws * n * (1.5e-7 + 1e-9 * b)
                for batch in range(N_BATCHES):
                    name = f"{case.replace(', ', '-')}.{b}.{n}.{batch}"
                    tasks.append(Task(name, moments, (self.seed, case, b, n // b, (batch, draws)), cost))
        return tasks

    def report(self, done: Done) -> Sequence[Report]:
        """Return the slopes, with what the paper says of them."""
        return [report(self.name, rows_of(done))]
