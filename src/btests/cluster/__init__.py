"""The same test on dask.distributed: rows are dealt between workers, and only summaries come back."""

from btests.cluster.errors import ClusterError
from btests.cluster.reaching import reach
from btests.cluster.rounds import on_workers
from btests.cluster.spread import Spread
from btests.cluster.value import Cluster

__all__ = ["Cluster", "ClusterError", "Spread", "on_workers", "reach"]
