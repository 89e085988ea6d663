"""Help of commands with many options: examples first, then the options in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

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
