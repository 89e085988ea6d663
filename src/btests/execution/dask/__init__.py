"""The same test on dask.distributed: rows are dealt between workers, and only summaries come back."""

from btests.execution.dask.errors import ClusterError
from btests.execution.dask.reaching import reach
from btests.execution.dask.rounds import on_workers
from btests.execution.dask.spread import Spread
from btests.execution.dask.value import Cluster

__all__ = ["Cluster", "ClusterError", "Spread", "on_workers", "reach"]
