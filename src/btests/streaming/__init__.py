"""Tests of rows that arrive in batches."""
