"""Samples, sources of rows, and permutations of rows."""
