"""Smaller inputs that lead to the same finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.calls import Call
from tests.fuzz.commands import Command
from tests.fuzz.files import File
from tests.fuzz.oracle import Outcome

Case = Command | Call

# Runs at most for one finding.
_MOST_RUNS = 80


def smaller(case: Case, outcome: Outcome, run: Callable[[Case], Outcome]) -> tuple[Case, Outcome]:
    """Return a case that is as small as a greedy search makes it, and its outcome, a finding of the same kind."""
    kind, n_runs = signature(outcome), 0
    if "no answer" in outcome.what:
        return case, outcome  # each run would take as long
    goes_on = True
    while goes_on and n_runs < _MOST_RUNS:
        goes_on = False
        for candidate in candidates(case):
            n_runs += 1
            found = run(candidate)
            if found.kind == "finding" and signature(found) == kind:
                case, outcome, goes_on = candidate, found, True
                break
            if n_runs >= _MOST_RUNS:
                break
    return case, outcome


def signature(outcome: Outcome) -> str:
    """Return what findings of one root cause share: the rule, and the last line of our code in the traceback."""
    places = re.findall(r'File "[^"]*?/(btests/[^"]*)", line (\d+)', outcome.detail)
    rule = re.sub(r"'.*'|\d+", "", outcome.what)
    return f"{rule} {places[-1] if places else ''}"


def candidates(case: Case) -> Iterator[Case]:
    """Yield cases that are a little smaller, the smallest steps last."""
    for k in range(len(case.options)):
        options = (*case.options[:k], *case.options[k + 1 :])
        yield replace(case, options=options)  # type: ignore[arg-type]
    if isinstance(case, Call):
        yield from _smaller_calls(case)
        return
    if case.is_real:
        yield replace(case, is_real=False)
    for k, file in enumerate(case.files):
        for less in _smaller_files(file):
            yield replace(case, files=(*case.files[:k], less, *case.files[k + 1 :]))


def _smaller_calls(call: Call) -> Iterator[Call]:
    if call.is_pictured:
        yield replace(call, is_pictured=False)
    for k, sample in enumerate(call.samples):
        steps = [replace(sample, n=sample.n // 2), replace(sample, n=sample.n - 1), replace(sample, d=sample.d - 1)]
        steps += [replace(sample, kind="normal"), replace(sample, container="array"), replace(sample, shift=0.0)]
        for less in steps:
            if less != sample and less.n >= 0 and less.d >= 0:
                yield replace(call, samples=(*call.samples[:k], less, *call.samples[k + 1 :]))


def _smaller_files(file: File) -> Iterator[File]:
    if file.n_parts:
        yield replace(file, n_parts=file.n_parts - 1 if file.n_parts > 1 else 0)
    for k, mutation in enumerate(file.mutations):
        before, after = file.mutations[:k], file.mutations[k + 1 :]
        yield replace(file, mutations=(*before, *after))
        half = mutation.payload[: len(mutation.payload) // 2]
        if half:
            yield replace(file, mutations=(*before, replace(mutation, payload=half), *after))
    if file.style:
        yield replace(file, style="")
    n = file.table.n_rows
    for start, stop in ((0, n // 2), (n // 2, n), (1, n)):
        if n > 1:
            yield replace(file, table=file.table.take(start, stop))
    for column in range(len(file.table.names)):
        if len(file.table.names) > 1:
            yield replace(file, table=file.table.without(column))
