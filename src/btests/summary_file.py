"""Summaries in files: arrays and a header of names and numbers, versioned; nothing in it is ever run."""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np

from btests import pairwise_sum
from btests._text import brief, shortly
from btests.atomic_file import write_file
from btests.pairwise_sum import Part
from btests.plan import Plan
from btests.summary import Summary, check_block_sizes
from btests.symmetries import SwapGroups, Symmetry

#: Of the format. A file of another version is refused, not guessed at.
VERSION = 2

_FORMAT = "btests partial result"

# Members of a file beside its arrays.
_HEADER, _DIGEST = "header", "digest"

# What zipfile, numpy and json raise where bytes of a file were changed.
_DAMAGE = (
    *(OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile, zlib.error, struct.error, lzma.LZMAError),
    *(NotImplementedError, RuntimeError, ArithmeticError, TypeError, AttributeError, SyntaxError, MemoryError),
)


def write_arrays(path: Path, header: dict[str, Any], arrays: dict[str, Any], *, force: bool = True) -> None:
    """Write a header and arrays to a file; raise FileExistsError if it exists and ``force`` is False.

    One that is there stays whole until the new one is.
    """
    header = {"format": _FORMAT, "version": VERSION} | header
    named = {_HEADER: np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)} | arrays
    try:
        write_file(path, lambda file: np.savez(file, **(named | {_DIGEST: digest_of(named)})), force=force)
    except FileExistsError:
        raise
    except OSError as error:
        raise ValueError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def digest_of(arrays: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Return a digest of names, types, shapes and bytes of arrays, whatever their order: (32,).

    It detects damage and edits, not forgery: the digest of a forged file can be forged too.
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
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
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


def parts_of(summary: Summary) -> list[dict[str, Any]]:
    """Return number and plan of each part of a summary, fit for JSON."""
    return [{"number": part.number} | asdict(part.plan) for part in summary.parts]


def arrays_of(summaries: Sequence[Summary]) -> dict[str, Any]:
    """Return the arrays of summaries of the same blocks by name."""
    arrays: dict[str, Any] = {}
    for p, part in enumerate(summaries[0].parts):
        arrays[f"spans_{p}"], arrays[f"nodes_{p}"] = part.spans, part.nodes
        for j, summary in enumerate(summaries):
            arrays[f"values_{p}_{j}"], arrays[f"moments_{p}_{j}"] = summary.parts[p].values, summary.parts[p].moments
    return arrays


def summaries_of(
    parts: Sequence[dict[str, Any]], arrays: Mapping[str, Any], n: int, symmetry: Symmetry | None = None
) -> tuple[Summary, ...]:
    """Return n summaries from a header of parts and arrays; raise where they do not fit together."""
    numbers = [whole_number(part["number"], "a part") for part in parts]
    if not parts or numbers != sorted(set(numbers)):
        raise ValueError("there must be a part, and each of them once")
    found = []
    for j in range(n):
        own = tuple(_part(one, arrays, p, j) for p, one in enumerate(parts))
        if len(own) > 1:
            check_block_sizes([part.plan for part in own])
        found.append(Summary(own, symmetry=symmetry or SwapGroups()))
    return tuple(found)


def _part(entry: dict[str, Any], arrays: Mapping[str, Any], p: int, j: int) -> Part:
    n_x, n_y, n_blocks, n_kernels = (
        whole_number(entry[name], name) for name in ("n_x", "n_y", "n_blocks", "n_kernels")
    )
    shape = entry.get("moment_shape")
    shape = None if shape is None else tuple(whole_number(k, "moment_shape") for k in shape)
    plan = Plan(n_x, n_y, n_blocks, n_kernels, shape, adds_rows=entry.get("adds_rows", False) is True)
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
        raise ValueError(f"the blocks of part {entry['number']} are not all there")
    wanted = [pairwise_sum.cover(first, last, plan.n_blocks, plan.stratum_level) for first, last in spans.tolist()]
    expected = np.concatenate([nodes[:0], *wanted])
    if not np.array_equal(nodes, expected) or moments.shape != (len(nodes), *plan.moments_shape[1:]):
        raise ValueError(f"the blocks of part {entry['number']} are not all there")
    return Part(int(entry["number"]), plan, spans, values, nodes, moments)


def _array(arrays: Mapping[str, Any], name: str, dtype: type[np.generic], n_dimensions: int) -> Any:
    if name not in arrays:
        raise ValueError(f"{name} is missing")
    found = np.asarray(arrays[name])
    if found.dtype != dtype or found.ndim != n_dimensions:
        raise ValueError(f"{name} holds {found.dtype} of shape {found.shape}")
    return found


def whole_number(value: object, what: str, most: int | None = 2**63 - 1) -> int:
    """Return a number of a header; raise ``ValueError`` unless it is whole, at least 0, and at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0 or (most is not None and value > most):
        raise ValueError(f"{what} must be a whole number of at least 0, got {brief(value)}")
    return value
