"""The tables and figures of the paper, beside its published numbers: ``python -m studies.reproduce``."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from studies.harness.command import Options, execute, shared_options
from studies.harness.experiment import Experiment
from studies.reproduce.claims import Claims
from studies.reproduce.figure2 import Figure2
from studies.reproduce.figure3 import Figure3
from studies.reproduce.figure4 import Figure4
from studies.reproduce.music import prepare
from studies.reproduce.table1 import Table1

#: The experiments on blobs, from seed and quick; those on music are made by ``prepare``.
BLOBS: dict[str, Callable[[int, bool], Experiment]] = {
    "table1": Table1,
    "figure2": Figure2,
    "figure3": Figure3,
    "figure4": Figure4,
    "claims": Claims,
}
MUSIC = ("table2", "figure1", "figure5")
_NAMES = (*BLOBS, *MUSIC)

_EXAMPLES = """\b
Examples:
  python -m studies.reproduce figure2 --quick
  python -m studies.reproduce figure2 --quick --seed 7 --out blobs-7
  python -m studies.reproduce figure2 --seed 7 --out blobs-7 --force --workers 1
"""


@click.command(epilog=_EXAMPLES)
@click.argument("what", nargs=-1, type=click.Choice(["all", *sorted(_NAMES)]))
@shared_options("Few repetitions: the same files within a minute, with wide intervals.")
@click.option("--song-p", type=click.Path(path_type=Path), default=None, help="Audio file for the music experiments.")
@click.option("--song-q", type=click.Path(path_type=Path), default=None, help="Audio file to compare it with.")
def reproduce(*, what: tuple[str, ...], song_p: Path | None, song_q: Path | None, **shared: Any) -> None:
    """Run the experiments of the paper again, with its own repetition counts.

    For each table or figure there is a CSV file of raw counts, a Markdown table with the published numbers beside those
    found here, and a figure as PNG and SVG. The claims are those of sections 2.2 and 2.3. All of it takes two cores
    about 25 minutes.
    """
    options = Options("reproduce", **shared)
    if not what:
        raise click.UsageError(f"Name what to reproduce, {', '.join(sorted(_NAMES))} or all; see --help.")
    names = _NAMES if "all" in what else what
    if (song_p is None) != (song_q is None):
        raise click.UsageError("--song-p and --song-q go together: name two audio files, or none.")
    if song_p is not None and not set(names) & set(MUSIC):
        raise click.UsageError(f"--song-p and --song-q are for {', '.join(MUSIC)} and all.")
    arguments = ["--quick"] * options.quick + ["--seed", str(options.seed)]
    if song_p is not None and song_q is not None:  # file names alone: reports do not depend on the folder
        arguments += ["--song-p", song_p.name, "--song-q", song_q.name]
    experiments = [make(options.seed, options.quick) for name, make in BLOBS.items() if name in names]
    songs: tuple[dict[str, str], ...] = ()
    if set(names) & set(MUSIC):
        try:
            music, songs = prepare(song_p, song_q, options.seed, options.quick)
        except ValueError as error:
            raise click.UsageError(f"{error}.") from None
        experiments += [experiment for experiment in music if experiment.name in names]
    for song in songs:
        click.echo(f"song {song['role']}: {song['name']}, {song['source']}", err=True)
    execute(experiments, options, lambda name: f"python -m studies.reproduce {name} {shlex.join(arguments)}", songs)


if __name__ == "__main__":
    reproduce()
