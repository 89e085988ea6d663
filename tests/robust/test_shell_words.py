"""Messages of the shell name its options, and no Python where there is an option."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from btests.cli import main
from btests.cli.terminal import as_flags

# An argument, a call or a parameter of Python.
_PYTHON = re.compile(r"\b[a-z_]+=(True|False|None|[A-Z]\w*\(|'|\d)|\b[A-Z]\w+\(|\bblock_size\b|\bmax_rows\b|`")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write tables of a few rows, with units that both have."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, n in (("a", 12), ("b", 12), ("long", 400), ("odd", 17)):
        rows = [f"{rng.normal():.3f},{rng.choice(['x', 'y'])},c{i // 2}" for i in range(n)]
        Path(f"{name}.csv").write_text("\n".join(["u,v,who", *rows]) + "\n", encoding="utf-8")
    return tmp_path


def _said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    notes = re.findall(r"^note .*?(?=^\w|\Z)", out, re.MULTILINE | re.DOTALL)
    return stop.value.code, " ".join(" ".join([err, *notes]).split())


_COMPARE_NULLS = (
    *("sign-flip", "normal", "third-cumulant", "cross-mmd"),
    *("permutation", "spectrum", "gamma", "pearson"),
)


@pytest.mark.parametrize("null", _COMPARE_NULLS)
@pytest.mark.parametrize("more", [[], ["--block-size", "5"], ["--block-size", "12"], ["--budget", "2"]], ids=" ".join)
def test_compare(folder: Path, capsys: pytest.CaptureFixture[str], null: str, more: list[str]) -> None:
    for b in ("b.csv", "odd.csv"):
        status, said = _said(capsys, "compare", "a.csv", b, "--null", null, "--exclude", "who", *more)
        assert status in (0, 1, 2)
        assert not _PYTHON.search(said), said
        assert said or status != 2


@pytest.mark.parametrize("null", ["swap", "normal", "pearson", "permutation"])
@pytest.mark.parametrize("more", [[], ["--block-size", "4"], ["--block-size", "12"]], ids=" ".join)
def test_independence(folder: Path, capsys: pytest.CaptureFixture[str], null: str, more: list[str]) -> None:
    for x in (["--x", "u"], ["--all-pairs"]):
        status, said = _said(capsys, "independence", "a.csv", *x, "--exclude", "who", "--null", null, *more)
        assert status in (0, 1, 2)
        assert not _PYTHON.search(said), said


def test_units_in_both_samples(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = _said(capsys, "compare", "a.csv", "odd.csv", "--unit", "who")
    assert status == 2
    assert "with btests.btest(..., paired=True) in Python" in said


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("take null=SignFlip()", "take --null sign-flip"),
        ("Permutation(n_resamples=1000) needs 3 GB", "--null permutation needs 3 GB"),
        ("ExactMoments(skewed=False) is", "--null normal is"),
        ("a B-test with block_size=64 and null=SignFlip()", "a B-test with --block-size 64 and --null sign-flip"),
        ("take a smaller block_size", "take a smaller --block-size"),
        ("block_size='sqrt' needs", "--block-size sqrt needs"),
        ("there is no column 'null=SignFlip()'", "there is no column 'null=SignFlip()'"),
        ("Holm's method, block_size=3, and it's so", "Holm's method, --block-size 3, and it's so"),
        ('a cell "it\'s `common=True`" is text', 'a cell "it\'s `common=True`" is text'),
        ("SignFlip(ties='midp') is not", "SignFlip(ties='midp') is not"),
    ],
)
def test_words(message: str, told: str) -> None:
    assert as_flags(message) == told


def test_swaps_are_named_as_the_command_names_them() -> None:
    assert as_flags("take null=SignFlip()", "swap") == "take --null swap"
