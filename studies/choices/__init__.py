"""The study behind the default kernel: kernel choices of many kinds on many problems."""
