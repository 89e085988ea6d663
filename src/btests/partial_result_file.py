"""Tallies in files: arrays and a header of names and numbers, versioned; nothing in it is ever run."""

from __future__ import annotations

import json
import os
import secrets
import stat
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from btests import pairwise_sum
from btests.data.errors import shortly
from btests.kernels.serialization import from_spec, to_spec
from btests.partial_result import PartialResult
from btests.plan import Plan
from btests.selection import Aggregate
from btests.statistics import with_accuracy
from btests.statistics.mmd import accuracies
from btests.summary import Part, Summary, check_alike
from btests.symmetries import SwapGroups, SwapTuples, Symmetry

#: Of the format. A file of another version is refused, not guessed at.
VERSION = 1

# Symmetries by name.
_SYMMETRIES: dict[str, Symmetry] = {"SwapGroups": SwapGroups(), "SwapTuples": SwapTuples()}


def as_path(path: object) -> Path:
    """Return the path of a file, or say that this is none."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(f"a path is needed, got {path!r}")
    return Path(path)


def save(partial: PartialResult, path: Path, *, force: bool) -> None:
    """Write a partial result to a new file, or over an old one; the old one stays whole until the new one is."""
    if path.exists() and not force:
        raise ValueError(f"{str(path)!r} exists; give another name, or force=True to write over it")
    write_arrays(path, header_of(partial), arrays_of(partial))


def write_arrays(path: Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a header and arrays beside the file and move them into its place."""
    named_by, path = path, Path(os.path.realpath(path))  # what a link points to, not the link
    if path.exists() and not path.is_file():
        raise ValueError(f"cannot write {str(named_by)!r}: it is there, and is no file")
    named = {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)} | arrays
    try:
        # Not mkstemp, whose files nobody else may read: the rights are those that open() would give.
        beside = path.parent / f".{path.name}.{secrets.token_hex(8)}"
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                if path.exists():
                    os.chmod(beside, stat.S_IMODE(path.stat().st_mode))
                np.savez(file, **named)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ValueError(f"cannot write {str(named_by)!r}: {error.strerror or error}") from None


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file, or say what is wrong with it."""
    try:
        with path.open("rb") as file:  # numpy leaves a file open that it cannot read
            if file.read(2) != b"PK":
                raise ValueError(f"{str(path)!r} is no partial result and no checkpoint of btests")
            file.seek(0)
            with np.load(file, allow_pickle=False) as members:
                arrays = {name: members[name] for name in members.files}
        header = json.loads(arrays.pop("header").tobytes())
    except FileNotFoundError:
        raise ValueError(f"there is no file {str(path)!r}") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
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
    return header, arrays


def load(path: Path) -> PartialResult:
    """Return the partial result that a file holds, or say why it holds none."""
    header, arrays = read_arrays(path)
    if "checkpoint" in header:
        raise ValueError(
            f"{str(path)!r} is a checkpoint, which the call that wrote it goes on from, and no partial result"
        )
    try:
        return partial_result_of(header, arrays)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"{str(path)!r} is a damaged partial result: {shortly(error)}") from None


def header_of(partial: PartialResult) -> dict[str, Any]:
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
    }


def arrays_of(partial: PartialResult) -> dict[str, Any]:
    """Return the arrays of a partial result by name."""
    arrays: dict[str, Any] = {}
    for p, part in enumerate(partial.summaries[0].parts):
        arrays[f"spans_{p}"], arrays[f"nodes_{p}"] = part.spans, part.nodes
        for j, summary in enumerate(partial.summaries):
            arrays[f"values_{p}_{j}"], arrays[f"moments_{p}_{j}"] = summary.parts[p].values, summary.parts[p].moments
    return arrays


def partial_result_of(header: dict[str, Any], arrays: dict[str, Any]) -> PartialResult:
    """Return the partial result of a header and arrays; raise where they do not fit together."""
    kernels = tuple(from_spec(spec) for spec in header["kernels"])
    told = header["parts"]
    numbers = [_whole(part["number"], "a part") for part in told]
    if not kernels or not told or numbers != sorted(set(numbers)) or len(header["kernel_scale"]) != len(kernels):
        raise ValueError("there must be a kernel, a part, and a typical size for each kernel")
    symmetry = _SYMMETRIES.get(header.get("symmetry", "SwapGroups"))
    if symmetry is None:
        raise ValueError(f"no symmetry is called {header['symmetry']!r}")
    summaries = []
    for j in range(len(kernels)):
        parts = tuple(_part(one, arrays, p, j) for p, one in enumerate(told))
        if len(parts) > 1:
            check_alike([part.plan for part in parts])
        summaries.append(Summary(parts, symmetry=symmetry))
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
    return PartialResult(
        kernels,
        with_accuracy(summaries, accuracies(kernels, [float(kernel_scale) for kernel_scale in header["kernel_scale"]])),
        _whole(header["seed"], "the seed"),
        str(header["correction"]),
        weights,
        str(header["engine"]),
        header["order"],
        (waiting_x, waiting_y),
        None if width is None else _whole(width, "the number of columns"),
        dtype,
    )


def _part(told: dict[str, Any], arrays: dict[str, Any], p: int, j: int) -> Part:
    n_x, n_y, n_blocks, n_kernels = (_whole(told[name], name) for name in ("n_x", "n_y", "n_blocks", "n_kernels"))
    shape = told.get("moment_shape")
    plan = Plan(
        n_x, n_y, n_blocks, n_kernels, None if shape is None else tuple(_whole(k, "moment_shape") for k in shape)
    )
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
        raise ValueError(f"{what} must be a whole number of at least 0, got {value!r}")
    return value
