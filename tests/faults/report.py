"""Count how faults have ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Outcome(NamedTuple):
    """What was tried, how it has ended, and what is wrong with that, if anything."""

    what: str
    how: str
    wrong: str = ""


def counted(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield a line for each way in which something has ended, with its number, and what is wrong."""
    found = list(outcomes)
    for (what, how), n in sorted(Counter((one.what, one.how) for one in found).items()):
        yield f"{n:6d}  {what}: {how}"
    for one in found:
        if one.wrong:
            yield f"WRONG   {one.what}: {one.how}: {one.wrong}"


def wrongs(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes with which something is wrong."""
    return [one for one in outcomes if one.wrong]
