"""Tests of robustness: bad input, bad objects, bad moments."""
