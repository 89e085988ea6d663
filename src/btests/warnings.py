"""Warnings for results that may mislead."""


class BTestWarning(UserWarning):
    """The parent of every warning that btests gives."""


class FewBlocksWarning(BTestWarning):
    """There are too few blocks (or rows) for the null that was asked for."""


class DegenerateDataWarning(BTestWarning):
    """The data have no spread, so the kernel cannot tell anything apart."""


class PrecisionWarning(BTestWarning):
    """The arithmetic that was asked for is too coarse for this kernel."""
