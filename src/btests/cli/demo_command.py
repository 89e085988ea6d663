"""``btests demo``: the main job on the paper's blobs, with the answer known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from btests.cli.demo_result import Outcome

_FORMATS = (".png", ".svg", ".pdf")

_EXAMPLES = """\b
Examples:
  btests demo
  btests demo --rows 5000 --seed 7 --out blobs.svg
  btests demo --json --force
"""


@click.command(epilog=_EXAMPLES)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("btests-demo.png"),
    show_default=True,
    help="File for the picture: .png, .svg or .pdf.",
)
@click.option(
    "--rows", type=click.IntRange(20, 1_000_000), default=2000, show_default=True, help="Rows in each of the samples."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For the data and for the test.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@click.option("--force", is_flag=True, help="Overwrite the picture if it is there.")
def demo(out: Path, rows: int, seed: int, as_json: bool, force: bool) -> None:
    """Test two samples of one distribution and two of different ones, and plot both.

    The data are the blobs of Zaremba, Gretton and Blaschko (2013), a grid of 5 x 5 Gaussians: P against another sample
    of P, then P against Q, whose blobs are round where those of P are long.
    """
    _check_out(out, force)
    from btests.cli.demo_result import Outcome

    outcome = Outcome.of_blobs(rows, seed)
    picture = _draw(outcome, out, force)
    if as_json:
        click.echo(json.dumps({**outcome.to_dict(), "picture": picture}, indent=2))
        return
    click.echo(outcome.to_text())
    if picture is not None:
        click.echo(f"\nPicture: {picture}")


def _check_out(out: Path, force: bool) -> None:
    if out.suffix.lower() not in _FORMATS:
        raise click.UsageError(f"--out must end in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}, got {str(out)!r}.")
    if out.is_dir():
        raise click.UsageError(f"--out must be a file, and {str(out)!r} is a folder.")
    if not out.parent.is_dir():
        raise click.UsageError(f"There is no folder {str(out.parent)!r} to put the picture in.")
    if out.exists() and not force:
        raise click.UsageError(_already_there(out))


def _already_there(out: Path) -> str:
    return f"{str(out)!r} exists already; add --force to overwrite it or name another file with --out."


def _draw(outcome: Outcome, out: Path, force: bool) -> str | None:
    """Write the picture and return its name, or say how to get one where there is no matplotlib."""
    try:
        from btests.cli.demo_plot import render
    except ImportError:
        click.echo("btests: no picture, for want of matplotlib; python -m pip install matplotlib gets it.", err=True)
        return None
    image = render(outcome, out.suffix.lower().removeprefix("."))
    try:
        with out.open("wb" if force else "xb") as file:
            file.write(image)
    except FileExistsError:  # it was not there a moment ago
        raise click.UsageError(_already_there(out)) from None
    except OSError as error:
        raise click.UsageError(f"The picture {str(out)!r} could not be written: {error.strerror}.") from None
    return str(out)
