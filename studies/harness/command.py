"""The command line of a study: options that all studies share, progress, and interruption."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from btests._core.threads import default_threads
from studies.harness.experiment import Experiment
from studies.harness.manifest import Manifest, claim
from studies.harness.runner import run


@dataclass(frozen=True, slots=True)
class Options:
    """Options of every study, and its name; ``out`` is out/NAME or out/NAME-quick by default."""

    name: str
    quick: bool = False
    seed: int = 2013
    out: Path | None = None
    force: bool = False
    workers: int | None = None

    @property
    def folder(self) -> Path:
        """Folder of the results."""
        return self.out or Path("out", f"{self.name}{'-quick' * self.quick}")

    def command(self, *arguments: str) -> str:
        """Return the command that repeats the results, with further arguments first."""
        words = ["python -m", f"studies.{self.name}", *arguments, *["--quick"] * self.quick, "--seed", str(self.seed)]
        return " ".join(words)


def shared_options(quick: str, seed: int = 2013) -> Callable[[Any], Any]:
    """Return a decorator that adds the options of ``Options`` to a command; ``quick`` is the help of --quick."""
    options = (
        click.option("--quick", is_flag=True, help=quick),
        click.option(
            "--seed", type=click.IntRange(0), default=seed, show_default=True, help="The same seed, the same files."
        ),
        click.option(
            "--out",
            type=click.Path(file_okay=False, path_type=Path),
            help="Folder of the results, in which an interrupted run resumes.",
        ),
        click.option("--force", is_flag=True, help="Start anew: remove what an earlier run left in the folder."),
        click.option("--workers", type=click.IntRange(1), help="Processes; all cores by default."),
    )

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def execute(
    experiments: Sequence[Experiment],
    options: Options,
    command: Callable[[str], str],
    songs: tuple[dict[str, str], ...] = (),
) -> list[Path]:
    """Run experiments with a progress bar, and return the files written; errors of use end the command.

    Parameters
    ----------
    experiments : sequence of Experiment
        What to run.
    options : Options
        The options of the command line.
    command : callable
        From the name of an experiment to the command that makes it.
    songs : tuple of dict
        Songs of the music experiments, for the manifest.
    """
    out = options.folder
    with ExitStack() as stack:
        try:
            stack.enter_context(claim(out, Manifest(options.seed, options.quick, songs), force=options.force))
        except ValueError as error:
            raise click.UsageError(f"{error}.") from None
        files = _run(experiments, options, command)
    if importlib.util.find_spec("matplotlib") is None:
        click.echo("btests: no figures without matplotlib; pip install 'btests[plot]'.", err=True)
    names = ", ".join(experiment.name for experiment in experiments)
    click.echo(f"{names}: wrote {len(set(files))} files to {out}")
    return files


def _run(experiments: Sequence[Experiment], options: Options, command: Callable[[str], str]) -> list[Path]:
    bar: Any
    with click.progressbar(length=1000, label=options.name, show_eta=True, file=sys.stderr) as bar:

        def advance(done: float, total: float) -> None:
            place = round(1000.0 * done / total) if total > 0.0 else 1000
            if place > bar.pos:
                bar.update(place - bar.pos)

        resume = f"what is done is kept in {str(options.folder)!r}, and the same command goes on from there"
        try:
            return run(experiments, options.folder, command, options.workers or default_threads(), advance)
        except KeyboardInterrupt:
            bar.render_finish()
            click.echo(f"\nbtests: stopped; {resume}.", err=True)
            raise click.exceptions.Exit(130) from None
        except BrokenProcessPool:
            bar.render_finish()
            raise click.ClickException(f"A worker process was killed, for want of memory perhaps; {resume}.") from None
