"""Options of ``btests compare``, and the groups of its help."""

from __future__ import annotations

from pathlib import Path

import click

from btests.cli.options import (
    ALPHA,
    DECIMAL,
    DELIMITER,
    ENCODING,
    JSON,
    SEED,
    Command,
    block_size_option,
    budget_option,
    cell_options,
    conditions,
    excluded_names,
    names_option,
    row_share,
)
from btests.cli.output_file import output_path

_KERNELS = ("gaussian", "laplacian", "matern", "energy", "linear")
_NULLS = ("sign-flip", "normal", "third-cumulant", "cross-mmd", "permutation", "spectrum", "gamma", "pearson")

#: Options by what they are about, for the help.
GROUPS = {
    "Columns and rows": ("columns", "exclude", "common", "by", "value_a", "value_b", "unit", "max_rows"),
    "Test": ("alpha", "tolerance", "seed", "kernel", "null", "block_size", "budget"),
    "Output and exit status": ("report", "as_json", "force", "verbose", "fail_on"),
    "Reading of files": ("missing", "categories", "delimiter", "decimal", "encoding", "file_format", "table"),
    "Large files": ("memory", "checkpoint", "skip_bad_parts", "workers", "dask"),
    "Others": ("config", "no_config", "demo"),
}

_FLAGS = (
    click.argument("tables", nargs=-1, metavar="A [B]"),
    click.option(
        "--by",
        metavar="COLUMN",
        default=None,
        help="In place of B: compare groups of rows of A, which this column names; two of them by --a and --b, or all, "
        "up to 50.",
    ),
    click.option("--a", "value_a", metavar="VALUE", default=None, help="Value of that column for the first side."),
    click.option("--b", "value_b", metavar="VALUE", default=None, help="Value of that column for the second side."),
    names_option("--columns", """Columns to compare: size,colour; all by default. With a comma: '"a,b",size'."""),
    excluded_names("--columns"),
    click.option(
        "--unit",
        metavar="COLUMN",
        default=None,
        help="Names what several rows belong to, such as a customer: such rows are swapped together.",
    ),
    click.option("--common", is_flag=True, help="Go on with the columns that match where others do not."),
    ALPHA,
    click.option(
        "--tolerance",
        metavar="SHARE",
        callback=row_share,
        default=None,
        help="Ask whether more than this share of the rows differs, such as 5%, and not for any difference.",
    ),
    click.option(
        "--kernel",
        metavar="NAME",
        type=click.Choice(_KERNELS),
        default=None,
        help=f"Of the test of whole rows: {', '.join(_KERNELS)}; by default Gaussians and Laplacians.",
    ),
    click.option(
        "--null",
        metavar="NAME",
        type=click.Choice(_NULLS),
        default=None,
        help=f"Null distribution of that test: {', '.join(_NULLS)}; by default the first.",
    ),
    block_size_option("Rows in a block of that test, or sqrt; by default as many as --budget affords."),
    budget_option("Seconds of one core for that test, estimated from rows and columns; 1 by default."),
    SEED,
    click.option(
        "--max-rows",
        metavar="ROWS",
        type=click.IntRange(2),
        default=None,
        help="Test so many rows a side or group at most, drawn at random; 1000000 by default.",
    ),
    DELIMITER,
    DECIMAL,
    ENCODING,
    click.option(
        "--format",
        "file_format",
        metavar="NAME",
        default=None,
        help="Of the files, such as csv or parquet, where their names or first bytes do not tell it.",
    ),
    click.option(
        "--table", metavar="NAME", default=None, help="Of files that hold several: the same as ::NAME behind each."
    ),
    cell_options(),
    click.option(
        "--memory",
        metavar="SIZE",
        default=None,
        help="What tables may take, such as 2GB; larger files are read in pieces. A quarter of the free memory by "
        "default.",
    ),
    click.option(
        "--checkpoint",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        default=None,
        help="Save the work in this file, and resume from it after an interruption.",
    ),
    click.option(
        "--workers",
        metavar="NUMBER",
        type=click.IntRange(1),
        default=None,
        help="Test whole rows on so many processes; files are then read in pieces.",
    ),
    click.option("--dask", metavar="ADDRESS", default=None, help="The same on a dask cluster, tcp://host:8786."),
    click.option("--skip-bad-parts", is_flag=True, help="Go on without damaged parts of a folder or pattern."),
    JSON,
    click.option(
        "--report", metavar="PATH", callback=output_path, default=None, help="Write a page to this .html file."
    ),
    click.option("--force", is_flag=True, help="Overwrite files that are there."),
    click.option(
        "--fail-on",
        metavar="CONDITION",
        multiple=True,
        callback=conditions,
        help="End with status 1 if this holds: difference (the default), effect>10%, columns>2, column:NAME, "
        "column:NAME>10%, never. Of several, if any holds.",
    ),
    click.option(
        "--config",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        default=None,
        help="Options from this file; by default from btests.toml, or [tool.btests] of pyproject.toml.",
    ),
    click.option("--no-config", is_flag=True, help="Options from no file."),
    click.option("--demo", is_flag=True, help="Write reference.csv and current.csv, and compare them."),
    click.option("--verbose", is_flag=True, help="Say how much time and memory it took."),
)


def flagged(command: Command) -> Command:
    """Return the function of the command with its arguments and options."""
    for option in reversed(_FLAGS):
        command = option(command)
    return command
