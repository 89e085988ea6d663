"""Where rows are: files of any size, read a little at a time."""

from btests.sources.arrow import ArrowSource
from btests.sources.npy import NpySource
from btests.sources.opening import open_source
from btests.sources.parts import Parts
from btests.sources.protocol import Source

__all__ = ["ArrowSource", "NpySource", "Parts", "Source", "open_source"]
