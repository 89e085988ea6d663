"""Folders of data sets: their parts, the notes beside them, and their splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import btests
from tests.comparison.conftest import Shell


def _table(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return pa.table({"u": rng.normal(size=60), "v": rng.normal(size=60)})


def _data_set(folder: str, *splits: str, n_parts: int = 2) -> None:
    Path(folder, "data").mkdir(parents=True)
    Path(folder, "README.md").write_text("---\nconfigs: []\n---\n")
    Path(folder, "dataset_info.json").write_text(json.dumps({"splits": {}}))
    for s, split in enumerate(splits):
        for k in range(n_parts):
            pq.write_table(_table(10 * s + k), f"{folder}/data/{split}-{k:05d}-of-{n_parts:05d}.parquet")


def test_the_parts_of_a_data_set_are_one_table(shell: Shell) -> None:
    _data_set("one", "train")
    _data_set("two", "train")
    assert shell("one", "two", "--json").json["test"]["n_x"] == 120
    assert btests.open_source("one").n_rows == 120


def test_several_splits_are_named(shell: Shell) -> None:
    _data_set("set", "train", "test", "validation")
    refused = shell.refused("set", "set")
    assert "holds the splits test, train and validation of a data set" in refused
    assert "such as 'set/data/test-*.parquet'" in refused
    found = shell("set/data/train-*.parquet", "set/data/test-*.parquet", "--json")
    assert found.json["test"]["n_x"] == 120
    with pytest.raises(ValueError, match=r"name one of them, such as 'set/data/test-\*\.parquet'"):
        btests.open_source("set")
    assert btests.btest("set/data/train-*.parquet", "set/data/test-*.parquet", seed=0).pvalue > 0.0


@pytest.mark.parametrize(
    ("names", "such"),
    [(("train.parquet", "test.parquet"), "x/test.parquet"), (("train/0.parquet", "test/0.parquet"), "x/test")],
)
def test_splits_of_other_layouts(shell: Shell, names: tuple[str, str], such: str) -> None:
    for k, name in enumerate(names):
        Path("x", name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(_table(k), f"x/{name}")
    assert f"such as '{such}'" in shell.refused("x", "x")


def test_other_names_are_no_splits(shell: Shell) -> None:
    Path("x").mkdir()
    for k, name in enumerate(("2023-00000-of-00001", "2024-00000-of-00001", "trainer", "tests", "devices")):
        pq.write_table(_table(k), f"x/{name}.parquet")
    assert btests.open_source("x").n_rows == 300
    Path("y").mkdir()
    Path("y/state.json").write_text('{"a": 1}\n{"a": 2}\n')
    assert btests.compare("y", "y", seed=0).pvalue == 1.0
