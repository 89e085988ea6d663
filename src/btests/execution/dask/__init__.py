"""Tests on dask.distributed: rows are in shards on workers, and only summaries are fetched."""

from btests.execution.dask.cluster import Cluster, ClusterError, TaskSizes, Timeouts
from btests.execution.dask.connect import connect, require_distributed
from btests.execution.dask.futures import compute
from btests.execution.dask.runs import on_workers
from btests.execution.dask.sharded_sample import ShardedSample

__all__ = [
    "Cluster",
    "ClusterError",
    "ShardedSample",
    "TaskSizes",
    "Timeouts",
    "compute",
    "connect",
    "on_workers",
    "require_distributed",
]
