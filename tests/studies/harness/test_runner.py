"""What the runner promises: pieces are done once, files do not depend on workers, and errors are not swallowed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from studies.harness.counts import Row, add_up
from studies.harness.experiment import Done, Task, rows_of
from studies.harness.manifest import Manifest, claim
from studies.harness.report import Report, Table
from studies.harness.runner import run


def square(number: int) -> list[Row]:
    """Return a row; not in the test's own process."""
    return [{"number": number, "square": number**2, "third": number / 3.0, "threads": os.environ["OMP_NUM_THREADS"]}]


def fail() -> list[Row]:
    raise ArithmeticError("this piece cannot be done")


@dataclass(frozen=True, slots=True)
class Squares:
    """Squares of 0 .. 4, and then, as a search would, that of the sum of them; one of the pieces runs alone."""

    name: str = "squares"
    cost: float = 6.0
    breaks: bool = False

    def plan(self, done: Done) -> Sequence[Task]:
        pieces = [Task(f"first.{k}", square, (k,), exclusive=k == 2) for k in range(5)]
        if all(piece.name in done for piece in pieces):
            total = sum(done[piece.name][0]["square"] for piece in pieces)
            pieces.append(Task("second", fail) if self.breaks else Task("second", square, (total,)))
        return pieces

    def report(self, done: Done) -> Sequence[Report]:
        rows = rows_of(done)
        table = Table("Numbers", ("number", "square"), tuple((str(r["number"]), str(r["square"])) for r in rows))
        return [Report(self.name, "Squares", "All of them.", rows, (table,), more={"more": rows[:1]})]


def run_in(out: Path, experiment: Squares, workers: int = 2) -> list[tuple[float, float]]:
    """Run, and return the progress that was told."""
    told: list[tuple[float, float]] = []
    run(
        [experiment],
        out,
        lambda name: f"python -m studies.{name} --seed 1",
        workers,
        lambda done, total: told.append((done, total)),
    )
    return told


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run, which tests copy: workers take time to start."""
    out = tmp_path_factory.mktemp("finished")
    run_in(out, Squares())
    return out


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """Return a folder of a finished run."""
    return Path(shutil.copytree(finished, tmp_path / "out"))


def test_workers_and_interruptions_leave_no_trace(tmp_path: Path, out: Path) -> None:
    one, two = tmp_path / "one", out  # of two workers
    told = run_in(one, Squares(), workers=1)
    assert told[0] == (0.0, 6.0)
    assert told[-1] == (6.0, 6.0)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    expected = files(one)
    assert set(expected) == {"squares.csv", "squares.md", "more.csv"}
    assert files(two) == expected
    assert b"| 30 | 900 |" in expected["squares.md"]
    assert b"`python -m studies.squares --seed 1`" in expected["squares.md"]
    assert expected["squares.csv"].splitlines()[2] == b"1,1,0.3333333333333333,1"
    pieces = two / "tasks" / "squares"
    kept = pieces / "first.0.json"
    before = kept.stat().st_mtime_ns
    for name in ("second", "first.2"):
        (pieces / f"{name}.json").unlink()
    (pieces / "first.3.json").write_text('[{"number": 3, "squ')  # as a machine that loses its power might leave it
    run_in(two, Squares())
    assert files(two) == expected
    assert kept.stat().st_mtime_ns == before
    assert run_in(two, Squares()) == [(0.0, 0.0)]


def test_a_piece_that_fails_stops_the_run_and_the_others_are_kept(tmp_path: Path) -> None:
    with pytest.raises(ArithmeticError, match="cannot be done"):
        run_in(tmp_path, Squares(breaks=True))
    assert len(list((tmp_path / "tasks" / "squares").iterdir())) == 5
    assert not (tmp_path / "squares.md").exists()
    run_in(tmp_path, Squares())
    assert (tmp_path / "squares.md").exists()


def test_the_environment_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("BTESTS_THREADS", raising=False)
    run_in(tmp_path, Squares())
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "BTESTS_THREADS" not in os.environ


def test_rows_add_up_in_order_of_appearance() -> None:
    rows = [{"a": "x", "trials": 1, "k": 2}, {"a": "y", "trials": 1, "k": 5}, {"a": "x", "trials": 3, "k": 4}]
    assert add_up(rows) == [{"a": "x", "trials": 4, "k": 6}, {"a": "y", "trials": 1, "k": 5}]


SONGS = ({"name": "p.ogg", "sha256": "1"}, {"name": "q.ogg", "sha256": "2"})
FIRST = Manifest(1, True, SONGS)


def take(out: Path, manifest: Manifest, *, force: bool) -> None:
    """Claim a folder, and let it go."""
    with claim(out, manifest, force=force):
        pass


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Manifest(2, True, SONGS), "holds results of --seed 1, not 2; add --force"),
        (Manifest(1, False, SONGS), "holds results of a run with --quick; add --force"),
        (Manifest(1, True, SONGS[::-1]), r"holds results of other songs \(p.ogg, q.ogg\); add --force"),
        (Manifest(1, True, SONGS, "0.0.1"), "holds results of btests .*, this is 0.0.1; add --force"),
    ],
)
def test_results_of_another_run_are_refused_or_removed(tmp_path: Path, other: Manifest, message: str) -> None:
    take(tmp_path, FIRST, force=False)
    piece, report, seconds = (tmp_path / name for name in ("tasks/a/1.json", "a.md", "a-seconds.csv"))
    mine = [tmp_path / name for name in ("mine.txt", "tasks/mine.txt", "b.md")]
    piece.parent.mkdir()
    for file in (piece, report, seconds, *mine):
        file.write_text("mine")
    with pytest.raises(ValueError, match=message):
        take(tmp_path, other, force=False)
    assert piece.exists()
    take(tmp_path, other, force=True)
    assert not any(file.exists() for file in (piece, report, seconds))
    assert all(file.read_text() == "mine" for file in mine)
    take(tmp_path, other, force=False)


def test_a_run_without_music_shares_the_folder_with_one_that_has_songs(tmp_path: Path) -> None:
    take(tmp_path, Manifest(1, True), force=False)
    take(tmp_path, FIRST, force=False)
    take(tmp_path, Manifest(1, True), force=False)
    assert json.loads((tmp_path / "manifest.json").read_text())["songs"] == list(SONGS)
    with pytest.raises(ValueError, match="other songs"):
        take(tmp_path, Manifest(1, True, SONGS[:1]), force=False)


def test_force_starts_anew_with_the_same_seed_too(out: Path) -> None:
    (out / "manifest.json").write_text(json.dumps({"seed": 1, "quick": True, "songs": [], "version": "0"}))
    take(out, Manifest(1, True, version="0"), force=False)
    assert (out / "squares.md").exists()
    take(out, Manifest(1, True, version="0"), force=True)
    assert not (out / "squares.md").exists()
    assert not list((out / "tasks").rglob("*.json"))


@pytest.mark.parametrize("force", [False, True])
def test_folders_of_others_are_not_written_to(tmp_path: Path, force: bool) -> None:
    (tmp_path / "tasks").mkdir()
    thesis = tmp_path / "tasks" / "thesis.txt"
    thesis.write_text("")
    for text in ("", '{"name": "an app"}', "{"):
        if text:
            (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(ValueError, match="holds something else than results"):
            take(tmp_path, FIRST, force=force)
    assert thesis.exists()


@pytest.mark.parametrize("text", [None, '{"seed": 7', '{"seed": 7, "quick": true, "songs": [1], "version": "0"}', "[]"])
def test_a_manifest_that_is_lost_or_spoilt(tmp_path: Path, finished: Path, text: str | None) -> None:
    take(tmp_path, FIRST, force=False)
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    (tmp_path / "manifest.json").unlink()
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match=r"manifest\.json is missing or cannot be read; add --force"):
        take(tmp_path, FIRST, force=False)
    take(tmp_path, FIRST, force=True)
    take(tmp_path, FIRST, force=False)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="no locks of files on this system")
    with claim(tmp_path, FIRST, force=False), pytest.raises(ValueError, match="another run is at work in"):
        take(tmp_path, FIRST, force=True)
    take(tmp_path, FIRST, force=False)


def test_pieces_that_are_not_as_they_were_written_are_done_again(out: Path) -> None:
    expected = files(out)
    for k, text in enumerate(("", "null", "[]", '[{"number": 1}]', "[]\n0\n")):
        (out / "tasks" / "squares" / f"first.{k}.json").write_text(text)
    run_in(out, Squares())
    assert files(out) == expected
