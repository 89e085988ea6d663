"""The group of all commands, and the status and the sentence with which they end.

Commands import what they need when they run, so that ``btests --help`` answers at once.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

import click

from btests import __version__
from btests._text import close_match
from btests.cli.compare_command import compare
from btests.cli.demo_command import demo
from btests.cli.independence_command import independence
from btests.cli.interrupts import leave_at_interrupt, raise_at_interrupt
from btests.cli.options import by_their_names
from btests.cli.terminal import as_flags, echo, say, warnings_as_sentences

_EXAMPLES = """\b
Examples:
  btests compare --demo
  btests reference.csv current.csv
  btests independence reference.csv --x amount --y items
  btests demo --rows 5000 --seed 7 --out blobs.svg
  btests demo --json --force
  btests help demo
  btests --version
"""


@click.group(
    invoke_without_command=True,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def commands(context: click.Context) -> None:
    """Tell whether two data sets come from the same distribution, and how sure that is."""
    if context.invoked_subcommand is None:
        echo(context.get_help())


@commands.command("help")
@click.argument("command", required=False)
@click.pass_context
def show_help(context: click.Context, command: str | None) -> None:
    """Show the help of a command."""
    above = context.parent
    assert above is not None, "a subcommand has a parent"
    if command is None:
        echo(above.get_help())
        return
    found = commands.get_command(above, command)
    if found is None:
        names = ", ".join(commands.list_commands(above))
        raise click.UsageError(f"There is no command {command!r}; there are {names}.")
    with click.Context(found, info_name=command, parent=above) as inner:
        echo(found.get_help(inner))


commands.add_command(compare)
commands.add_command(demo)
commands.add_command(independence)


def _completed(arguments: Sequence[str] | None) -> list[str]:
    """Return the arguments with ``compare`` before two files that no command precedes, and options by their names."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    first = words[0] if words else ""
    is_table = first == "-" or os.path.exists(first) or any(mark in first for mark in "./*")
    if first and first not in commands.commands and is_table:
        words.insert(0, "compare")
    return by_their_names(words)


def run(arguments: Sequence[str] | None) -> int:
    """Run a command, and return its status: 2 with one sentence where it did not work, 130 where it was interrupted."""
    alone = arguments is None
    try:
        if alone:
            raise_at_interrupt()
        status = _run(_completed(arguments))
        if alone:
            leave_at_interrupt()
    except (click.Abort, KeyboardInterrupt) as error:
        if alone:
            leave_at_interrupt()
        advice = as_flags(str(error.__cause__ or error))  # click wraps the exception that says how to resume
        say(f"stopped{'; ' * bool(advice)}{advice}.")
        return 130
    return status


def _run(words: list[str]) -> int:
    if sys.stdout is None:  # as it is where the shell closed it, >&-: 0 and 1 would be unread answers
        say("standard output is closed, and has no place for an answer.")
        return 2
    try:
        with warnings_as_sentences(as_flags):
            status = commands.main(words, prog_name="btests", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        message = re.sub("valid float( range)?", "number", error.format_message())
        message = re.sub("valid integer( range)?", "whole number", message)
        if message.startswith("No such command"):
            like = close_match(words[0], commands.commands)
            if like is not None and "Did you mean" not in message:  # click 8.1 has no such advice
                message += f" Did you mean {like!r}?"
            message += (
                f" There are {', '.join(sorted(commands.commands))}; two files are compared by "
                "btests compare a.csv b.csv, and in Python by btests.compare(a, b)."
            )
        say(message)
        return 2
    except BrokenPipeError:
        # The reader went away (``btests demo | head -1``): nothing more to say, and nothing left to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # The status that shells give a command that a closed pipe ends: 0 and 1 are answers of a comparison.
        return 141
    except OSError as error:
        where = "" if error.filename is None else f": {error.filename!r}"
        say(f"{error.strerror or error}{where}.")
        return 2
    return status if isinstance(status, int) else 0
