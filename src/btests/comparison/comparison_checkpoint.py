"""Identity of a comparison in its checkpoint: files, settings, memory and seed."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from btests.comparison.compare_options import Options
from btests.comparison.table_side import Side
from btests.data.files import digests
from btests.execution.checkpoint import Recorder
from btests.partial_result_file import read_arrays


def saved_seed(checkpoint: str | os.PathLike[str]) -> int | None:
    """Return the seed of the run of a checkpoint; None if there is none."""
    seed = _identity(checkpoint).get("seed")
    return seed if isinstance(seed, int) else None


def saved_memory(checkpoint: str | os.PathLike[str]) -> int | None:
    """Return the memory limit of the run of a checkpoint, on which the drawn rows depend."""
    try:
        memory = json.loads(_identity(checkpoint).get("run", "")).get("memory")
    except (ValueError, AttributeError, TypeError):  # of another kind of run, which is refused later
        return None
    return memory if isinstance(memory, int) else None


def recorder(sides: list[Side], options: Options, memory: int, progress: Any) -> Recorder:
    """Return the recorder of the joint test; raise if its file belongs to another run."""
    if options.checkpoint is None:
        return Recorder(None, "", options.seed, progress, "`checkpoint=FILE`")
    path = Path(options.checkpoint)
    if not path.exists():
        _require_folder(path)
    settings = {name: getattr(options, name) for name in _SETTINGS}
    identity = {
        "version": version("btests"),
        "memory": memory,
        "settings": repr(settings),
        "files": [s.stamps for s in sides],
    }
    identity["contents"] = [digests([part.path for part in side.parts]) for side in sides]
    return Recorder(path, json.dumps(identity), options.seed, progress)


# Everything that the joint test depends on, except the seed.
_SETTINGS = (
    *("by", "value_a", "value_b", "columns", "exclude", "common", "kernel", "null", "block_size", "max_rows"),
    *("delimiter", "decimal", "encoding", "missing", "categories", "skip_bad_parts"),
)


def _require_folder(path: Path) -> None:
    """Raise if a checkpoint cannot be written, before the work starts."""
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ValueError(f"the checkpoint {str(path)!r} cannot be written: there is no such folder, or it is closed")


def _identity(checkpoint: str | os.PathLike[str]) -> dict[str, Any]:
    path = Path(checkpoint)
    if not path.exists():
        return {}
    identity = read_arrays(path)[0].get("checkpoint")
    return identity if isinstance(identity, dict) else {}
