"""The tables and figures of the paper, beside its published numbers: ``python -m studies.reproduce``."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from studies.reproduce.protocol import Experiment

#: What can be asked for; the second group listens to music.
_PLAIN = ("table1", "figure2", "figure3", "figure4", "claims")
_MUSIC = ("table2", "figure1", "figure5")

_EXAMPLES = """\b
Examples:
  python -m studies.reproduce figure2 --quick
  python -m studies.reproduce figure2 --quick --seed 7 --out blobs-7
  python -m studies.reproduce figure2 --seed 7 --out blobs-7 --force --workers 1
"""


@click.command(epilog=_EXAMPLES)
@click.argument("what", nargs=-1, type=click.Choice(["all", *sorted(_PLAIN + _MUSIC)]))
@click.option("--quick", is_flag=True, help="Few repetitions: the same files within a minute, with wide intervals.")
@click.option("--seed", type=click.IntRange(0), default=2013, show_default=True, help="The same seed, the same files.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder for the results; a run that was interrupted goes on there.",
)
@click.option("--force", is_flag=True, help="Start anew: remove what an earlier run left in the folder.")
@click.option("--workers", type=click.IntRange(1), default=None, help="Processes; all cores by default.")
@click.option("--song-p", type=click.Path(path_type=Path), default=None, help="Audio file for the music experiments.")
@click.option("--song-q", type=click.Path(path_type=Path), default=None, help="Audio file to compare it with.")
def reproduce(
    *,
    what: tuple[str, ...],
    quick: bool,
    seed: int,
    out: Path,
    force: bool,
    workers: int | None,
    song_p: Path | None,
    song_q: Path | None,
) -> None:
    """Run the experiments of the paper again, with its own repetition counts.

    For each table or figure there is a CSV file of raw counts, a Markdown table with the published numbers beside those
    found here, and a figure as PNG and SVG. The claims are those of sections 2.2 and 2.3. All of it takes two cores
    about 25 minutes.
    """
    if not what:
        names = ", ".join(sorted(_PLAIN + _MUSIC))
        raise click.UsageError(f"Name what to reproduce, {names} or all; see --help.")
    wanted = _PLAIN + _MUSIC if "all" in what else what
    if (song_p is None) != (song_q is None):
        raise click.UsageError("--song-p and --song-q go together: name two audio files, or none.")
    if song_p is not None and not set(wanted) & set(_MUSIC):
        raise click.UsageError(f"--song-p and --song-q are for {', '.join(_MUSIC)} and all.")
    from btests._core.threads import default_threads
    from studies.reproduce.catalogue import plain
    from studies.reproduce.manifest import Manifest, claim

    options = ["--quick"] * quick + ["--seed", str(seed)]
    if song_p is not None and song_q is not None:  # names alone: what is written does not depend on where they lie
        options += ["--song-p", song_p.name, "--song-q", song_q.name]
    with ExitStack() as stack:
        try:
            experiments: list[Experiment] = plain(wanted, seed, quick)
            songs: tuple[dict[str, str], ...] = ()
            if set(wanted) & set(_MUSIC):
                from studies.reproduce.music import prepare

                music, songs = prepare(song_p, song_q, seed, quick)
                experiments += [experiment for experiment in music if experiment.name in wanted]
            stack.enter_context(claim(out, Manifest(seed, quick, songs), force=force))
        except ValueError as error:
            raise click.UsageError(f"{error}.") from None
        for song in songs:
            click.echo(f"song {song['role']}: {song['name']}, {song['source']}", err=True)
        _run(experiments, out, shlex.join(options), workers or default_threads())


def _run(experiments: list[Experiment], out: Path, options: str, workers: int) -> None:
    from concurrent.futures.process import BrokenProcessPool

    from studies.reproduce.runner import run

    label = ", ".join(experiment.name for experiment in experiments)
    bar: Any
    with click.progressbar(length=1000, label="reproduce", show_eta=True, file=sys.stderr) as bar:

        def advance(done: float, total: float) -> None:
            place = round(1000.0 * done / total) if total > 0.0 else 1000
            if place > bar.pos:
                bar.update(place - bar.pos)

        kept = f"what is done is kept in {str(out)!r}, and the same command goes on from there"
        try:
            files = run(experiments, out, options, workers, advance)
        except KeyboardInterrupt:
            bar.render_finish()
            click.echo(f"\nbtests: stopped; {kept}.", err=True)
            raise click.exceptions.Exit(130) from None
        except BrokenProcessPool:
            bar.render_finish()
            raise click.ClickException(f"A worker process was killed, for want of memory perhaps; {kept}.") from None
    if importlib.util.find_spec("matplotlib") is None:
        click.echo("btests: no figures without matplotlib; pip install 'btests[plot]'.", err=True)
    click.echo(f"{label}: wrote {len(set(files))} files to {out}")


if __name__ == "__main__":
    reproduce()
