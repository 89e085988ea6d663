"""The summary of all blocks for one kernel or a family of them: a value that adds, is kept in a file, and concludes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from btests._option_checks import check_threads, is_data
from btests._text import brief, shortly
from btests.block_size import FEATURES
from btests.conclude import BlockSummaries, Provenance, conclude, with_notes
from btests.kernels.combination import shortened
from btests.kernels.kernel import Kernel
from btests.kernels.serialization import from_spec, to_spec
from btests.nulls import Null, null_of
from btests.nulls.null import wants_gram
from btests.result import TestResult
from btests.selection import Aggregate
from btests.statistics import with_accuracy
from btests.statistics.feature_stream import StreamedFeatures, check_sums, streamed_features
from btests.statistics.mmd import accuracies
from btests.summary import Summary
from btests.summary_file import arrays_of, parts_of, read_arrays, summaries_of, whole_number, write_arrays
from btests.symmetries import SwapGroups, SwapTuples, Symmetry

# Symmetries that files hold, by name; their fields are whole numbers.
_SYMMETRIES: dict[str, type[SwapGroups | SwapTuples]] = {"SwapGroups": SwapGroups, "SwapTuples": SwapTuples}

# Fields that a file holds as they are.
_PLAIN = ("seed", "correction", "weights", "engine", "order", "n_pending", "width", "dtype")

# What a message calls that in which partial results differ, where its name does not say it.
_IN_WORDS = {"width": "the number of columns", "dtype": "their arithmetic (dtype)"}

# Sums over all rows do not tell whether rows were sorted, as the values of neighbouring blocks do.
_PARTNERS = "rows of one number are partners: two streams that are each sorted would be rejected without a difference"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartialResult:
    """Values and moments of the blocks so far; ``a + b`` joins the partial results of different blocks, in any order.

    Block values and the sums that sign flips act on: everything that a null, an interval, a tolerance or the choice
    among the kernels needs, in less than a megabyte for each kernel and eight bytes for each block. Results of chunks
    of the same plan, or of streams with different part numbers, add to the same bits in any order.

    Attributes
    ----------
    kernels : tuple of Kernel
        One, or the members of a family that is tested at once.
    summaries : tuple of Summary
        The summary of each kernel on the same blocks.
    seed : int
        Seed of the null distribution.
    correction : str
    weights : tuple of float, optional
        Correction for several kernels: see :class:`btests.Aggregate`.
    engine, order : str
    n_pending : (int, int)
        As in :class:`btests.TestResult`.
    width : int, optional
        Columns of the rows; None if unknown.
    dtype : {"float64", "float32"}
        Arithmetic of the compiled loops.
    features : StreamedFeatures, optional
        Features whose sums over rows are in the summaries, one for each level of their frequencies; None for blocks.
    """

    kernels: tuple[Kernel, ...]
    summaries: tuple[Summary, ...]
    seed: int
    correction: str = "max"
    weights: tuple[float, ...] | None = None
    engine: str = ""
    order: str = "as stored"
    n_pending: tuple[int, int] = (0, 0)
    width: int | None = None
    dtype: str = "float64"
    features: StreamedFeatures | None = None

    def __repr__(self) -> str:
        if self.features is not None:
            return f"PartialResult({_named(self.kernels)}: {self.summaries[0].plan.n_x} partners, seed {self.seed})"
        return f"PartialResult({_named(self.kernels)}: {self.n_blocks} blocks, seed {self.seed})"

    @property
    def n_blocks(self) -> int:
        """Blocks that are here."""
        return int(self.summaries[0].values.size)

    @property
    def is_complete(self) -> bool:
        """Whether no block of a plan is missing, so that there is a result."""
        return self.summaries[0].is_complete

    def __add__(self, other: PartialResult) -> PartialResult:
        """Return the partial result of both sets of blocks."""
        if not isinstance(other, PartialResult):
            return NotImplemented
        return PartialResult.join([self, other])

    @classmethod
    def join(cls, partials: Iterable[PartialResult]) -> PartialResult:
        """Return the partial result of all blocks, whatever the order of ``partials``."""
        if not isinstance(partials, Iterable) or is_data(partials):
            raise TypeError(f"join takes partial results in a list, such as [a, b], got {brief(partials)}")
        partials = list(partials)
        if not partials:
            raise ValueError("there is nothing to join")
        for other in partials:
            if not isinstance(other, PartialResult):
                raise TypeError(f"only partial results can be joined, got {brief(other)}")
        one = partials[0]
        for name in ("kernels", "seed", "correction", "weights", "engine", "order", "width", "dtype", "features"):
            different = [getattr(t, name) for t in partials if not _same(getattr(t, name), getattr(one, name))]
            if different and name == "kernels":
                raise ValueError(
                    f"partial results of different kernels do not add: {_named(one.kernels)}, {_named(different[0])}; "
                    "give all streams the same kernels, whose bandwidths do not depend on the rows"
                )
            if different:
                what = _IN_WORDS.get(name, name)
                raise ValueError(
                    f"partial results that differ in {what} do not add: {getattr(one, name)!r} and {different[0]!r}"
                )
        symmetries = [t.summaries[0].symmetry for t in partials]
        if other_symmetry := [symmetry for symmetry in symmetries if symmetry != symmetries[0]]:
            raise ValueError(
                f"partial results of different symmetries do not add: {symmetries[0]!r} and {other_symmetry[0]!r}"
            )
        summaries = tuple(Summary.join(found) for found in zip(*(t.summaries for t in partials), strict=True))
        waiting = (sum(t.n_pending[0] for t in partials), sum(t.n_pending[1] for t in partials))
        return replace(one, summaries=summaries, n_pending=waiting)

    def result(self, null: Null | str | None = None, n_threads: int | None = None) -> TestResult:
        """Return the test of these blocks, as often and with as many nulls as wanted.

        Repeated tests that stop at the first small p-value do not have that level.

        Parameters
        ----------
        null : Null, str or None
        n_threads : int, optional
            As in :func:`btests.btest`.
        """
        n_threads = check_threads(n_threads)
        null = null_of(null)
        if wants_gram(null):
            raise ValueError(
                f"{null!r} needs all rows at once, and a partial result has none; take SignFlip() or Normal()"
            )
        origin = Provenance(self._aggregate(), order=self.order, n_pending=self.n_pending, read="in batches")
        summaries = self.summaries
        if self.features is not None:
            origin = replace(origin, block_rule=FEATURES, n_frequencies=self.features.n_frequencies)
            summaries = self.features.members(self.kernels, summaries)
        blocks = BlockSummaries(self.kernels, summaries, self.engine)
        found = conclude(blocks, null, self.seed, origin, n_threads=n_threads)
        return found if self.features is None or self.order == "exact" else with_notes(found, _PARTNERS)

    def _aggregate(self) -> Aggregate | None:
        """Return how several members are tested at once; a family shows members that are kernels alone."""
        if len(self.kernels) == 1:
            return None
        found = Aggregate(correction=self.correction, weights=self.weights)  # type: ignore[arg-type]
        return replace(found, family=self.kernels) if all(map(callable, self.kernels)) else found

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write a file that ``PartialResult.load`` reads; one that exists is overwritten with ``force`` alone."""
        path = _as_path(path)
        try:
            write_arrays(path, self._header(), arrays_of(self.summaries), force=force)
        except FileExistsError:
            raise ValueError(f"{str(path)!r} exists; give another name, or force=True to write over it") from None

    @staticmethod
    def load(path: str | os.PathLike[str]) -> PartialResult:
        """Return the partial result that a file holds."""
        path = _as_path(path)
        header, arrays = read_arrays(path)
        if "checkpoint" in header:
            raise ValueError(
                f"{str(path)!r} is a checkpoint, which the call that wrote it goes on from, and no partial result"
            )
        try:
            return _partial_of(header, arrays)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise ValueError(f"{str(path)!r} is a damaged partial result: {shortly(error)}") from None

    def _header(self) -> dict[str, Any]:
        """Return everything but the arrays, fit for JSON."""
        named = {name: getattr(self, name) for name in _PLAIN}
        return named | {
            "kernels": [to_spec(kernel) for kernel in self.kernels],
            "kernel_scale": [summary.kernel_scale for summary in self.summaries],
            "parts": parts_of(self.summaries[0]),
            "symmetry": _symmetry_entry(self.summaries[0].symmetry),
            "features": None if self.features is None else asdict(self.features),
        }


def _as_path(path: object) -> Path:
    """Return the path of a file, or say that this is none."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(f"a path is needed, got {brief(path)}")
    return Path(path)


def _symmetry_entry(symmetry: Symmetry) -> dict[str, Any]:
    """Return name and fields of a symmetry, or raise ``ValueError`` where a file cannot hold it."""
    name = type(symmetry).__name__
    if type(symmetry) is not _SYMMETRIES.get(name):
        held = " and ".join(_SYMMETRIES)
        raise ValueError(f"files hold partial results of {held}, and this one has {brief(symmetry)}; keep it in memory")
    return {"name": name} | {field.name: getattr(symmetry, field.name) for field in fields(symmetry)}


def _symmetry_of(entry: Any) -> Symmetry:
    """Return the symmetry of an entry; the first files held its name alone."""
    options = {"name": entry} if isinstance(entry, str) else dict(entry)
    found = _SYMMETRIES.get(options.pop("name"))
    if found is None:
        raise ValueError(f"no symmetry is called {brief(entry)}")
    return found(**{name: whole_number(value, name) for name, value in options.items()})


def _partial_of(header: dict[str, Any], arrays: dict[str, Any]) -> PartialResult:
    """Return the partial result of a header and arrays; raise where they do not fit together."""
    kernels = tuple(from_spec(spec) for spec in header["kernels"])
    features = streamed_features(header.get("features"), kernels)
    n_summaries = len(kernels) if features is None else features.n_levels(kernels)
    if not kernels or len(header["kernel_scale"]) != n_summaries:
        raise ValueError("there must be a kernel, and a typical size for each kernel")
    summaries = summaries_of(header["parts"], arrays, n_summaries, _symmetry_of(header.get("symmetry", "SwapGroups")))
    check_sums(features, kernels, summaries)
    weights = None if header["weights"] is None else tuple(float(w) for w in header["weights"])
    if len(kernels) > 1:
        Aggregate(kernels, header["correction"], weights)  # says what is wrong with them
    if weights is not None and len(weights) != len(kernels):
        raise ValueError(f"there are {len(weights)} weights for {len(kernels)} kernels")
    if header["order"] not in ("exact", "buffered", "as stored"):
        raise ValueError(f"rows cannot be in the order {header['order']!r}")
    waiting_x, waiting_y = (whole_number(n, "a number of rows") for n in header["n_pending"])
    width, dtype = header.get("width"), header.get("dtype", "float64")  # the first files did not tell them
    if dtype not in ("float64", "float32"):
        raise ValueError(f"nothing is computed in {dtype!r}")
    scales = [float(kernel_scale) for kernel_scale in header["kernel_scale"]]
    return PartialResult(
        kernels,
        summaries if features else with_accuracy(summaries, accuracies(kernels, scales)),
        whole_number(header["seed"], "the seed", most=None),
        str(header["correction"]),
        weights,
        str(header["engine"]),
        header["order"],
        (waiting_x, waiting_y),
        None if width is None else whole_number(width, "the number of columns"),
        dtype,
        features,
    )


def _named(kernels: tuple[Kernel, ...]) -> str:
    return shortened(kernels[0]) + (f" and {len(kernels) - 1} more" if len(kernels) > 1 else "")


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same; kernels may be functions here, and the names of functions from a file there."""
    if one == other:
        return True
    many = isinstance(one, tuple) and isinstance(other, tuple) and all(map(callable, (*one, *other)))
    return many and list(map(to_spec, one)) == list(map(to_spec, other))
