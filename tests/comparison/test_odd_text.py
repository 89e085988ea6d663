"""Odd files of text have one answer, whether they are read whole or in pieces, and notes say how they were read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import btests
from tests.comparison.conftest import Shell

Answer = dict[str, Any]


def written(name: str, columns: dict[str, Sequence[Any]], delimiter: str = ",", header: bool = True) -> str:
    rows = [list(columns)] if header else []
    rows += [list(map(str, row)) for row in zip(*columns.values(), strict=True)]
    Path(name).write_text("".join(delimiter.join(row) + "\n" for row in rows), encoding="utf-8")
    return name


def answer(*files: str, **options: Any) -> Answer:
    """Return kinds of columns, excluded columns and notes, or the refusal."""
    try:
        found = btests.compare(*files, seed=1, **options)
    except ValueError as error:
        return {"refused": str(error)}
    return {
        "kinds": {column.name: column.kind for column in found.columns},
        "excluded": found.excluded,
        "notes": [note for note in found.notes if "read in pieces" not in note],
    }


def both_ways(*files: str, **options: Any) -> Answer:
    """Return the answer that is the same, whole and in pieces."""
    whole, pieces = answer(*files, **options), answer(*files, memory=1000, **options)
    assert whole == pieces
    return whole


Table = Callable[..., dict[str, Sequence[Any]]]


@pytest.fixture
def table(shell: Shell) -> Table:
    """Return a maker of tables with a column of reals, in a folder of its own."""
    rng = np.random.default_rng(0)

    def made(n: int = 60, **columns: Sequence[Any]) -> dict[str, Sequence[Any]]:
        return {**columns, "y": rng.normal(size=n).round(3).tolist()}

    return made


def test_files_without_a_header(table: Table) -> None:
    files = [written(f"{word}.csv", table(word=[word, "w"] * 30), header=False) for word in ("u", "v")]
    refused = both_ways(*files)["refused"]
    assert "no column in common: 'u', '" in refused
    assert "write a line with the names of the columns above them" in refused


def test_a_first_line_of_numbers(table: Table) -> None:
    files = [written(f"{g}.csv", {"1.5": [2, 3] * 20, "7": [4, g, 6, 7] * 10}) for g in (5, 6)]
    notes = both_ways(*files)["notes"]
    for name in files:
        assert any(f"first line of {name}, '1.5', ..., names its columns" in note for note in notes)
    files = [written(f"{g}.csv", {"0": [2, 3] * 20, "1": [4, g, 6, 7] * 10}) for g in (5, 6)]
    assert not any("first line" in note for note in both_ways(*files)["notes"])


def test_row_numbers_are_those_of_the_file(table: Table) -> None:
    """A row of a sample, or of a side of a table that is split, has no number in messages."""
    words = ["1"] * 5000
    words[4321] = "word"
    one, two = (written(name, table(5000, u=cells)) for name, cells in (("a.csv", words), ("b.csv", ["1"] * 5000)))
    assert "('word' in row 4322)" in answer(one, two)["refused"]
    words[:4321] = ["word"] * 4321
    drawn = answer(written("a.csv", table(5000, u=words)), two, memory=1000)["refused"]
    assert "('word')" in drawn
    big = written("c.csv", table(g=["u", "v"] * 30, x=["1e200" if row == 41 else str(row) for row in range(60)]))
    for options in ({}, {"memory": 1000}):
        refused = answer(big, by="g", value_a="u", value_b="v", **options)["refused"]
        assert "has a number beyond 1e150" in refused
        assert " in row " not in refused
    other = written("d.csv", table(g=["u", "v"] * 30, x=range(60)))
    for options in ({}, {"memory": 1000}):
        assert "in row 42;" in answer(big, other, **options)["refused"]


def test_near_names(table: Table, shell: Shell) -> None:
    written("first.csv", table(g=list(range(30)) * 2))
    assert "there is no file 'frist.csv'; did you mean 'first.csv'?" in shell.refused("frist.csv", "first.csv")
    with pytest.raises(FileNotFoundError, match=r"did you mean '.*first\.csv'\?"):
        btests.btest(str(Path("first.parquet").absolute()), np.zeros((9, 2)))
    assert "did you mean" not in shell.refused("c.csv", "first.csv")
    assert "--by names 'gg' (did you mean 'g'?)" in shell.refused("first.csv", "--by", "gg").replace("'y'", "'g'")
    for limit in ((), ("--memory", "1000")):
        told = shell.refused("first.csv", "--by", "g", "--a", "1", "--b", "99", *limit)
        assert "no row has g = 99" in told
        assert "there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11" in told
        assert "19 and 10 more" in told
