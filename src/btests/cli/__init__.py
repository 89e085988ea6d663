"""Command-line interface: ``btests`` and its commands.

Nothing is imported here: a key pressed while packages are imported ends the command without a traceback.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes time to import

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 where it worked, 2 with one sentence on standard error where it did not.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words of the command; by default those of this process, whose interrupts are then handled, too.
    """
    from btests.cli.interrupts import leave_at_interrupt

    if arguments is None:
        leave_at_interrupt()
    from btests.cli.command_group import run

    raise SystemExit(run(arguments))
