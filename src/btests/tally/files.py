"""Tallies in files: arrays and a header of names and numbers, versioned; nothing in it is ever run."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from btests import tree
from btests.blocks import Blocks
from btests.kernels.spec import from_spec, to_spec
from btests.summary import Part, Summary
from btests.tally.value import Tally

#: Of the format. A file of another version is refused, not guessed at.
VERSION = 1


def save(tally: Tally, path: Path, *, force: bool) -> None:
    """Write a tally to a new file, or over an old one; the old one stays whole until the new one is."""
    if path.exists() and not force:
        raise ValueError(f"{str(path)!r} exists; give another name, or force=True to write over it")
    write_arrays(path, header_of(tally), arrays_of(tally))


def write_arrays(path: Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a header and arrays beside the file and move them into its place."""
    named = {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)} | arrays
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **named)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ValueError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file, or say what is wrong with it."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
    except FileNotFoundError:
        raise ValueError(f"there is no file {str(path)!r}") from None
    except (OSError, ValueError, KeyError, AttributeError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{str(path)!r} is no tally, or a part of one: {error}") from None
    if not isinstance(header, dict) or header.get("format") != "btests tally":
        raise ValueError(f"{str(path)!r} is no tally")
    if header.get("version") != VERSION:
        raise ValueError(
            f"{str(path)!r} is a tally of version {header.get('version')}, and this package reads version {VERSION}"
        )
    return header, arrays


def load(path: Path) -> Tally:
    """Return the tally that a file holds, or say why it holds none."""
    header, arrays = read_arrays(path)
    try:
        return tally_of(header, arrays)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{str(path)!r} is a damaged tally: {error}") from None


def header_of(tally: Tally) -> dict[str, Any]:
    """Return all of a tally but its arrays, fit for JSON."""
    first = tally.summaries[0]
    return {
        "format": "btests tally",
        "version": VERSION,
        "kernels": [to_spec(kernel) for kernel in tally.kernels],
        "typical": [summary.typical for summary in tally.summaries],
        "parts": [{"number": part.number} | asdict(part.blocks) for part in first.parts],
        "seed": tally.seed,
        "correction": tally.correction,
        "weights": tally.weights,
        "engine": tally.engine,
        "order": tally.order,
        "n_waiting": tally.n_waiting,
    }


def arrays_of(tally: Tally) -> dict[str, Any]:
    """Return the arrays of a tally by name."""
    arrays: dict[str, Any] = {}
    for p, part in enumerate(tally.summaries[0].parts):
        arrays[f"spans_{p}"], arrays[f"nodes_{p}"] = part.spans, part.nodes
        for j, summary in enumerate(tally.summaries):
            arrays[f"values_{p}_{j}"], arrays[f"cores_{p}_{j}"] = summary.parts[p].values, summary.parts[p].cores
    return arrays


def tally_of(header: dict[str, Any], arrays: dict[str, Any]) -> Tally:
    """Return the tally of a header and arrays; raise where they do not fit together."""
    kernels = tuple(from_spec(spec) for spec in header["kernels"])
    summaries = []
    for j, typical in enumerate(header["typical"]):
        parts = tuple(_part(told, arrays, p, j) for p, told in enumerate(header["parts"]))
        summaries.append(Summary(parts, float(typical)))
    if not summaries or len(summaries) != len(kernels):
        raise ValueError("one summary for each kernel")
    weights = None if header["weights"] is None else tuple(float(w) for w in header["weights"])
    waiting = header["n_waiting"]
    return Tally(
        kernels,
        tuple(summaries),
        int(header["seed"]),
        str(header["correction"]),
        weights,
        str(header["engine"]),
        str(header["order"]),
        (int(waiting[0]), int(waiting[1])),
    )


def _part(told: dict[str, Any], arrays: dict[str, Any], p: int, j: int) -> Part:
    blocks = Blocks(*(int(told[name]) for name in ("n_x", "n_y", "n_blocks", "n_kernels")))
    if not 1 <= blocks.n_blocks <= min(blocks.n_x, blocks.n_y) // 2 or blocks.n_kernels < 1:
        raise ValueError(f"no plan has {blocks.n_x} and {blocks.n_y} rows in {blocks.n_blocks} blocks")
    spans, nodes = (np.asarray(arrays[f"{name}_{p}"], dtype=np.int64) for name in ("spans", "nodes"))
    values, cores = (np.asarray(arrays[f"{name}_{p}_{j}"], dtype=np.float64) for name in ("values", "cores"))
    wanted = [tree.cover(first, last, blocks.n_blocks, blocks.fold_level) for first, last in spans.tolist()]
    starts = np.sort(tree.starts(nodes)) if nodes.ndim == 2 else nodes
    whole = np.concatenate(wanted) if wanted else nodes[:0]
    fits = (
        spans.ndim == 2
        and np.all(spans[:, 0] < spans[:, 1])
        and np.all(spans[1:, 0] > spans[:-1, 1])
        and (not spans.size or (spans[0, 0] >= 0 and spans[-1, 1] <= blocks.n_blocks))
        and values.shape == (int((spans[:, 1] - spans[:, 0]).sum()),)
        and cores.shape == (len(nodes), blocks.core_size, blocks.core_size)
        and np.array_equal(starts, tree.starts(whole))
        and np.array_equal(nodes, whole)
    )
    if not fits:
        raise ValueError(f"the blocks of part {told['number']} are not all there")
    return Part(int(told["number"]), blocks, spans, values, nodes, cores)
