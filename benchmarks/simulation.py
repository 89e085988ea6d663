"""A cluster of a thousand workers in one process: who computes, who adds, who dies, and what is done again.

Summaries are real and really added, in the order in which the simulated workers come to it; time is simulated. A worker
that dies takes along what it was doing and every summary that it held; whatever the sum still needs of that is computed
again from the rows, as a scheduler that keeps the lineage of its results does.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

Value = TypeVar("Value")

#: Summaries that are added at a time.
FAN_IN = 8

# Events for each partition and worker after which a simulation gives up.
_PATIENCE = 50


@dataclass(frozen=True)
class Cluster:
    """What is simulated.

    Attributes
    ----------
    n_workers
        Workers, one task at a time each.
    task_seconds, join_seconds
        Mean time of the blocks of a partition, and of adding ``FAN_IN`` summaries, on one worker.
    spread
        Standard deviation of the logarithm of those times: some workers are slow.
    dispatch_seconds
        What the scheduler needs to hand out a task and to note that it is done; it does one thing at a time.
    hours_to_failure
        Mean hours until a worker dies.
    restart_seconds
        Until another takes its place.
    """

    n_workers: int
    task_seconds: float
    join_seconds: float
    spread: float = 0.3
    dispatch_seconds: float = 0.0
    hours_to_failure: float = math.inf
    restart_seconds: float = 60.0


@dataclass
class _Node(Generic[Value]):
    """A partition, or a sum over others."""

    children: list[_Node[Value]]
    parent: _Node[Value] | None = None
    number: int = -1
    state: str = "waiting"  # queued, running, done, released
    worker: int = -1
    value: Value | None = None
    inputs: list[Any] = field(default_factory=list)  # of a sum that is being computed: they have come already


@dataclass
class Outcome(Generic[Value]):
    """The sum, and what it took; infinite seconds where it would never end."""

    value: Value | None = None
    seconds: float = 0.0
    busy: float = 0.0
    n_failures: int = 0
    n_again: int = 0
    depth: int = 0


def simulate(
    cluster: Cluster,
    n_partitions: int,
    compute: Callable[[int], Value],
    join: Callable[[Sequence[Value]], Value],
    rng: np.random.Generator,
) -> Outcome[Value]:
    """Return the sum over all partitions, with simulated workers, stragglers, failures and scheduler."""
    return _Run(cluster, n_partitions, compute, join, rng).outcome()


class _Run(Generic[Value]):
    def __init__(
        self,
        cluster: Cluster,
        n_partitions: int,
        compute: Callable[[int], Value],
        join: Callable[[Sequence[Value]], Value],
        rng: np.random.Generator,
    ) -> None:
        self.cluster, self.compute, self.join, self.rng = cluster, compute, join, rng
        self.n_partitions = n_partitions
        self.found: Outcome[Value] = Outcome()
        leaves: list[_Node[Value]] = [_Node([], number=i) for i in range(n_partitions)]
        level = leaves
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [_Node(group) for group in groups]
            for node in level:
                for child in node.children:
                    child.parent = node
            self.found.depth += 1
        self.root = level[0]
        self.queue: deque[_Node[Value]] = deque(leaves)
        for leaf in leaves:
            leaf.state = "queued"
        self.idle = list(range(cluster.n_workers))
        self.lives = [0] * cluster.n_workers  # counts deaths: events of an earlier life are void
        self.nodes: dict[int, _Node[Value]] = {}  # all that is held by some worker
        self.runs: dict[int, _Node[Value]] = {}
        self.scheduler_free = 0.0
        self.events: list[tuple[float, int, str, int, int]] = []
        self.turn = 0
        for worker in range(cluster.n_workers):
            self._will_die(worker, 0.0)

    def outcome(self) -> Outcome[Value]:
        now, most = 0.0, _PATIENCE * (self.n_partitions + self.cluster.n_workers)
        while self.root.state != "done":
            if self.turn > most:  # workers die faster than they compute
                self.found.seconds = math.inf
                return self.found
            self._hand_out(now)
            now, _, what, worker, life = heapq.heappop(self.events)
            if what == "back":
                self.idle.append(worker)
            elif life == self.lives[worker]:
                (self._done if what == "done" else self._died)(worker, now)
        self.found.seconds, self.found.value = now, self.root.value
        return self.found

    def _at(self, time: float, what: str, worker: int) -> None:
        self.turn += 1
        heapq.heappush(self.events, (time, self.turn, what, worker, self.lives[worker]))

    def _will_die(self, worker: int, now: float) -> None:
        if math.isfinite(self.cluster.hours_to_failure):
            self._at(now + float(self.rng.exponential(3600.0 * self.cluster.hours_to_failure)), "died", worker)

    def _hand_out(self, now: float) -> None:
        while self.idle and self.queue:
            node, worker = self.queue.popleft(), self.idle.pop()
            node.state, node.worker, self.runs[worker] = "running", worker, node
            node.inputs = [child.value for child in node.children]
            mean = self.cluster.join_seconds if node.children else self.cluster.task_seconds
            took = mean * float(self.rng.lognormal(-0.5 * self.cluster.spread**2, self.cluster.spread))
            self.scheduler_free = max(self.scheduler_free, now) + self.cluster.dispatch_seconds
            self.found.busy += took
            self._at(self.scheduler_free + took, "done", worker)

    def _done(self, worker: int, now: float) -> None:
        node = self.runs.pop(worker)
        self.idle.append(worker)
        node.value = self.join(node.inputs) if node.children else self.compute(node.number)
        node.state, node.inputs = "done", []
        self.nodes[id(node)] = node
        for child in node.children:  # the sum has them now
            self._release(child)
        parent = node.parent
        if parent is not None and parent.state == "waiting" and all(c.state == "done" for c in parent.children):
            parent.state = "queued"
            self.queue.appendleft(parent)  # sums first: they free memory

    def _release(self, node: _Node[Value]) -> None:
        self.nodes.pop(id(node), None)
        node.state, node.value = "released", None

    def _died(self, worker: int, now: float) -> None:
        self.found.n_failures += 1
        self.lives[worker] += 1
        if worker in self.idle:
            self.idle.remove(worker)
        running = self.runs.pop(worker, None)
        if running is not None:
            self._again(running)
        for node in [node for node in self.nodes.values() if node.worker == worker]:
            if node.parent is not None and node.parent.state == "running":
                self._release(node)  # whoever adds it has it
            else:
                self._again(node)
        self._at(now + self.cluster.restart_seconds, "back", worker)
        self._will_die(worker, now + self.cluster.restart_seconds)

    def _again(self, node: _Node[Value]) -> None:
        """Bring back what was lost: a partition from its rows, a sum from what it was the sum of."""
        if node.state == "done":
            self._release(node)
        self.found.n_again += 1
        parent = node.parent
        if parent is not None and parent.state == "queued":
            parent.state = "waiting"
            self.queue.remove(parent)
        if not node.children:
            node.state = "queued"
            self.queue.append(node)
            return
        node.state = "waiting"
        for child in node.children:
            if child.state == "released":
                self._again(child)
        if all(child.state == "done" for child in node.children):
            node.state = "queued"
            self.queue.appendleft(node)


def utilisation(cluster: Cluster, found: Outcome[Any]) -> float:
    """Return the share of the workers' time that was work."""
    return found.busy / (cluster.n_workers * found.seconds)
