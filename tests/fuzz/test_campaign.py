"""Random inputs lead to a verdict or to a refusal of one line, and the campaign notices what does not."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from btests._core.threads import default_threads
from tests.fuzz.calls import Call
from tests.fuzz.campaign import Worker, case_of, run, save, workers
from tests.fuzz.commands import Command
from tests.fuzz.files import FORMS, File, Mutation, random_mutation
from tests.fuzz.minimise import smaller
from tests.fuzz.oracle import BrokenRuleError, Outcome, check_message, check_pvalue, judge_command, strict_json
from tests.fuzz.samples import Rows
from tests.fuzz.tables import Table
from tests.fuzz.worker import check_files

SMALL = Table(("u", "v"), (tuple(range(12)), tuple("ab" * 6)))

pytestmark = pytest.mark.skipif(os.name != "posix", reason="workers are watched by select")


def campaign(seed: int, numbers: range, n_workers: int) -> None:
    """Run a campaign that must find nothing, and reach a verdict on half of its inputs."""
    tally = run(seed, numbers, n_workers)
    print(tally)
    repeat = [
        f"{outcome.what}: python -m tests.fuzz --seed {seed} --only {k}" for k, (_, outcome) in tally.findings.items()
    ]
    assert not repeat, "\n".join(repeat)
    assert tally.verdict_share >= 0.5


def test_a_few_inputs() -> None:
    campaign(1, range(200), 1)


def test_many_inputs() -> None:
    campaign(1, range(200, 2000), default_threads())


def test_inputs_repeat_by_their_number() -> None:
    for number in range(50):
        assert repr(case_of(7, number)) == repr(case_of(7, number))
    assert len({repr(case_of(7, number)) for number in range(50)}) == 50


@pytest.mark.parametrize("form", FORMS)
def test_files_of_every_format(form: str, tmp_path: Path) -> None:
    File(f"a.{form}", SMALL, form).write(tmp_path)
    File("parts", SMALL, form, n_parts=3).write(tmp_path)
    assert (tmp_path / f"a.{form}").stat().st_size > 0
    assert len(list((tmp_path / "parts").iterdir())) == 3


def test_mutations_change_bytes() -> None:
    data = bytes(range(200))
    assert Mutation("cut", 0.5, b"").apply(data) == data[:100]
    assert Mutation("insert", 0.5, b"xy").apply(data) == data[:100] + b"xy" + data[100:]
    assert Mutation("delete", 0.5, b"xy").apply(data) == data[:100] + data[102:]
    assert Mutation("repeat", 0.5, b"xy").apply(data) == data[:102] + data[100:]
    assert Mutation("replace", 0.5, b"xy").apply(data) == data[:100] + b"xy" + data[102:]
    rng = random.Random(0)
    assert all(isinstance(random_mutation(rng).apply(data), bytes) for _ in range(200))


@pytest.mark.parametrize(
    ("status", "out", "err"),
    [
        (3, "", ""),
        (1, "", "Traceback (most recent call last):\n"),
        (2, "", "btests: two\nlines.\n"),
        (2, "", "btests: \x1b[31mred.\n"),
        (2, "", "no.\n"),
        (2, "verdict", "btests: no.\n"),
        (0, '{"pvalue": 0.0}', ""),
        (0, '{"pvalue": NaN}', ""),
        (0, '{"verdict": {"different": true}}', ""),
        (0, "verdict \x1b[0m", ""),
        (0, "", "RuntimeWarning: overflow\n"),
    ],
)
def test_the_oracle_of_commands(status: int, out: str, err: str) -> None:
    with pytest.raises(BrokenRuleError):
        judge_command(Command((), ("compare",), (("--json",),) if out.startswith("{") else ()), status, out, err)


def test_the_oracle_of_values() -> None:
    for pvalue in (0.0, 1.5, float("nan"), "1", True, None):
        with pytest.raises(BrokenRuleError):
            check_pvalue(pvalue)
    for message in ("", "a\nb", "\x00", "x" * 20_000, "This should not happen: KeyError."):
        with pytest.raises(BrokenRuleError):
            check_message(message)
    with pytest.raises(BrokenRuleError):
        strict_json("{")


def test_the_oracle_of_files() -> None:
    command = Command((), ("compare", "a", "b"), (("--report", "p.html"),))
    check_files(command, {"a": b"1"}, {"a": b"1", "p.html": b"page"})
    for after in ({"a": b"2"}, {}, {"a": b"1", "q.html": b"page"}):
        with pytest.raises(BrokenRuleError):
            check_files(command, {"a": b"1"}, after)
    with pytest.raises(BrokenRuleError):
        check_files(command, {"p.html": b"mine"}, {"p.html": b"page"})
    check_files(replace(command, options=(*command.options, ("--force",))), {"p.html": b"mine"}, {"p.html": b"page"})


def test_hangs_crashes_and_foreign_exceptions_are_found() -> None:
    sample = (Rows(8, 1, 0),)
    with workers(1) as (worker,):
        assert worker.run(Call("btest", sample * 2)).kind == "verdict"
        hang = Call("(lambda x: [__import__('time').sleep(9)])", sample)
        assert worker.run(hang, 1.0).what == "no answer after 1 s"
        crash = Call("(lambda x: __import__('os').abort())", sample)
        assert worker.run(crash).what == "the process ended with status -6"
        assert worker.run(Call("(lambda x: {}[0])", sample)).what == "an exception of KeyError"
        greedy = Call("(lambda x: [np.ones(10**8), btest(x, x)][1])", sample)
        assert worker.run(greedy).what == "more than 500 MB of memory"
        warns = Call("(lambda x: [np.float64(1.0) / 0.0, btest(x, x)][1])", sample)
        assert worker.run(warns).what.startswith("a warning that is not ours")


def test_findings_are_minimised_and_saved(tmp_path: Path) -> None:
    files = (File("a.csv", SMALL, "csv", "crlf", (Mutation("cut", 0.9, b""),)), File("b.csv", SMALL, "csv"))
    case = Command(files, ("compare", "a.csv", "b.csv"), (("--json",), ("--seed", "1"), ("--alpha", "x")))

    def finds(candidate: Command | Call) -> Outcome:
        bad = isinstance(candidate, Command) and candidate.has("--alpha") and "u" in candidate.files[0].table.names
        return Outcome("finding", "status 7") if bad else Outcome("verdict")

    found, outcome = smaller(case, finds(case), finds)
    assert isinstance(found, Command)
    assert found.options == (("--alpha", "x"),)
    assert found.files[0] == File("a.csv", Table(("u",), found.files[0].table.columns), "csv")
    assert found.files[0].table.n_rows == 1
    folder = save(found, outcome, 5, 17, tmp_path)
    assert "python -m tests.fuzz --seed 5 --only 17" in (folder / "finding.txt").read_text()
    assert (folder / "files" / "a.csv").read_text() == "u\n0\n"


def test_a_worker_that_was_killed_is_started_anew() -> None:
    with workers(1) as (worker,):
        assert isinstance(worker, Worker)
        call = Call("btest", (Rows(8, 1, 0), Rows(8, 1, 1)))
        assert worker.run(call).kind == "verdict"
        worker.close()
        assert worker.run(call).kind == "verdict"
