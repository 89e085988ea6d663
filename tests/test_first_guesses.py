"""What people type before they read anything: each works, or the error shows what would."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import btests
from btests import btest, compare, energy_test, independence_test, ksample_test

_RNG = np.random.default_rng(3)
X = _RNG.normal(size=(60, 2))
Y = _RNG.normal(0.8, 1.0, size=(60, 2))
A = pd.DataFrame({"amount": X[:, 0], "paid": np.where(X[:, 1] > 0, "card", "cash")})
B = pd.DataFrame({"amount": Y[:, 0], "paid": np.where(Y[:, 1] > 0, "card", "cash")})
BOTH = pd.concat([A.assign(shop="north"), B.assign(shop="south")], ignore_index=True)

WORKING: dict[str, Callable[[], Any]] = {
    "rows and columns": lambda: btest(X, Y, seed=0).pvalue < 0.05,
    "vectors": lambda: btest(X[:, 0], Y[:, 0], seed=0).pvalue < 0.05,
    "lists": lambda: btest(X.tolist(), Y.tolist(), seed=0).pvalue < 0.05,
    "frames": lambda: btest(A[["amount"]], B[["amount"]], seed=0).pvalue < 0.05,
    "unpacking": lambda: len(tuple(btest(X, Y, seed=0))) == 2,
    "rng, a number": lambda: btest(X, Y, rng=5).seed == 5,  # type: ignore[call-arg]
    "rng, a generator": lambda: btest(X, Y, rng=np.random.default_rng(1)).seed > 0,  # type: ignore[call-arg]
    "random_state": lambda: btest(X, Y, random_state=5).seed == 5,  # type: ignore[call-arg]
    "a RandomState": lambda: btest(X, Y, random_state=np.random.RandomState(1)).seed > 0,  # type: ignore[call-arg]
    "a SeedSequence": lambda: btest(X, Y, rng=np.random.SeedSequence(1)).seed > 0,  # type: ignore[call-arg]
    "a generator as seed": lambda: btest(X, Y, seed=np.random.default_rng(1)).seed > 0,  # type: ignore[arg-type]
    "the same generator twice": lambda: (
        btest(X, Y, rng=np.random.default_rng(1)) == btest(X, Y, rng=np.random.default_rng(1))  # type: ignore[call-arg]
    ),
    "rbf": lambda: btest(X, Y, kernel="rbf", seed=0) == btest(X, Y, kernel="gaussian", seed=0),
    "energy": lambda: energy_test(X, Y, rng=0).pvalue < 0.05,
    "permutation": lambda: btest(X, Y, null="permutation", seed=0).pvalue < 0.05,
    "independence with rng": lambda: independence_test(X[:, 0], X[:, 1], rng=0).pvalue > 0.0,  # type: ignore[call-arg]
    "k samples with rng": lambda: ksample_test(X, Y, X, rng=0).pvalue < 0.05,  # type: ignore[call-arg]
    "compare": lambda: compare(A, B, seed=0).different,
    "compare with rng": lambda: compare(A, B, rng=0).different,  # type: ignore[call-overload]
    "compare by, as in the shell": lambda: compare(BOTH, by="shop", a="north", b="south", seed=0).different,  # type: ignore[call-overload]
    "compare by value_a": lambda: compare(BOTH, by="shop", value_a="north", value_b="south", seed=0).different,
    "compare by keywords": lambda: compare(a=A, b=B, seed=0).different,
    "a column": lambda: compare(A, B, seed=0)["amount"].changed,
    "to_frame": lambda: set(compare(A, B, seed=0).to_frame()["name"]) == {"amount", "paid"},
    "to_json": lambda: json.loads(compare(A, B, seed=0).to_json())["verdict"]["different"],
    "groups to_frame": lambda: len(compare(BOTH, by="shop", seed=0).to_frame()) == 2,
    "interval": lambda: btest(X, Y, seed=0).confidence_interval(0.9).low < 1.0,
    "effect of the tables": lambda: 0.0 < compare(A, B, seed=0)["amount"].effect <= compare(A, B, seed=0).effect <= 1.0,
    "stream with rng": lambda: btests.Stream("energy", rng=3) is not None,  # type: ignore[call-arg]
    "public names": lambda: not [name for name in dir(btests) if name.startswith("_")],
    "version": lambda: bool(btests.__version__),
}


@pytest.mark.parametrize("guess", WORKING)
def test_works(guess: str) -> None:
    assert WORKING[guess]()


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "alpha": (lambda: btest(X, Y, alpha=0.05), TypeError, r"result\.rejects\(0\.05\)"),  # type: ignore[call-arg]
    "n_permutations": (lambda: btest(X, Y, n_permutations=99), TypeError, "n_resamples"),  # type: ignore[call-arg]
    "sigma": (lambda: btest(X, Y, sigma=1.0), TypeError, r"kernel=Gaussian\(bandwidth=1\.0\)"),  # type: ignore[call-arg]
    "gamma": (lambda: btest(X, Y, gamma=1.0), TypeError, r"\(2 gamma\)\^-1/2"),  # type: ignore[call-arg]
    "n_jobs": (lambda: btest(X, Y, n_jobs=2), TypeError, "n_threads"),  # type: ignore[call-arg]
    "axis": (lambda: btest(X, Y, axis=1), TypeError, "rows are observations"),  # type: ignore[call-arg]
    "a typing error": (lambda: btest(X, Y, kernal="rbf"), TypeError, "did you mean kernel"),  # type: ignore[call-arg]
    "no such argument": (lambda: btest(X, Y, zzz=1), TypeError, "there are block_exponent"),  # type: ignore[call-arg]
    "seed and rng": (lambda: btest(X, Y, seed=1, rng=2), TypeError, "and not both"),  # type: ignore[call-arg]
    "rng, a text": (lambda: btest(X, Y, rng="a"), TypeError, "numpy Generator, got 'a'"),  # type: ignore[call-arg]
    "rng below 0": (lambda: btest(X, Y, rng=-1), ValueError, "at least 0"),  # type: ignore[call-arg]
    "a kernel's name": (lambda: btest(X, Y, kernel="gaussain"), ValueError, "did you mean 'gaussian'"),
    "a null's name": (lambda: btest(X, Y, null="permutations"), ValueError, "did you mean 'permutation'"),
    "level of compare": (lambda: compare(A, B, level=0.1), TypeError, "did you mean alpha"),  # type: ignore[call-overload]
    "cols": (lambda: compare(A, B, cols=["amount"]), TypeError, "did you mean columns"),  # type: ignore[call-overload]
    "ignore": (lambda: compare(A, B, ignore="amount"), TypeError, "did you mean exclude"),  # type: ignore[call-overload]
    "drop": (lambda: compare(A, B, drop="amount"), TypeError, "did you mean exclude"),  # type: ignore[call-overload]
    "groupby": (lambda: compare(BOTH, groupby="shop"), TypeError, "did you mean by"),  # type: ignore[call-overload]
    "threshold": (lambda: compare(A, B, threshold=0.1), TypeError, "did you mean tolerance"),  # type: ignore[call-overload]
    "output": (lambda: compare(A, B, output="page.html"), TypeError, r"found\.to_html"),  # type: ignore[call-overload]
    "a page as report": (lambda: compare(A, B, report="page.html"), TypeError, r"found\.to_html"),  # type: ignore[call-overload]
    "labels": (lambda: ksample_test(X, Y, labels=["a", "b"]), TypeError, "did you mean names"),  # type: ignore[call-arg]
    "method of independence": (
        lambda: independence_test(X, Y, test="dcov"),  # type: ignore[call-arg]
        TypeError,
        "did you mean statistic",
    ),
    "alpha of a stream": (lambda: btests.Stream(alpha=0.05), TypeError, r"Stream\(\).*rejects"),  # type: ignore[call-arg]
    "window": (lambda: btests.SequentialTest(window=9), TypeError, "did you mean window_size"),  # type: ignore[call-arg]
    "alpha of a sequential test": (
        lambda: btests.SequentialTest(alpha=0.05),  # type: ignore[call-arg]
        TypeError,
        r"SequentialTest\(\).*rejects",
    ),
    "no such column": (lambda: compare(A, B, seed=0)["amuont"], KeyError, "did you mean 'amount'"),
    "truth": (lambda: bool(compare(A, B, seed=0)), TypeError, r"found\.different"),
    "compare, a column": (lambda: compare(BOTH, by="shp"), ValueError, "shop"),
    "kind of plot": (lambda: btest(X, Y, seed=0).plot(kind="null distribution"), ValueError, "'null' or 'blocks'"),
}


@pytest.mark.parametrize("guess", REFUSED)
def test_error_shows_what_works(guess: str) -> None:
    call, kind, fragment = REFUSED[guess]
    with pytest.raises(kind, match=fragment):
        call()


COMMANDS: dict[str, tuple[int, str]] = {
    "a.csv b.csv": (1, "differ"),
    "compare a.csv b.csv": (1, "differ"),
    "compare a.csv a.csv": (0, "are identical."),
    "both.csv --by shop --a north --b south": (1, "differ"),
    "compare a.csv b.csv --json": (1, '"schema"'),
    "help": (0, "compare"),
    "--version": (0, "btests"),
    "-v": (0, "btests"),
    "a.csv b.csv --level 0.01 --cols amount": (1, "at level 0.01"),
    "a.csv b.csv --drop paid -v": (1, "excluded    'paid'"),
    "a.csv b.csv --ignore=paid -o words.html": (1, "words.html"),
    "a.csv b.csv --sep ,": (1, "differ"),
    "compre a.csv b.csv": (2, "Did you mean 'compare'"),
    "compare a.csv b.csv --sed 3": (2, "--seed"),
    "compare a.csv c.csv": (2, "no file 'c.csv'"),
    "compare a.csv": (2, "two"),
    "compare a.csv b.csv --report page.pdf": (2, ".html"),
    "both.csv --by shp": (2, "shop"),
    "both.csv --by shop --a nort --b south": (2, "north"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("guesses")
    for name, table in (("a", A), ("b", B), ("both", BOTH)):
        table.to_csv(place / f"{name}.csv", index=False)
    return place


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command: str, folder: Path) -> None:
    status, fragment = COMMANDS[command]
    done = subprocess.run(
        [sys.executable, "-m", "btests", *command.split()], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, fragment in done.stdout + done.stderr) == (status, True), done.stdout + done.stderr
