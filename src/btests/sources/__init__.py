"""Where rows are: files of any size, read a little at a time."""

from btests.sources.arrow import ArrowSource
from btests.sources.batches import rows_of, shuffled
from btests.sources.dealt import Dealt
from btests.sources.delimited import CsvSource
from btests.sources.memory import ArraySource
from btests.sources.npy import NpySource
from btests.sources.opening import open_source
from btests.sources.partitioned import DaskSource, is_dask
from btests.sources.parts import Parts
from btests.sources.protocol import Source
from btests.sources.spilling import Spilled, spill

__all__ = [
    "ArraySource",
    "ArrowSource",
    "CsvSource",
    "DaskSource",
    "Dealt",
    "NpySource",
    "Parts",
    "Source",
    "Spilled",
    "is_dask",
    "open_source",
    "rows_of",
    "shuffled",
    "spill",
]
