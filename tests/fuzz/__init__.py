"""Seeded campaign of random inputs: ``python -m tests.fuzz --help``, or ``make fuzz``."""
