"""A cluster that can compute what this process would compute."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from btests.execution.dask.errors import amount


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Workers that can compute what this process would compute, to the last bit.

    Attributes
    ----------
    client
        Of dask.distributed.
    address
        Of its scheduler.
    n_workers, n_threads
        When the run began.
    memory
        Bytes that the smallest worker may take, 0 where there is no limit.
    instructions
        The instruction set that all have.
    """

    client: Any
    address: str
    n_workers: int
    n_threads: int
    memory: int
    instructions: str
    _line: Any = field(init=False, repr=False)
    _run: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    _numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_line", self.client.scheduler_comm)

    @property
    def is_connected(self) -> bool:
        """Whether the client has never lost the scheduler, which would have forgotten all of our tasks."""
        return self.client.scheduler_comm is self._line  # a client that connects again makes another

    def key(self, verb: str, of: str = "") -> str:
        """Return a name for a task, which no other task on the cluster has."""
        # The scheduler takes tasks of the name split-shuffle to be short and does not move them between workers: they
        # would take the files of the worker along.
        verb = verb if verb == "split-shuffle" else f"btests_{verb}"
        return f"{verb}-{self._run}-{next(self._numbers)}{'-' * bool(of)}{of}"

    def submit(self, verb: str, function: Any, *arguments: Any, of: str = "", home: str = "", priority: int = 0) -> Any:
        """Return a task; ``home`` is the worker that it belongs to, as long as that is there."""
        key = self.key(verb, of)
        where = {"workers": [home], "allow_other_workers": True} if home else {}
        return self.client.submit(function, *arguments, key=key, priority=priority, **where)

    @property
    def limit(self) -> str:
        """The memory of a worker, in words."""
        return amount(self.memory) if self.memory else "no stated limit of memory"
