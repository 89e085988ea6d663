"""Speed and memory beside the limits of the machine and beside other packages: ``python benchmarks/run.py``."""
