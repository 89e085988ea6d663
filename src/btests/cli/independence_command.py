"""``btests independence``: tests of independence between columns of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from btests._text import printable
from btests.cli.options import (
    ALPHA,
    DELIMITER,
    JSON,
    SEED,
    GroupedCommand,
    block_size_option,
    budget_option,
    cell_options,
    check_budget,
    excluded_names,
    names_option,
)
from btests.cli.output_file import check_picture, output_path, picture_format, plotting, write_picture
from btests.cli.progress import watching
from btests.cli.terminal import as_flags, echo, one_sentence

if TYPE_CHECKING:
    from btests.comparison.dependence import Settings

_EXAMPLES = """\b
Examples (the first writes the file of the others):
  btests compare --demo
  btests independence reference.csv --x amount,shop --y items
  btests independence reference.csv --x rating --statistic dcov --json
  btests independence reference.csv --all-pairs --out pairs.png
"""


# Options by what they are about, for the help.
_GROUPS = {
    "Columns and rows": ("x", "y", "all_pairs", "exclude", "max_rows"),
    "Test": ("alpha", "statistic", "null", "seed", "block_size", "budget"),
    "Output": ("as_json", "everything", "out", "force"),
    "Reading of files": ("missing", "categories", "delimiter"),
    "Others": (),
}


@click.command(
    cls=GroupedCommand, groups=_GROUPS, epilog=_EXAMPLES, short_help="Test whether columns depend on each other."
)
@click.argument("table", metavar="FILE")
@names_option(
    "--x",
    """Columns of the first group: size,colour. With a comma: '"a,b",size'.""",
)
@names_option("--y", "Columns of the second group, all that are not in --x by default.")
@click.option("--all-pairs", is_flag=True, help="Test every pair of columns, corrected for the number of pairs.")
@excluded_names("--x")
@click.option(
    "--statistic",
    metavar="NAME",
    type=click.Choice(("hsic", "dcov")),
    default="hsic",
    show_default=True,
    help="hsic (Hilbert-Schmidt independence criterion) or dcov (squared distance covariance).",
)
@click.option(
    "--null",
    metavar="NAME",
    type=click.Choice(("swap", "normal", "pearson", "permutation")),
    default=None,
    help="Null distribution: swap (the default), normal, pearson, permutation; all but swap take one Gaussian kernel.",
)
@ALPHA
@block_size_option("Rows in a block, at least 4, or sqrt; by default as many as --budget affords.")
@budget_option("Seconds of one core, estimated from rows and columns; 1 by default. Pairs share it.")
@SEED
@click.option(
    "--max-rows",
    metavar="ROWS",
    type=click.IntRange(8),
    default=None,
    help="Test so many rows at most, drawn at random; by default 1000000, or what --budget affords for --all-pairs.",
)
@DELIMITER
@cell_options()
@JSON
@click.option("--all", "everything", is_flag=True, help="Print all pairs, and not the first 20.")
@click.option(
    "--out", metavar="PATH", callback=output_path, default=None, help="Draw all pairs to this .png, .svg or .pdf file."
)
@click.option("--force", is_flag=True, help="Overwrite the picture if it is there.")
def independence(
    *,
    table: str,
    x: tuple[str, ...],
    y: tuple[str, ...],
    all_pairs: bool,
    as_json: bool,
    everything: bool,
    out: Path | None,
    force: bool,
    **options: Any,
) -> None:
    """Test whether columns of a table depend on each other.

    FILE is a table as btests compare reads it, or - for standard input. Columns may hold numbers, texts, dates,
    booleans and missing cells.

    The exit status is 0 no dependence found, 1 dependence found, 2 trouble.
    """
    _check(table, named=bool(x), named_y=bool(y), all_pairs=all_pairs)
    _check_pairs(all_pairs, everything, out, force)
    check_budget(options)
    groups = [list(dict.fromkeys(own)) for own in (x, y)]
    with one_sentence(sign_flip="swap"):
        from btests.comparison.dependence import Settings
        from btests.comparison.screens import independence_screen

        found = _run(table, groups, Settings(**options), all_pairs)
        found["notes"] = [as_flags(note, "swap") for note in found["notes"]]
        echo(json.dumps(found, indent=2) if as_json else independence_screen(found, everything=everything))
        if out is not None:
            _draw(found, out, force)  # after the answer: a full disk must not lose it
            if not as_json:
                echo(f"picture     {printable(str(out))}")
    raise click.exceptions.Exit(1 if found["dependent"] else 0)


def _check(table: str, *, named: bool, named_y: bool, all_pairs: bool) -> None:
    if not table:
        raise click.UsageError("The table has no name; name a file, btests independence t.csv --x a --y b.")
    if all_pairs and (named or named_y):
        raise click.UsageError("--all-pairs tests all columns; name no --x and --y, and drop columns with --exclude.")
    if not all_pairs and not named:
        raise click.UsageError("Name columns with --x, and with --y or all others, or test --all-pairs.")


def _check_pairs(all_pairs: bool, everything: bool, out: Path | None, force: bool) -> None:
    """Raise unless options of all pairs are used with them, and a picture can be drawn."""
    if not all_pairs and (everything or out is not None):
        raise click.UsageError(f"{'--all' if everything else '--out'} is for --all-pairs; add that.")
    if out is not None:
        check_picture(out, force)
        found = plotting()  # before the tests, which take time
        if isinstance(found, str):
            raise click.UsageError(f"--out needs matplotlib; {found}.")


def _run(table: str, groups: list[list[str]], settings: Settings, all_pairs: bool) -> dict[str, Any]:
    if not all_pairs:
        from btests.comparison.dependence import groups_independence

        return groups_independence(table, groups[0], groups[1], settings)
    from btests.comparison.dependence import pairs_independence

    with watching("testing pairs") as (progress, _):
        return pairs_independence(table, settings, progress)


def _draw(found: dict[str, Any], out: Path, force: bool) -> None:
    from btests.cli.pictures import draw_pairs

    write_picture(draw_pairs(found, picture_format(out)), out, force)
