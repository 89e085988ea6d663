"""Warnings for results that may mislead."""

from __future__ import annotations

import sys
import warnings

from btests._text import printable


class BTestWarning(UserWarning):
    """The parent of every warning that btests gives."""


class FewBlocksWarning(BTestWarning):
    """There are too few blocks (or rows) for the null that was asked for."""


class DegenerateDataWarning(BTestWarning):
    """The data have no spread, so the kernel cannot tell anything apart."""


class OrderWarning(BTestWarning):
    """Rows were tested in an order that means something, so that blocks are no independent samples."""


class PrecisionWarning(BTestWarning):
    """The arithmetic is too coarse for this kernel or these data."""


class ScaleWarning(BTestWarning):
    """Columns differ in scale by orders of magnitude, and nothing puts them on one scale."""


class SelectionWarning(BTestWarning):
    """The kernel could not be chosen as was asked for."""


# Packages whose frames are below the line that is warned about: this one, and that of its decorators.
_INSIDE = frozenset({__package__, "contextlib"})


def warn(message: str, category: type[BTestWarning]) -> None:
    """Warn at the line that called into this package, however deep inside it the reason was found."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(printable(message), category, stacklevel=level)
