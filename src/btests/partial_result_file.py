"""Partial results in files: arrays and a header of names and numbers, versioned; nothing in it is ever run."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from btests import pairwise_sum
from btests._text import brief, shortly
from btests.atomic_file import write_file
from btests.kernels.serialization import from_spec, to_spec
from btests.plan import Plan
from btests.selection import Aggregate
from btests.statistics import with_accuracy
from btests.statistics.feature_stream import StreamedFeatures, check_sums, features_of
from btests.statistics.mmd import accuracies
from btests.summary import Summary
from btests.summary_part import Part, check_block_sizes
from btests.symmetries import SwapGroups, SwapTuples, Symmetry

#: Of the format. A file of another version is refused, not guessed at.
VERSION = 2

# Members of a file beside its arrays.
_HEADER, _DIGEST = "header", "digest"

# What zipfile, numpy and json raise where bytes of a file were changed.
_DAMAGE = (
    *(OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile, zlib.error, struct.error, lzma.LZMAError),
    *(NotImplementedError, RuntimeError, ArithmeticError, TypeError, AttributeError, SyntaxError, MemoryError),
)

# Symmetries by name.
_SYMMETRIES: dict[str, Symmetry] = {"SwapGroups": SwapGroups(), "SwapTuples": SwapTuples()}


class Saved(Protocol):
    """What a file holds: the fields of :class:`btests.PartialResult`."""

    @property
    def kernels(self) -> tuple[Any, ...]: ...
    @property
    def summaries(self) -> tuple[Summary, ...]: ...
    @property
    def seed(self) -> int: ...
    @property
    def correction(self) -> str: ...
    @property
    def weights(self) -> tuple[float, ...] | None: ...
    @property
    def engine(self) -> str: ...
    @property
    def order(self) -> str: ...
    @property
    def n_pending(self) -> tuple[int, int]: ...
    @property
    def width(self) -> int | None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def features(self) -> StreamedFeatures | None: ...


def as_path(path: object) -> Path:
    """Return the path of a file, or say that this is none."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(f"a path is needed, got {brief(path)}")
    return Path(path)


def save(partial: Saved, path: Path, *, force: bool) -> None:
    """Write a partial result to a new file, or over an old one; the old one stays whole until the new one is."""
    try:
        write_arrays(path, header_of(partial), arrays_of(partial), force=force)
    except FileExistsError:
        raise ValueError(f"{str(path)!r} exists; give another name, or force=True to write over it") from None


def write_arrays(path: Path, header: dict[str, Any], arrays: dict[str, Any], *, force: bool = True) -> None:
    """Write a header and arrays to a file; raise FileExistsError if it exists and ``force`` is False."""
    named = {_HEADER: np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)} | arrays
    try:
        write_file(path, lambda file: np.savez(file, **(named | {_DIGEST: digest_of(named)})), force=force)
    except FileExistsError:
        raise
    except OSError as error:
        raise ValueError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def digest_of(arrays: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Return a digest of names, types, shapes and bytes of arrays, whatever their order: (32,).

    It tells damage and edits, not forgery: whoever writes a file can write its digest.
    """
    found = hashlib.blake2b(digest_size=32)
    for name, value in sorted(arrays.items()):
        array = np.asarray(value)
        found.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        found.update(array.tobytes())
    return np.frombuffer(found.digest(), dtype=np.uint8)


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file, or say what is wrong with it."""
    if path.exists() and not path.is_file():  # a pipe may have no writer
        raise ValueError(f"{str(path)!r} is no file, and is no partial result and no checkpoint of btests")
    try:
        with path.open("rb") as file:  # numpy leaves a file open that it cannot read
            if file.read(2) != b"PK":
                raise ValueError(f"{str(path)!r} is no partial result and no checkpoint of btests")
            _require_plain_members(file)
            file.seek(0)
            with np.load(file, allow_pickle=False) as members:
                arrays = {name: members[name] for name in members.files}
        digest = arrays.pop(_DIGEST, None)
        whole = digest_of(arrays)
        header = json.loads(arrays.pop(_HEADER).tobytes())
    except FileNotFoundError:
        raise ValueError(f"there is no file {str(path)!r}") from None
    except _DAMAGE as error:
        if str(error).startswith(repr(str(path))):
            raise
        raise ValueError(
            f"{str(path)!r} is no partial result or checkpoint of btests, or damaged: {shortly(error)}"
        ) from None
    if not isinstance(header, dict) or header.get("format") != "btests partial result":
        raise ValueError(f"{str(path)!r} is no partial result and no checkpoint of btests")
    if header.get("version") != VERSION:
        raise ValueError(
            f"{str(path)!r} is a partial result of version {header.get('version')}, and this package reads "
            f"version {VERSION}"
        )
    if not np.array_equal(digest, whole):
        raise ValueError(
            f"{str(path)!r} is damaged, or was edited: its contents do not have the digest saved with them"
        )
    return header, arrays


def _require_plain_members(file: IO[bytes]) -> None:
    """Raise unless the members of a zip file are as numpy writes them: arrays, each once, as they are."""
    with zipfile.ZipFile(file) as members:
        names = [info.filename for info in members.infolist()]
        plain = all(
            info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1 and info.filename.endswith(".npy")
            for info in members.infolist()
        )
    if not plain or len(set(names)) < len(names):
        raise ValueError("it has members that are compressed, encrypted, no arrays, or there twice")


def load(path: Path) -> dict[str, Any]:
    """Return the fields of the partial result that a file holds, or say why it holds none."""
    header, arrays = read_arrays(path)
    if "checkpoint" in header:
        raise ValueError(
            f"{str(path)!r} is a checkpoint, which the call that wrote it goes on from, and no partial result"
        )
    try:
        return fields_of(header, arrays)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"{str(path)!r} is a damaged partial result: {shortly(error)}") from None


def header_of(partial: Saved) -> dict[str, Any]:
    """Return all of a partial result but its arrays, fit for JSON."""
    first = partial.summaries[0]
    return {
        "format": "btests partial result",
        "version": VERSION,
        "kernels": [to_spec(kernel) for kernel in partial.kernels],
        "kernel_scale": [summary.kernel_scale for summary in partial.summaries],
        "parts": [{"number": part.number} | asdict(part.plan) for part in first.parts],
        "seed": partial.seed,
        "correction": partial.correction,
        "weights": partial.weights,
        "engine": partial.engine,
        "order": partial.order,
        "n_pending": partial.n_pending,
        "width": partial.width,
        "dtype": partial.dtype,
        "symmetry": type(first.symmetry).__name__,
        "features": None if partial.features is None else asdict(partial.features),
    }


def arrays_of(partial: Saved) -> dict[str, Any]:
    """Return the arrays of a partial result by name."""
    arrays: dict[str, Any] = {}
    for p, part in enumerate(partial.summaries[0].parts):
        arrays[f"spans_{p}"], arrays[f"nodes_{p}"] = part.spans, part.nodes
        for j, summary in enumerate(partial.summaries):
            arrays[f"values_{p}_{j}"], arrays[f"moments_{p}_{j}"] = summary.parts[p].values, summary.parts[p].moments
    return arrays


def fields_of(header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a partial result from a header and arrays; raise where they do not fit together."""
    kernels = tuple(from_spec(spec) for spec in header["kernels"])
    told = header["parts"]
    numbers = [_whole(part["number"], "a part") for part in told]
    features = features_of(header.get("features"), kernels)
    n_summaries = len(kernels) if features is None else features.n_levels(kernels)
    if not kernels or not told or numbers != sorted(set(numbers)) or len(header["kernel_scale"]) != n_summaries:
        raise ValueError("there must be a kernel, a part, and a typical size for each kernel")
    symmetry = _SYMMETRIES.get(header.get("symmetry", "SwapGroups"))
    if symmetry is None:
        raise ValueError(f"no symmetry is called {header['symmetry']!r}")
    summaries = []
    for j in range(n_summaries):
        parts = tuple(_part(one, arrays, p, j) for p, one in enumerate(told))
        if len(parts) > 1:
            check_block_sizes([part.plan for part in parts])
        summaries.append(Summary(parts, symmetry=symmetry))
    check_sums(features, kernels, summaries)
    weights = None if header["weights"] is None else tuple(float(w) for w in header["weights"])
    if len(kernels) > 1:
        Aggregate(kernels, header["correction"], weights)  # says what is wrong with them
    if weights is not None and len(weights) != len(kernels):
        raise ValueError(f"there are {len(weights)} weights for {len(kernels)} kernels")
    if header["order"] not in ("exact", "buffered", "as stored"):
        raise ValueError(f"rows cannot be in the order {header['order']!r}")
    waiting_x, waiting_y = (_whole(n, "a number of rows") for n in header["n_pending"])
    width, dtype = header.get("width"), header.get("dtype", "float64")  # the first files did not tell them
    if dtype not in ("float64", "float32"):
        raise ValueError(f"nothing is computed in {dtype!r}")
    scales = [float(kernel_scale) for kernel_scale in header["kernel_scale"]]
    return {
        "kernels": kernels,
        "summaries": tuple(summaries) if features else with_accuracy(summaries, accuracies(kernels, scales)),
        "features": features,
        "seed": _whole(header["seed"], "the seed"),
        "correction": str(header["correction"]),
        "weights": weights,
        "engine": str(header["engine"]),
        "order": header["order"],
        "n_pending": (waiting_x, waiting_y),
        "width": None if width is None else _whole(width, "the number of columns"),
        "dtype": dtype,
    }


def _part(told: dict[str, Any], arrays: dict[str, Any], p: int, j: int) -> Part:
    n_x, n_y, n_blocks, n_kernels = (_whole(told[name], name) for name in ("n_x", "n_y", "n_blocks", "n_kernels"))
    shape = told.get("moment_shape")
    shape = None if shape is None else tuple(_whole(k, "moment_shape") for k in shape)
    plan = Plan(n_x, n_y, n_blocks, n_kernels, shape, adds_rows=told.get("adds_rows", False) is True)
    if not 1 <= plan.n_blocks <= min(plan.n_x, plan.n_y) // 2 or plan.n_kernels < 1:
        raise ValueError(f"no plan has {plan.n_x} and {plan.n_y} rows in {plan.n_blocks} blocks")
    spans, nodes = (_array(arrays, f"{name}_{p}", np.int64, 2) for name in ("spans", "nodes"))
    values, moments = (
        _array(arrays, f"{name}_{p}_{j}", np.float64, n)
        for name, n in (("values", 1), ("moments", len(plan.moments_shape)))
    )
    # Numbers are looked at before anything is made of them: those of an altered file may be as large as they like.
    inside = spans.shape[1] == 2 and (not spans.size or (spans.min() >= 0 and spans.max() <= plan.n_blocks))
    apart = inside and np.all(spans[:, 0] < spans[:, 1]) and np.all(spans[1:, 0] > spans[:-1, 1])
    if not apart or values.shape != (int((spans[:, 1] - spans[:, 0]).sum()),):
        raise ValueError(f"the blocks of part {told['number']} are not all there")
    wanted = [pairwise_sum.cover(first, last, plan.n_blocks, plan.stratum_level) for first, last in spans.tolist()]
    whole = np.concatenate([nodes[:0], *wanted])
    if not np.array_equal(nodes, whole) or moments.shape != (len(nodes), *plan.moments_shape[1:]):
        raise ValueError(f"the blocks of part {told['number']} are not all there")
    return Part(int(told["number"]), plan, spans, values, nodes, moments)


def _array(arrays: dict[str, Any], name: str, dtype: type[np.generic], n_dimensions: int) -> Any:
    if name not in arrays:
        raise ValueError(f"{name} is missing")
    found = np.asarray(arrays[name])
    if found.dtype != dtype or found.ndim != n_dimensions:
        raise ValueError(f"{name} holds {found.dtype} of shape {found.shape}")
    return found


def _whole(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"{what} must be a whole number of at least 0, got {brief(value)}")
    return value
