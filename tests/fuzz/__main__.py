"""``python -m tests.fuzz``: run a campaign, or repeat one of its inputs."""

from __future__ import annotations

import time
from pathlib import Path

import click

from btests._core.threads import default_threads
from tests.fuzz.campaign import OUT, case_of, run
from tests.fuzz.commands import Command
from tests.fuzz.oracle import Outcome


@click.command()
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same seed, the same inputs.")
@click.option("-n", "n_inputs", type=click.IntRange(1), default=2000, show_default=True, help="Number of inputs.")
@click.option("--only", type=click.IntRange(0), default=None, help="Run this input alone, and show it.")
@click.option("--workers", type=click.IntRange(1), default=None, help="Processes; all cores by default.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=OUT, show_default=True)
def main(seed: int, n_inputs: int, only: int | None, workers: int | None, out: Path) -> None:
    """Run random inputs through every entry point; findings are saved in a folder, and the exit status is then 1."""
    numbers = range(n_inputs) if only is None else [only]
    began = time.perf_counter()

    def show(number: int, outcome: Outcome) -> None:
        if outcome.kind == "finding":
            click.echo(f"  {number}: {ascii(outcome.what)[1:-1]}   python -m tests.fuzz --seed {seed} --only {number}")

    tally = run(seed, numbers, min(len(numbers), workers or default_threads()), out=out, show=show)
    seconds = time.perf_counter() - began
    click.echo(f"{tally} ({seconds:.0f} s, {sum(tally.counts.values()) / seconds:.1f} a second)")
    if only is not None:
        case = case_of(seed, only)
        click.echo(ascii(case.arguments) if isinstance(case, Command) else case.source)
        for _, outcome in tally.findings.values():
            click.echo(ascii(outcome.detail).replace("\\n", "\n"))
    if tally.findings:
        click.echo(f"Findings, minimised, are in {out}")
    raise SystemExit(1 if tally.findings else 0)


if __name__ == "__main__":
    main()
