"""What a checkpoint says about the run that it is of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from btests.comparison.assess import Options
from btests.comparison.large.side import Side
from btests.comparison.wording import at_command_line, option
from btests.data.digest import digests
from btests.execution.checkpoint import Recorder
from btests.partial_result_file import read_arrays


def kept_seed(checkpoint: str | os.PathLike[str]) -> int | None:
    """Return the seed of the run that a checkpoint is of, None where there is none."""
    seed = _told(checkpoint).get("seed")
    return seed if isinstance(seed, int) else None


def kept_memory(checkpoint: str | os.PathLike[str]) -> int | None:
    """Return the memory of the run that a checkpoint is of: the rows that were drawn depend on it."""
    try:
        memory = json.loads(_told(checkpoint).get("run", "")).get("memory")
    except (ValueError, AttributeError, TypeError):  # of another kind of run, which is refused later
        return None
    return memory if isinstance(memory, int) else None


def recorder(sides: list[Side], options: Options, memory: int, progress: Any) -> Recorder:
    """Return what keeps the work of the joint test, or say that its file is of another run."""
    from btests import __version__

    if options.checkpoint is None:
        asked = option("checkpoint") + (" FILE" if at_command_line() else "=FILE")
        return Recorder(None, "", options.seed, progress, asked)
    path = Path(options.checkpoint)
    if not path.exists():
        _require_folder(path)
    settings = {name: getattr(options, name) for name in _SETTINGS}
    told = {"version": __version__, "memory": memory, "settings": repr(settings), "files": [s.stamps for s in sides]}
    told["contents"] = [digests([part.path for part in side.parts]) for side in sides]
    return Recorder(path, json.dumps(told), options.seed, progress)


# All that the joint test depends on but the seed.
_SETTINGS = (
    *("by", "value_a", "value_b", "columns", "exclude", "common", "kernel", "null", "block_size", "max_rows"),
    *("delimiter", "missing", "categories", "skip_bad_parts"),
)


def _require_folder(path: Path) -> None:
    """Raise where a checkpoint could not be written: now, not after an hour of work."""
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ValueError(f"the checkpoint {str(path)!r} cannot be written: there is no such folder, or it is closed")


def _told(checkpoint: str | os.PathLike[str]) -> dict[str, Any]:
    path = Path(checkpoint)
    if not path.exists():
        return {}
    told = read_arrays(path)[0].get("checkpoint")
    return told if isinstance(told, dict) else {}
