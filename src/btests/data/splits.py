"""Splits of data sets in one folder, such as train and test, and the notes beside their files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

# Words for splits, before what else a name has.
_SPLIT = re.compile(r"(train|training|test|testing|validation|valid|val|dev)(?:[-_.].*)?", re.IGNORECASE)

# Files that describe a data set, beside those that hold it.
_NOTES = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json")


def without_notes(files: Sequence[str]) -> list[str]:
    """Return the files of a folder without those that describe the others, if there are others.

    Examples
    --------
    >>> without_notes(["d/dataset_info.json", "d/train.parquet"]), without_notes(["d/state.json"])
    (['d/train.parquet'], ['d/state.json'])
    """
    others = [file for file in files if Path(file).name not in _NOTES]
    return others or list(files)


def check_one_split(folder: str, files: Sequence[str]) -> None:
    """Raise if the files of a folder are of several splits of a data set, by their names or those of their folders."""
    found: dict[str, str] = {}
    for file in files:
        split = _split_of(os.path.relpath(file, folder))
        if split is not None:
            found.setdefault(split[0], os.path.join(folder, split[1]))
    if len(found) > 1:
        *names, last = sorted(found)
        raise ValueError(
            f"the folder {folder!r} holds the splits {', '.join(names)} and {last} of a data set; "
            f"name one of them, such as {found[names[0]]!r}"
        )


def _split_of(path: str) -> tuple[str, str] | None:
    """Return the split of a file, and a path or pattern of all its files; None if it is of none.

    Examples
    --------
    >>> _split_of("data/train-00000-of-00002.parquet"), _split_of("test/0.arrow"), _split_of("test.csv")
    (('train', 'data/train-*.parquet'), ('test', 'test'), ('test', 'test.csv'))
    >>> _split_of("trainer.csv")
    """
    *folders, name = Path(path).parts
    for depth, one in enumerate(folders, start=1):
        if _SPLIT.fullmatch(one) and "." not in one:
            return one.lower(), os.path.join(*folders[:depth])
    known = _SPLIT.fullmatch(name)
    if known is None:
        return None
    numbered = re.fullmatch(r"-\d+-of-\d+(\..*)", name[known.end(1) :])
    pattern = name if numbered is None else f"{known[1]}-*{numbered[1]}"
    return known[1].lower(), os.path.join(*folders, pattern)
