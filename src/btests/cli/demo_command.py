"""``btests demo``: B-test on the blobs of the paper, whose distributions are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from btests._text import printable
from btests.cli.output_file import check_picture, output_path, picture_format, plotting, write_picture
from btests.cli.terminal import echo, one_sentence, say

if TYPE_CHECKING:
    from btests.cli.demo import Outcome

_EXAMPLES = """\b
Examples:
  btests demo
  btests demo --rows 5000 --seed 7 --out blobs.svg
  btests demo --json --force
"""


@click.command(epilog=_EXAMPLES, short_help="Test the blobs of the paper, whose truth is known, and plot them.")
@click.option(
    "--out",
    metavar="PATH",
    callback=output_path,
    default="btests-demo.png",
    show_default=True,
    help="File for the picture: .png, .svg or .pdf.",
)
@click.option(
    "--rows",
    metavar="ROWS",
    type=click.IntRange(20, 1_000_000),
    default=2000,
    show_default=True,
    help="Rows in each of the samples.",
)
@click.option(
    "--seed",
    metavar="NUMBER",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="For the data and for the test.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@click.option("--force", is_flag=True, help="Overwrite the picture if it is there.")
def demo(out: Path, rows: int, seed: int, as_json: bool, force: bool) -> None:
    """Test two samples of one distribution and two of different ones, and plot both.

    The data are the blobs of Zaremba, Gretton and Blaschko (2013), a grid of 5 x 5 Gaussians: P against another sample
    of P, then P against Q, whose blobs are round where those of P are long.
    """
    check_picture(out, force)
    with one_sentence():
        from btests.cli.demo import Outcome

        outcome = Outcome.of_blobs(rows, seed)
        picture = _draw(outcome, out, force)
    if as_json:
        echo(json.dumps({**outcome.to_dict(), "picture": picture}, indent=2))
        return
    echo(outcome.to_text())
    if picture is not None:
        echo(f"\nPicture: {printable(picture)}")


def _draw(outcome: Outcome, out: Path, force: bool) -> str | None:
    """Write the picture and return its name, or say how to get one where there is no matplotlib."""
    found = plotting()
    if isinstance(found, str):
        say(f"no picture, for want of matplotlib; {found}.")
        return None
    from btests.cli.pictures import draw_demo

    write_picture(draw_demo(outcome, picture_format(out)), out, force)
    return str(out)
