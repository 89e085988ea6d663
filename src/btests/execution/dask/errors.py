"""What goes wrong on a cluster, in one sentence."""

from __future__ import annotations


class ClusterError(ValueError):
    """A cluster that is not there, went away, or cannot do what it is asked; the rows were never the question."""


def went_away(address: str) -> ClusterError:
    """Return what to say of a scheduler that does not answer any more."""
    return ClusterError(f"the scheduler at {address} went away")


def no_workers(address: str) -> ClusterError:
    """Return what to say of a scheduler without workers."""
    return ClusterError(f"the cluster at {address} has no workers; 'dask worker {address}' starts one")


def amount(n_bytes: float) -> str:
    """Return a number of bytes as it is read."""
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.3g} MB"
