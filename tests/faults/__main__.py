"""The campaign of faults, with counts: ``python -m tests.faults [NAME ...]``, or ``make faults``."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.faults import full_disk, interruptions, limits, lost_workers, refusals, two_writers
from tests.faults.report import Outcome, counted

CAMPAIGNS: dict[str, Callable[[Path], Iterable[Outcome]]] = {
    "interruptions": lambda folder: interruptions.campaign(folder, 50, (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)),
    "presses": lambda folder: interruptions.presses(folder, 100),
    "full-disk": lambda folder: [*full_disk.under_a_limit(folder), *full_disk.on_a_small_disk(folder)],
    "lost-workers": lambda folder: lost_workers.campaign(folder, 30),
    "two-writers": lambda folder: two_writers.campaign(folder, 10),
    "few-files": limits.few_files,
    "little-memory": lambda folder: limits.little_memory(folder, 20),
    "refusals": lambda folder: refusals.campaign(folder, 240),
}


def main(names: list[str]) -> int:
    """Print the counts of campaigns, and return the number of outcomes with which something is wrong."""
    unknown = [name for name in names if name not in CAMPAIGNS]
    if unknown:
        print(f"there is no campaign {unknown[0]!r}; there are {', '.join(CAMPAIGNS)}", file=sys.stderr)
        return 2
    n_wrong = 0
    for name in names or CAMPAIGNS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="btests-faults-", ignore_cleanup_errors=True) as folder:
            outcomes = list(CAMPAIGNS[name](Path(folder)))
        wrong = sum(bool(one.wrong) for one in outcomes)
        print(f"{name}: {len(outcomes)} outcomes, {wrong} wrong, {time.monotonic() - began:.0f} s")
        for line in counted(outcomes):
            print(line, flush=True)
        n_wrong += wrong
    print(f"in all {n_wrong} wrong")
    return min(1, n_wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
