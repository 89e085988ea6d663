"""Options at the command line, lists of names, and commands whose help has groups of options."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

from btests._text import brief

#: What an option decorates: the function of a command.
Command = Callable[..., Any]


def _one_character(context: click.Context, option: click.Parameter, delimiter: str | None) -> str | None:
    """Return the delimiter, a tab where a shell passes a backslash and a t, or raise unless it is one character."""
    if delimiter == "\\t":  # as a shell passes it
        return "\t"
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise click.UsageError(f"--delimiter must be one ASCII character and no quote, got {delimiter!r}.")
    return delimiter


#: Options of every command that reads tables.
SEED = click.option(
    "--seed", metavar="NUMBER", type=click.IntRange(0), default=0, show_default=True, help="Of the random numbers."
)
DECIMAL = click.option(
    "--decimal",
    metavar="MARK",
    type=click.Choice([",", "."]),
    default=None,
    help="Before the fraction of a number in CSV files: . or , (which is found in files with --delimiter ';').",
)
ENCODING = click.option(
    "--encoding",
    metavar="NAME",
    default=None,
    help="Of CSV files, such as latin-1; UTF-8, UTF-16 and Latin-1 are found.",
)
DELIMITER = click.option(
    "--delimiter",
    metavar="MARK",
    callback=_one_character,
    default=None,
    help="Between the cells of CSV files, where it is not a comma.",
)
ALPHA = click.option(
    "--alpha",
    metavar="LEVEL",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Significance level of the verdict.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")


def names_option(name: str, details: str) -> Callable[[Command], Command]:
    """Return an option that takes names, whose help is ``details``; its value is a tuple of all of them."""
    metavar = "VALUES" if name == "--missing" else "NAMES"
    return click.option(name, metavar=metavar, multiple=True, callback=_all_names, help=details)


def _all_names(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(split_names(option.opts[0], texts))


def excluded_names(first: str) -> Callable[[Command], Command]:
    """Return ``--exclude`` for a command whose option ``first`` says how names are written."""
    return names_option("--exclude", f"Columns to exclude, written as in {first}.")


def cell_options() -> Callable[[Command], Command]:
    """Return ``--missing`` and ``--categories``."""
    texts = "Texts or numbers that stand for missing cells: -,-999."
    missing = names_option("--missing", texts)
    categories = names_option("--categories", "Columns of numbers that are codes, such as postal codes.")
    return lambda command: missing(categories(command))


def budget_option(details: str) -> Callable[[Command], Command]:
    """Return ``--budget``, whose help is ``details``."""
    return click.option("--budget", metavar="SECONDS", type=float, callback=_seconds, default=None, help=details)


def _seconds(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Return a positive number of seconds."""
    if value is not None and not 0.0 < value < math.inf:
        raise click.UsageError(f"{option.opts[0]} must be a positive number of seconds, got {value}.")
    return value


def block_size_option(details: str) -> Callable[[Command], Command]:
    """Return ``--block-size``, whose help is ``details``."""
    return click.option("--block-size", metavar="ROWS", callback=block_rows, default=None, help=details)


def check_budget(options: Mapping[str, Any]) -> None:
    """Raise if both a budget and a size of blocks are given."""
    if options["budget"] is not None and options["block_size"] not in (None, "auto"):
        raise click.UsageError("--budget is for the automatic block size; drop --block-size.")


def conditions(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return conditions of ``--fail-on``, checked."""
    if not texts:  # nothing to import
        return ()
    from btests.comparison.fail_on import check_fail_on

    try:
        return check_fail_on(texts)
    except ValueError as error:
        raise click.UsageError(f"{str(error).replace('fail_on', option.opts[0], 1)}.") from None


def split_names(option: str, texts: Iterable[str]) -> list[str]:
    r"""Return the names in all uses of an option: with commas between them, in double quotes where they hold one.

    Examples
    --------
    >>> split_names("--columns", ["size, colour", '"a,b"', '"2"" wide"'])
    ['size', 'colour', 'a,b', '2" wide']
    """
    names: list[str] = []
    for text in texts:
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True))
        except csv.Error:
            raise click.UsageError(
                f"{option} {text!r} has a quote that does not fit; a name with a comma or a quote is "
                f"""written '"a,b"', and a quote inside it twice."""
            ) from None
        found = [name for row in rows for name in row]
        if not found or any(name == "" and '""' not in text for name in found):
            raise click.UsageError(f"{option} {text!r} has a name without letters; commas go between names.")
        names += found
    return names


def join_names(names: Sequence[str]) -> str:
    r"""Return names as one text that ``split_names`` reads.

    Examples
    --------
    >>> print(join_names(["size", "a,b", '2" wide', " x"]))
    size,"a,b","2"" wide"," x"
    """
    return ",".join(_quoted(name) for name in names)


def _quoted(name: str) -> str:
    is_plain = name != "" and name == name.lstrip() and not set(name) & set(',"\r\n')
    return name if is_plain else '"' + name.replace('"', '""') + '"'


# Other names of options that people type first.
_SYNONYMS = {
    **dict.fromkeys(("--level", "--significance", "--significance-level"), "--alpha"),
    **dict.fromkeys(("--cols", "--column"), "--columns"),
    **dict.fromkeys(("--ignore", "--drop", "--skip"), "--exclude"),
    **dict.fromkeys(("-o", "--output", "--html"), "--report"),
    **dict.fromkeys(("--sep", "--separator"), "--delimiter"),
    **dict.fromkeys(("--group-by", "--groupby"), "--by"),
    **dict.fromkeys(("--rng", "--random-state"), "--seed"),
    "-v": "--verbose",
}


def by_their_names(words: Sequence[str]) -> list[str]:
    """Return the words of a command with the names of options in place of others that people guess.

    Examples
    --------
    >>> by_their_names(["compare", "a.csv", "b.csv", "--level=0.01", "-o", "page.html"])
    ['compare', 'a.csv', 'b.csv', '--alpha=0.01', '--report', 'page.html']
    >>> by_their_names(["demo", "-o", "blobs.png"]), by_their_names(["-v"])
    (['demo', '--out', 'blobs.png'], ['--version'])
    """
    if list(words[:1]) in (["-v"], ["-V"]):
        return ["--version", *words[1:]]
    end = words.index("--") if "--" in words else len(words)
    own = {} if words[:1] == ["compare"] else dict.fromkeys(("-o", "--output"), "--out")
    found = []
    for word in words[:end]:
        name, mark, value = word.partition("=")
        found.append({**_SYNONYMS, **own}.get(name, name) + mark + value)
    return [*found, *words[end:]]


def block_rows(context: click.Context, option: click.Parameter, text: str | None) -> int | str | None:
    """Return the size of a block, a number, ``sqrt`` or ``auto``."""
    if text in (None, "auto", "sqrt"):
        return text
    if not (re.fullmatch("[0-9]{1,18}", text) and int(text) >= 2):  # int() takes no text of 4301 digits
        what = "a whole number of at least 2, of 18 digits at most, sqrt or auto"
        raise click.UsageError(f"--block-size must be {what}, got {brief(text)}.")
    return int(text)


def row_share(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """Return a share of the rows, 5% or 0.05, as a number."""
    from btests._option_checks import share_of

    try:
        return None if text is None else share_of(option.opts[0], text)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None


# Widest first column, of names and values.
_WIDEST = 24


class GroupedCommand(click.Command):
    """A command whose help has its examples before its options, which are in groups.

    Parameters
    ----------
    groups : mapping
        Titles of groups, and the names of their options; options of no group are in the last one.
    """

    def __init__(self, *arguments: Any, groups: Mapping[str, Sequence[str]], **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.groups = groups

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write usage, text, examples and options."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_epilog(ctx, formatter)
        self.format_options(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each group under its title."""
        options = [own for own in self.get_params(ctx) if isinstance(own, click.Option)]
        records = {own.name: own.get_help_record(ctx) for own in options}
        placed = {name for names in self.groups.values() for name in names}
        *titles, last = self.groups
        rest = [*self.groups[last], *(str(name) for name in records if name not in placed)]
        for title, names in [*((title, self.groups[title]) for title in titles), (last, rest)]:
            found = [record for name in names if (record := records.get(name)) is not None]
            with formatter.section(title):
                formatter.write_dl(found, col_max=_WIDEST)
