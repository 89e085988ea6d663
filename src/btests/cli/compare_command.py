"""``btests compare``: comparison of two tables, or of groups of one."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from btests._text import printable
from btests.cli.compare_flags import GROUPS, flagged
from btests.cli.config_file import options_from
from btests.cli.options import GroupedCommand, check_budget, join_names
from btests.cli.output_file import already_there, check_output
from btests.cli.progress import watching
from btests.cli.terminal import as_flags, echo, flag, one_sentence, say

if TYPE_CHECKING:
    from btests.comparison import Comparison, GroupComparison

_EXAMPLES = """\b
Examples (the first writes the files of the others):
  btests compare --demo
  btests compare reference.csv current.csv --exclude amount --json
  btests compare current.csv --by shop --a north --b south --alpha 0.01
  btests compare current.csv --by shop --report shops.html
"""

# Suffixes of files that are no HTML pages.
_NO_PAGES = (".csv", ".docx", ".jpg", ".json", ".md", ".parquet", ".pdf", ".png", ".svg", ".txt", ".xlsx")

# What the command that repeats a comparison must not say: it is repeated from its beginning.
_UNSAID = ("checkpoint",)


@click.command(
    cls=GroupedCommand, groups=GROUPS, epilog=_EXAMPLES, short_help="Compare two tables, or groups of rows of one."
)
@flagged
def compare(
    *,
    tables: tuple[str, ...],
    as_json: bool,
    report: Path | None,
    force: bool,
    demo: bool,
    verbose: bool,
    fail_on: tuple[str, ...],
    config: Path | None,
    no_config: bool,
    **options: Any,
) -> None:
    """Test whether two tables, or groups of rows of one, differ, and report how much and where.

    A and B are files, folders or patterns of parts: CSV, TSV, JSON, also compressed, Parquet, Arrow, Feather, npy, npz;
    book.xlsx::sheet, file.db::table, file.zip::member.csv, file.npz::array; or - for standard input.

    The exit status is that of diff: 0 no difference found, 1 difference found (or what --fail-on says), 2 trouble.
    """
    if no_config and config is not None:
        raise click.UsageError("--config names a file and --no-config takes none; give one of them.")
    # The demonstration has columns of its own.
    filed, where = ({}, "") if no_config or (demo and config is None) else options_from(config)
    used = _fill(options, filed)
    if not fail_on and "fail_on" in filed:
        fail_on, used = filed["fail_on"], [*used, "fail-on"]
    _check(tables, options["by"], report, force, demo)
    _check_checkpoint(options["checkpoint"], tables, report)
    _check_options(options)
    with one_sentence(workers="--workers" if options["dask"] is None else "--dask"):
        from btests.comparison.fail_on import failed

        if demo:
            from btests.cli.demo import FILES, write_demo_tables

            write_demo_tables(Path(), force=force)
            tables = FILES
        found = _run(tables, options, fail_on)
        notes = [f"options from {printable(where)}: {', '.join(used)}"] if used else []
        found = replace(found, notes=(*found.notes, *notes))
        status = int(failed(found, fail_on) if fail_on else found.different)
        echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
        if report is not None:
            _write(found, report, force)  # after the answer: a full disk must not lose it
            if not as_json:
                echo(f"report      {printable(str(report))}")
        if fail_on and not as_json:
            echo(f"fail-on     {', '.join(map(printable, fail_on))}: {'holds' if status else 'does not hold'}")
        if verbose:
            _say_memory(found)
    raise click.exceptions.Exit(status)


def _fill(options: dict[str, Any], filed: Mapping[str, Any]) -> list[str]:
    """Take options of a file where the command has none, and return their flags without dashes."""
    context, used = click.get_current_context(), []
    for name, value in filed.items():
        # A cluster has an option of its own on the command line.
        own = "dask" if name == "workers" and isinstance(value, str) else name
        if own in options and context.get_parameter_source(own) is not click.core.ParameterSource.COMMANDLINE:
            options[own] = value
            used.append(flag(own)[2:])
    return used


def _check_checkpoint(checkpoint: str | None, tables: tuple[str, ...], report: Path | None) -> None:
    if checkpoint is not None and any(_holds(table, Path(checkpoint)) for table in tables):
        raise click.UsageError(f"--checkpoint {checkpoint!r} is one of the tables; name another file.")
    if checkpoint is not None and report is not None and Path(checkpoint).absolute() == report.absolute():
        raise click.UsageError(f"--checkpoint and --report are both {str(report)!r}; name two files.")


def _check(tables: tuple[str, ...], by: str | None, report: Path | None, force: bool, demo: bool) -> None:
    if demo and (tables or by is not None):
        raise click.UsageError("--demo writes and compares tables of its own; name none, and no --by.")
    if not tables and not demo:
        raise click.UsageError("Name two tables, btests compare a.csv b.csv, or try btests compare --demo.")
    if "" in tables:
        raise click.UsageError("A table has no name; name two files, btests compare a.csv b.csv.")
    if len(tables) > 2:
        raise click.UsageError(f"compare takes two tables, got {len(tables)}; quote a pattern, such as 'part-*.csv'.")
    if report is None:
        return
    if any(_holds(table, report) for table in tables):
        raise click.UsageError(f"--report {str(report)!r} is one of the tables that are compared; name another file.")
    if report.suffix.lower() in _NO_PAGES:
        raise click.UsageError(f"--report writes an HTML page; name it {str(report.with_suffix('.html'))!r}.")
    check_output(report, "--report", "report", force=force)


def _check_options(options: dict[str, Any]) -> None:
    if options["by"] is None and (options["value_a"] is not None or options["value_b"] is not None):
        raise click.UsageError("--a and --b are values of the column that --by names; name that too.")
    if options["workers"] is not None and options["dask"] is not None:
        raise click.UsageError("--workers starts a cluster and --dask names one; give one of them.")
    if options["dask"] == "":
        raise click.UsageError("--dask has no address; name that of a scheduler, tcp://host:8786.")
    check_budget(options)


def _holds(table: str, report: Path) -> bool:
    """Whether a file is a table, or one of the parts in a folder or of a pattern."""
    from btests.data.files import TABLES
    from btests.data.formats import file_of, is_stream

    if is_stream(table) or not report.exists():
        return False

    try:
        parts = TABLES.files(table)
    except (ValueError, OSError):  # which is said when the table is read
        return False
    return any(Path(file_of(part)).samefile(report) for part in parts)


def _run(tables: tuple[str, ...], options: dict[str, Any], fail_on: tuple[str, ...]) -> Comparison | GroupComparison:
    from btests.comparison import compare as run
    from btests.data.formats import is_stream
    from btests.data.remote import public

    given = {name: value for name, value in options.items() if name != "dask"}
    given["workers"] = options["workers"] or options["dask"]
    with watching() as (progress, report):
        found = run(tables[0], tables[1] if len(tables) > 1 else None, progress=progress, report=report, **given)
    if found.result.read != "at once":  # what is free changes, and with it the rows that are drawn
        options = {**options, "memory": found.details["settings"]["memory"]}
    named = tuple(map(public, tables))
    found.details["command"] = shlex.join(["btests", "compare", *_command(named, options, fail_on)])
    stream = next(filter(is_stream, tables), None)
    if stream is not None:
        where = "standard input" if stream == "-" else f"the pipe {printable(stream)}"
        found.details["command_note"] = f"One table was read from {where}; the command needs the same rows there."
    return replace(found, notes=tuple(map(as_flags, found.notes)))


def _command(tables: tuple[str, ...], options: dict[str, Any], fail_on: tuple[str, ...]) -> list[str]:
    """Return the arguments that repeat the comparison."""
    words, defaults = [], {own.name: own.default for own in compare.params}
    for name, value in options.items():
        if (
            name in _UNSAID
            or value is None
            or value is False
            or value == ()
            or (name != "seed" and defaults[name] == value)
        ):
            continue
        words.append(flag(name))
        if value is not True:
            words.append(join_names(value) if isinstance(value, tuple) else str(value))
    words += [word for condition in fail_on for word in ("--fail-on", condition)]
    # A file whose name begins like an option comes after two dashes.
    is_plain = all(table == "-" or not table.startswith("-") for table in tables)
    return [*tables, *words] if is_plain else [*words, "--", *tables]


def _write(found: Comparison | GroupComparison, report: Path, force: bool) -> None:
    try:
        found.to_html(report, force=force)
    except FileExistsError:  # it was not there a moment ago
        raise click.UsageError(already_there(report, "--report")) from None
    except OSError as error:
        raise ValueError(f"the report {str(report)!r} could not be written: {error.strerror}") from None


def _say_memory(found: Comparison | GroupComparison) -> None:
    peak = found.to_dict()["memory_bytes"]
    memory = "an unknown amount" if peak is None else f"at most {peak / 1e6:.0f} MB"
    say(f"{found.details['seconds']:.2f} s, {memory} of memory")
