"""Execution of block computations: in chunks in this process, or on a dask cluster."""
