"""Tables compared on a cluster: the answer of one process, from files that workers read themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyarrow import feather

import btests
from btests.cli.command_group import commands
from btests.comparison import table_side
from btests.data.text_format import AS_FOUND
from btests.execution.dask import ClusterError
from tests.comparison.conftest import Shell

N = 3000


def mixed(rng: np.random.Generator, shift: float) -> pa.Table:
    """Return rows of all kinds of cells, sorted by one of them."""
    size = np.sort(rng.normal(shift, 1.0, N))
    some = pa.array(rng.normal(size=N), mask=rng.random(N) < 0.2)
    colour, side = rng.choice(["red", "green", "blue"], N), rng.choice(["left", "right"], N)
    return pa.table({"size": size, "colour": colour, "count": rng.poisson(3, N), "some": some, "side": side})


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two tables in several formats, which are cut into many pieces."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(table_side, "PIECE_BYTES", 2**14)
    rng = np.random.default_rng(11)
    for name, shift in (("a", 0.0), ("b", 0.1)):
        table = mixed(rng, shift)
        pq.write_table(table, f"{name}.parquet", row_group_size=250)
        feather.write_feather(table, f"{name}.arrow", chunksize=300, compression="uncompressed")
        table.to_pandas().to_csv(f"{name}.csv", index=False)
        np.save(f"{name}.npy", np.stack([table["size"].to_numpy(), table["count"].to_numpy()], axis=1))
    return tmp_path


def numbers(found: btests.Comparison | btests.GroupComparison) -> dict[str, Any]:
    """Return all of a comparison but how it was run."""
    told = found.to_dict()
    for name in ("seconds", "memory_bytes", "notes", "settings", "command"):
        told.pop(name, None)
    for name in ("seconds", "read"):
        told["test"].pop(name, None)
    return told


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "npy"])
def test_workers_give_the_answer_of_one_process(client: Any, tables: Path, form: str) -> None:
    files = f"a.{form}", f"b.{form}"
    alone = btests.compare(*files, memory=1000, seed=3)
    found = btests.compare(*files, memory=1000, seed=3, workers=client)
    assert found.result.read == "on 2 workers"
    assert numbers(found) == numbers(alone)
    assert any("tested on a cluster" in note for note in found.notes)


def test_one_file_with_both_sides(client: Any, tables: Path) -> None:
    alone = btests.compare("a.parquet", by="side", memory=1000, seed=3)
    assert numbers(btests.compare("a.parquet", by="side", memory=1000, seed=3, workers=client)) == numbers(alone)


def test_a_file_is_read_in_pieces_by_itself(tables: Path) -> None:
    from btests.comparison.table_side import TableSide, open_side

    whole: TableSide = open_side("a.parquet", "a", AS_FOUND, None)
    pieces = table_side.cut(TableSide("a", whole.parts, whole.names, whole.names, n_rows=N, counts=(N,)), 2**14)
    assert len(pieces.parts) == 4
    assert sum(pieces.counts) == N
    rows = [sum(batch.num_rows for batch in part.batches(("size",))) for part in pieces.parts]
    assert tuple(rows) == pieces.counts
    assert [part.first_row for part in pieces.parts] == [sum(rows[:i]) for i in range(len(rows))]


def test_an_interrupted_run_goes_on_elsewhere(client: Any, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("a.parquet", "b.parquet")
    alone = btests.compare(*files, memory=1000, seed=3)
    kept = btests.compare(*files, memory=1000, seed=3, checkpoint="run.npz")
    assert numbers(kept) == numbers(alone)
    done = btests.compare(*files, memory=1000, seed=3, checkpoint="run.npz", workers=client)
    assert numbers(done) == numbers(alone)


def test_the_command(client: Any, tables: Path) -> None:
    words = ["compare", "a.parquet", "b.parquet", "--memory", "1kB", "--json"]
    alone = CliRunner().invoke(commands, words)
    found = CliRunner().invoke(commands, [*words, "--dask", client.scheduler.address])
    assert found.exit_code == alone.exit_code, found.output
    one, other = (json.loads(run.stdout) for run in (alone, found))
    assert (one["verdict"], one["columns"]) == (other["verdict"], other["columns"])
    assert f" --dask {client.scheduler.address} " in other["command"]


def test_a_failure_names_options_as_they_were_given(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ClusterError("the scheduler went away")

    monkeypatch.setattr("btests.comparison.joint.shuffled", fail)
    words = ["a.parquet", "b.parquet", "--memory", "1kB"]
    told = "the scheduler went away; with --checkpoint FILE the same call would go on from where it was."
    assert told in Shell(capsys).refused(*words)
    told = "the scheduler went away; the checkpoint 'run.npz' holds nothing, and the same call goes on from there."
    assert told in Shell(capsys).refused(*words, "--checkpoint", "run.npz")
    with pytest.raises(ClusterError, match="with `checkpoint=FILE` the same call"):
        btests.compare("a.parquet", "b.parquet", memory=1000)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.csv", "b.csv", "--workers", "2", "--dask", "tcp://127.0.0.1:1"], "give one of them"),
        (["a.csv", "b.csv", "--dask", "nowhere:1:2"], "no scheduler answers at 'nowhere:1:2'"),
        (["a.csv", "b.csv", "--workers", "0"], "0 is not in the range"),
        (["a.csv", "b.csv", "--workers", "2", "--max-rows", "100"], "--max-rows draws some"),
        (["a.csv", "-", "--workers", "2"], "--workers is for tables in files"),
    ],
)
def test_mistakes(tables: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in Shell(capsys).refused(*words)


def test_rows_in_memory_stay_there(client: Any) -> None:
    rows = {"x": np.arange(50.0)}
    with pytest.raises(ValueError, match="`workers` is for tables in files"):
        btests.compare(rows, rows, workers=client)
