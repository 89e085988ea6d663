"""The same rows lead to the same result by every route, to the last bit, or to rounding with the plain loops."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import btests
from btests import (
    HSIC,
    MMD,
    Aggregate,
    BTestWarning,
    CrossMMD,
    CrossValidation,
    Energy,
    FisherFamily,
    Gaussian,
    KernelFisher,
    KernelPair,
    Laplacian,
    MaxRatio,
    PartialResult,
    Polynomial,
    Stream,
    Weights,
    WithReplacement,
    btest,
    fisher_family,
    independence_test,
)
from btests.execution import checkpoint, out_of_core
from tests.fuzz.routes import IN_CHUNKS, IN_MEMORY, AnyRows, frame, table
from tests.same import assert_same

RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(150, 3)), RNG.normal(0.2, 1.2, size=(131, 3))

#: Options of two-sample tests by name.
PROCEDURES: dict[str, dict[str, Any]] = {
    "default, one block with Fisher discriminants": {},
    "default, many blocks": {"block_size": 20},
    "fisher family": {"kernel": Aggregate(fisher_family()), "block_size": 40},
    "KernelFisher": {"kernel": Gaussian(1.0), "statistic": KernelFisher},
    "KernelFisher of a family": {"kernel": Aggregate([Gaussian(1.0), Laplacian(2.0)]), "statistic": KernelFisher},
    "selection": {"kernel": Weights(), "block_size": 10},
    "ratio": {"kernel": MaxRatio(), "block_size": 10},
    "cross-validation": {"kernel": CrossValidation(), "block_size": 10},
    "aggregate by ranks": {"kernel": Aggregate([Gaussian(0.5), Energy()], correction="rank", weights=[1.0, 2.0])},
    "aggregate by p-values": {
        "kernel": Aggregate([Gaussian(0.5), Laplacian(1.0)], correction="pvalue"),
        "block_size": 9,
    },
    "median": {"kernel": "laplacian"},
    "normal": {"null": "normal"},
    "cross": {"null": CrossMMD(), "block_size": 20},
    "paired": {"paired": True},
    "float32": {"kernel": Gaussian(1.0), "dtype": "float32"},
}
OF_ONE_LENGTH = ("cross", "paired")
HSICS: dict[str, dict[str, Any]] = {
    "default": {},
    "blocks": {"block_size": 20},
    "dcov": {"statistic": "dcov"},
    "normal": {"null": "normal", "block_size": 30},
    "list": {"kernel_x": [Gaussian(1.0), Laplacian(1.0)], "kernel_y": "energy"},
}


@pytest.fixture(autouse=True)
def small_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in an empty folder, with chunks of a few rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(out_of_core, "CHUNK_BYTES", 2**10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BTestWarning)
        yield


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("name", PROCEDURES)
def test_two_samples(name: str, scale: bool) -> None:
    x, y = (X[: len(Y)], Y) if name in OF_ONE_LENGTH else (X, Y)
    options: dict[str, Any] = {"seed": 4, "scale": scale, **PROCEDURES[name]}
    wanted = btest(x, y, **options)
    for k, route in enumerate((IN_MEMORY | IN_CHUNKS).values()):
        assert_same(btest(route(x, "x"), route(y, "y"), n_threads=1 + k % 2, **options), wanted)
    for route in IN_CHUNKS.values():
        assert_same(btest(x, route(y, "y"), n_threads=2, **options), wanted)


def test_blocks_that_are_drawn() -> None:
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "statistic": WithReplacement, "block_size": 20, "seed": 4}
    wanted = btest(X[:131], Y, **options)
    for route in IN_MEMORY.values():
        assert_same(btest(route(X[:131], "x"), route(Y, "y"), scale=False, **options), wanted)


@pytest.mark.parametrize("family", [fisher_family(), FisherFamily([Polynomial(2)])], ids=str)
def test_features_of_wide_rows(family: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Their kernel values are matrix products, whose last bits depend on the number of rows.
    x, y = RNG.normal(size=(150, 60)), RNG.normal(size=(131, 60))
    paths = [IN_CHUNKS["npy"](rows, name) for rows, name in ((x, "x"), (y, "y"))]
    wanted = btest(x, y, kernel=Aggregate(family), block_size=9, seed=4)
    for size in (2**10, 2**13, 2**17):
        monkeypatch.setattr(out_of_core, "CHUNK_BYTES", size)
        assert_same(btest(*paths, kernel=Aggregate(family), block_size=9, seed=4), wanted)


@pytest.mark.parametrize("name", HSICS)
def test_independence(name: str) -> None:
    x, y = X[:120], Y[:120, :2]
    options: dict[str, Any] = {"seed": 4, "scale": False, **HSICS[name]}
    wanted = independence_test(x, y, **options)
    for k, route in enumerate((IN_MEMORY | IN_CHUNKS).values()):
        assert_same(independence_test(route(x, "x"), route(y, "y"), n_threads=1 + k % 2, **options), wanted)


def test_columns_in_another_order() -> None:
    other = frame(Y)[["c2", "c0", "c1"]]
    wanted = btest(frame(X), frame(Y), seed=4)
    assert_same(btest(frame(X), other, seed=4), wanted)
    other.to_csv("y.csv", index=False)
    assert_same(btest(IN_CHUNKS["parquet"](X, "x"), "y.csv", seed=4), wanted)


@pytest.mark.parametrize("name", list(PROCEDURES)[:5])
def test_a_run_that_resumes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "_SECONDS", 0.0)
    paths = [IN_CHUNKS["parquet"](rows, where) for rows, where in ((X, "x"), (Y, "y"))]
    options: dict[str, Any] = {"seed": 4, "scale": False, **PROCEDURES[name]}

    def stop(done: int, of: int) -> None:
        if done > of // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        btest(*paths, checkpoint="run.npz", progress=stop, **options)
    assert_same(btest(*paths, checkpoint="run.npz", **options), btest(X, Y, **options))


WEIGHTS = np.exp(RNG.normal(size=len(X))), np.exp(RNG.normal(size=len(Y)))
UNITS = RNG.integers(0, 40, len(X)), RNG.integers(40, 80, len(Y))
FRAMES: list[Callable[[Any], Any]] = [lambda own: own, pl.from_pandas]


@pytest.mark.parametrize("of", FRAMES, ids=["pandas", "polars"])
def test_weights_and_units_by_name(of: Callable[[Any], Any]) -> None:
    x, y = (frame(rows).assign(w=w, u=u) for rows, w, u in zip((X, Y), WEIGHTS, UNITS, strict=True))
    for kernel in (None, Gaussian(1.0)):
        options: dict[str, Any] = {"kernel": kernel, "seed": 4, "scale": False}
        wanted = btest(X, Y, weights_x=WEIGHTS[0], weights_y=WEIGHTS[1], **options)
        found = btest(of(x.drop(columns="u")), of(y.drop(columns="u")), weights_x="w", weights_y="w", **options)
        assert_same(found, wanted)
        wanted = btest(X, Y, units=UNITS, **options)
        assert_same(btest(of(x.drop(columns="w")), of(y.drop(columns="w")), units="u", **options), wanted)


FIXED: list[Any] = [
    Gaussian(1.0),
    Aggregate([Gaussian(0.5), Laplacian(2.0)], correction="rank", weights=[1.0, 2.0]),
    KernelFisher(Gaussian(1.0)),
    HSIC((KernelPair(Gaussian(1.0), Laplacian(1.0)),)),
]
CUTS = st.lists(st.integers(1, 60), min_size=1, max_size=4)


@settings(max_examples=25)
@given(kernel=st.sampled_from(FIXED), size=st.sampled_from([4, 9, 20]), cuts=st.tuples(CUTS, CUTS))
def test_batches_of_any_size(kernel: Any, size: int, cuts: tuple[list[int], list[int]]) -> None:
    whole = Stream(kernel, size, seed=4)
    whole.update(X[:131], Y)
    stream = Stream(kernel, size, seed=4, n_threads=2)
    stream.consume(_cut(X[:131], cuts[0]), _cut(Y, cuts[1]))
    used = size * min(whole.n_blocks, stream.n_blocks)
    wanted = Stream(kernel, size, seed=4)
    wanted.update(X[:used], Y[:used])
    assert_same(stream.result(), wanted.result())
    if not hasattr(kernel, "blocks"):
        assert_same(wanted.result(), btest(X[:used], Y[:used], kernel=kernel, block_size=size, shuffle=False, seed=4))


def _cut(rows: AnyRows, sizes: list[int]) -> Iterator[AnyRows]:
    start, k = 0, 0
    while start < len(rows):
        yield rows[start : start + sizes[k % len(sizes)]]
        start, k = start + sizes[k % len(sizes)], k + 1


@pytest.mark.parametrize("kernel", FIXED, ids=repr)
def test_partial_results_add_in_any_order(kernel: Any, tmp_path: Path) -> None:
    partials = []
    for part in range(4):
        stream = Stream(kernel, 8, seed=4, part=part)
        stream.update(X[part * 32 : part * 32 + 32], Y[part * 32 : part * 32 + 32])
        partials.append(stream.partial())
    wanted = PartialResult.join(partials).result()
    assert_same(PartialResult.join(partials[::-1]).result(), wanted)
    assert_same(((partials[2] + partials[0]) + (partials[3] + partials[1])).result(), wanted)
    for part, own in enumerate(partials):
        own.save(tmp_path / f"{part}.npz")
    found = PartialResult.join([PartialResult.load(tmp_path / f"{part}.npz") for part in (3, 1, 0, 2)]).result()
    # A statistic comes back by its name.
    assert_same(replace(found, kernel=wanted.kernel, candidates=wanted.candidates), wanted)


@pytest.mark.parametrize("options", [{}, {"block_size": 20}, {"kernel": Gaussian(1.0)}, {"kernel": "energy"}], ids=str)
def test_plain_loops_agree_to_rounding(options: dict[str, Any]) -> None:
    wanted = btest(X, Y, seed=4, **options)
    found = btest(X, Y, seed=4, statistic=partial(MMD, plain=True), **options)
    assert found.engine == "numpy"
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-8, abs=1e-10)
    assert found.pvalue == pytest.approx(wanted.pvalue, abs=2e-3)  # a draw that ties to rounding may count or not


def mixed(seed: int, n: int) -> pd.DataFrame:
    """Return a table of numbers, levels, truths and missing cells."""
    rng = np.random.default_rng(seed)
    size = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    colour = rng.choice(["red", "green", "blue"], n)
    return pd.DataFrame({"size": size, "count": rng.poisson(3, n) * 1.0, "colour": colour, "flag": rng.random(n) < 0.3})


def write(own: pd.DataFrame, name: str, form: str) -> Any:
    """Return a table by a route."""
    path = f"{name}.{form}"
    writers: dict[str, Callable[[], Any]] = {
        "csv": lambda: own.to_csv(path, index=False),
        "csv.gz": lambda: own.to_csv(path, index=False),
        "tsv": lambda: own.to_csv(path, index=False, sep="\t"),
        "parquet": lambda: own.to_parquet(path, row_group_size=17),
        "feather": lambda: own.to_feather(path),
        "jsonl": lambda: own.to_json(path, orient="records", lines=True, double_precision=15),
    }
    if form not in writers:
        frames: dict[str, Any] = {
            "pandas": own,
            "polars": pl.from_pandas(own),
            "mapping": {c: list(own[c]) for c in own},
        }
        return frames[form]
    writers[form]()
    return path


def told(found: Any) -> dict[str, Any]:
    """Return all of a comparison but the names of its sides and how long it took."""
    document: dict[str, Any] = found.to_dict()
    for name in ("seconds", "memory_bytes", "names", "command", "settings", "notes", "effect", "verdict"):
        document.pop(name, None)
    document["test"].pop("seconds")
    own = {name: [column[name] for column in document["columns"]] for name in ("name", "pvalue", "effect", "changed")}
    return {"test": document["test"], "rows": document["rows"], "columns": own, "pvalue": found.pvalue}


@pytest.mark.parametrize("memory", [None, "1kB"])
def test_tables(memory: str | None) -> None:
    tables = mixed(1, 300), mixed(2, 250)
    forms = ["csv", "csv.gz", "tsv", "parquet", "feather", *([] if memory else ["pandas", "polars", "mapping"])]
    found = {
        form: told(btests.compare(write(tables[0], "a", form), write(tables[1], "b", form), seed=4, memory=memory))
        for form in forms
    }
    for form in forms[1:]:
        assert found[form] == found["csv"], form


def test_samples_of_arrow_tables_are_read_in_memory() -> None:
    assert btest(table(X), table(Y), seed=4).read == btest(frame(X), frame(Y), seed=4).read
