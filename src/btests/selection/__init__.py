"""Selectors: how the kernel is chosen, and which rows are still valid for testing with it."""

from btests.selection.median import Median
from btests.selection.protocol import Candidate, Selection, Selector, Setting

__all__ = ["Candidate", "Median", "Selection", "Selector", "Setting"]
