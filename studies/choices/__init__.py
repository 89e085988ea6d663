"""The study behind the default kernel: every way to choose it, on many problems."""
