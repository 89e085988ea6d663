"""``btests compare``: two tables, one question."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

_EXAMPLES = """\b
Examples:
  btests compare reference.parquet current.parquet
  btests compare flights.csv --by month --a 1 --b 7 --json
  btests compare old/ new/ --exclude id --report out.html
"""


@click.command(epilog=_EXAMPLES)
@click.argument("tables", nargs=-1, required=True, metavar="A [B]")
@click.option("--by", default=None, help="Column of A that says which side a row is on; there is no B then.")
@click.option("--a", "value_a", default=None, help="Value of that column for the first side.")
@click.option("--b", "value_b", default=None, help="Value of that column for the second side.")
@click.option("--columns", default=None, help="Columns to compare, with commas between them; all by default.")
@click.option("--exclude", default=None, help="Columns to leave out, with commas between them.")
@click.option("--common", is_flag=True, help="Go on with the columns that match where others do not.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the verdict.",
)
@click.option("--tolerance", type=click.FloatRange(0), default=None, help="Ask whether MMD^2 is more than this.")
@click.option(
    "--kernel",
    type=click.Choice(["gaussian", "laplacian", "matern", "energy", "linear"]),
    default=None,
    help="Kernel of the joint test; five Gaussians by default.",
)
@click.option(
    "--null",
    type=click.Choice(
        ["sign-flip", "normal", "third-cumulant", "cross-blocks", "permutation", "spectrum", "gamma", "pearson"]
    ),
    default=None,
    help="Null of the joint test; sign-flip by default.",
)
@click.option("--block-size", type=click.IntRange(2), default=None, help="Rows of the smaller side in a block.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="For the order of rows and the null."
)
@click.option("--max-rows", type=click.IntRange(2), default=1_000_000, show_default=True, help="Rows a side at most.")
@click.option("--delimiter", default=None, help="Of CSV files, where it is not a comma.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
@click.option("--report", type=click.Path(path_type=Path), default=None, help="Write a page to this HTML file.")
@click.option("--force", is_flag=True, help="Overwrite the report if it is there.")
@click.option("--verbose", is_flag=True, help="Say how long it took and how much memory.")
def compare(
    tables: tuple[str, ...], as_json: bool, report: Path | None, force: bool, verbose: bool, **options: Any
) -> None:
    """Tell whether two tables differ, how much, and where.

    A and B are files, folders or patterns of parts: CSV, TSV, JSON lines (also .gz), Parquet, Arrow, Feather, npy, npz;
    or - for standard input. Exit status: 0 no difference found, 1 difference found, 2 trouble.
    """
    if len(tables) > 2:
        raise click.UsageError(
            f"compare takes one or two tables, got {len(tables)}; quote a pattern such as 'part-*.csv'."
        )
    if report is not None:
        _check_report(report, force)
    from btests.tables import compare as run

    for name in ("columns", "exclude"):
        options[name] = [part.strip() for part in (options[name] or "").split(",") if part.strip()]
    try:
        with _bar() as progress:
            found = run(tables[0], tables[1] if len(tables) > 1 else None, progress=progress, **options)
    except (ValueError, TypeError) as error:
        raise click.UsageError(f"{str(error).rstrip('.')}.") from None
    found.details["command"] = "btests compare " + shlex.join(_command(tables, options))
    if report is not None:
        _write(found, report, force)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2))
    else:
        click.echo(str(found))
    if verbose:
        _say_memory(found)
    raise click.exceptions.Exit(1 if found.different else 0)


def _command(tables: tuple[str, ...], options: dict[str, Any]) -> list[str]:
    """Return the arguments that repeat the comparison."""
    words = list(tables)
    flags = {"value_a": "--a", "value_b": "--b"}
    for name, value in options.items():
        flag = flags.get(name, "--" + name.replace("_", "-"))
        if name == "seed" or (
            value not in (None, [], False) and (name, value) not in (("alpha", 0.05), ("max_rows", 1_000_000))
        ):
            words += [flag] if value is True else [flag, ",".join(value) if isinstance(value, list) else str(value)]
    return words


def _check_report(report: Path, force: bool) -> None:
    if report.is_dir():
        raise click.UsageError(f"--report must be a file, and {str(report)!r} is a folder.")
    if not report.parent.is_dir():
        raise click.UsageError(f"There is no folder {str(report.parent)!r} to put the report in.")
    if (report.exists() or report.is_symlink()) and not force:
        raise click.UsageError(f"{str(report)!r} exists already; add --force to overwrite it.")


def _write(found: Any, report: Path, force: bool) -> None:
    try:
        found.to_html(report, force=force)
    except FileExistsError:
        raise click.UsageError(f"{str(report)!r} exists already; add --force to overwrite it.") from None
    except OSError as error:
        raise click.UsageError(f"The report {str(report)!r} could not be written: {error.strerror}.") from None


def _say_memory(found: Any) -> None:
    peak = found.to_dict()["memory_bytes"]
    memory = "an unknown amount of" if peak is None else f"at most {peak / 1e6:.0f} MB of"
    click.echo(f"btests: {found.details['seconds']:.2f} s, {memory} memory", err=True)


class _bar:  # noqa: N801
    """A progress bar on standard error, silent where that is no terminal."""

    def __enter__(self) -> Any:
        self._bar: Any = click.progressbar(length=100, label="compare", file=sys.stderr)
        if not sys.stderr.isatty():
            return lambda share: None
        self._bar.__enter__()
        return lambda share: self._bar.update(max(0, round(100 * share) - self._bar.pos))

    def __exit__(self, *error: object) -> None:
        if sys.stderr.isatty():
            self._bar.render_finish()
