"""Rows in files give the answer of the same rows in memory, to the last bit, however they are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import btests
from btests import (
    Aggregate,
    CrossMMD,
    CrossValidation,
    Gaussian,
    Kernel,
    Laplacian,
    MaxMMD,
    MaxRatio,
    MedianFamily,
    MedianHeuristic,
    Normal,
    PerCoordinate,
    SignFlip,
    ThirdCumulant,
    Weights,
    open_source,
)
from btests.data.permuted import PermutedRows
from btests.execution import out_of_core
from btests.execution.dask.row_ranges import with_absolute_paths
from tests.bounds import FALSE_ALARM
from tests.same import assert_same


def btest(x: Any, y: Any, **options: Any) -> btests.TestResult:
    """Return a test of columns as they are: those of files have names, and would be scaled."""
    return btests.btest(x, y, **{"scale": False, **options})


pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

Rows = npt.NDArray[Any]
NAMES = ["a", "b", "c"]
RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(3001, 3)), RNG.normal(0.2, 1.3, size=(2903, 3))


def npy(rows: Rows, path: Path) -> str:
    np.save(f"{path}.npy", rows)
    return f"{path}.npy"


def fortran(rows: Rows, path: Path) -> str:
    return npy(np.asfortranarray(rows), path)


def parquet(rows: Rows, path: Path, row_group_size: int = 177) -> str:
    pq.write_table(pa.table(dict(zip(NAMES, rows.T, strict=False))), f"{path}.parquet", row_group_size=row_group_size)
    return f"{path}.parquet"


def arrow(rows: Rows, path: Path) -> str:
    table = pa.table(dict(zip(NAMES, rows.T, strict=False)))
    with pa.ipc.new_file(f"{path}.arrow", table.schema) as file:
        for batch in table.to_batches(max_chunksize=500):
            file.write_batch(batch)
    return f"{path}.arrow"


def csv(rows: Rows, path: Path) -> str:
    # repr of a float, and of a float32 as a float: all digits that it has
    pd.DataFrame(rows.astype(np.float64), columns=NAMES[: rows.shape[1]]).to_csv(f"{path}.csv", index=False)
    return f"{path}.csv"


def parts(rows: Rows, path: Path) -> str:
    path.mkdir()
    for i, piece in enumerate(np.array_split(rows, 7)):
        parquet(piece, path / f"part-{i}")
    return str(path)


def pattern(rows: Rows, path: Path) -> str:
    for i, piece in enumerate(np.array_split(rows, 3)):
        npy(piece, Path(f"{path}-{i}"))
    return f"{path}-*.npy"


WRITERS: list[Callable[[Rows, Path], str]] = [npy, fortran, parquet, arrow, csv, parts, pattern]


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_every_format_in_both_orders(write: Callable[[Rows, Path], str], shuffle: bool, tmp_path: Path) -> None:
    x, y = write(X, tmp_path / "x"), write(Y, tmp_path / "y")
    found, alone = btest(x, y, seed=4, shuffle=shuffle), btest(X, Y, seed=4, shuffle=shuffle)
    assert_same(found, alone)
    assert found.order == alone.order == ("exact" if shuffle else "as stored")
    assert found == alone


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """Return x and y of one length as Parquet, and a longer y as .npy."""
    folder = tmp_path_factory.mktemp("files")
    return parquet(X[:2903], folder / "x"), parquet(Y, folder / "y"), npy(np.vstack([Y, X[:1000]]), folder / "longer")


FAMILY: list[Kernel] = [Gaussian(0.5), Gaussian(1.0), Laplacian(2.0)]


@pytest.mark.parametrize("null", [SignFlip(199), Normal(), ThirdCumulant(), CrossMMD()], ids=repr)
def test_every_null_of_blocks(null: Any, files: tuple[str, str, str]) -> None:
    for block_size in (2, 40):
        options: dict[str, Any] = {"kernel": Gaussian(1.0), "null": null, "block_size": block_size, "seed": 2}
        assert_same(btest(*files[:2], **options), btest(X[:2903], Y, **options))


@pytest.mark.parametrize(
    "kernel",
    [
        "gaussian",
        "energy",
        MedianHeuristic(Laplacian),
        MaxRatio(FAMILY),
        MaxMMD(FAMILY),
        Weights(FAMILY),
        Weights(MedianFamily()),
        CrossValidation(FAMILY),
        Aggregate(MedianFamily()),
        Aggregate(PerCoordinate()),
        Aggregate(FAMILY, correction="rank"),
        Laplacian(1.0) + 2.0 * Gaussian(3.0),
        btests.OnColumns(Gaussian(1.0), (0, 2)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("shuffle", [True, False])
def test_every_choice_of_the_kernel(kernel: Any, shuffle: bool, files: tuple[str, str, str]) -> None:
    for i, rows in ((1, Y), (2, np.vstack([Y, X[:1000]]))):
        options: dict[str, Any] = {"kernel": kernel, "block_size": 30, "seed": 2, "shuffle": shuffle}
        assert_same(btest(files[0], files[i], **options), btest(X[:2903], rows, **options))


def test_a_function_as_kernel(files: tuple[str, str, str]) -> None:
    def kernel(p: Rows, q: Rows) -> Rows:
        return np.asarray(np.exp(-np.abs(p[:, None] - q[None]).sum(axis=-1)))

    options: dict[str, Any] = {"kernel": kernel, "block_size": 30, "seed": 2}
    assert_same(btest(*files[:2], **options), btest(X[:2903], Y, **options))


@given(
    chunk=st.integers(1, 2**20),
    block_size=st.sampled_from([2, 3, 17, 64, 300, 1451]),
    n_threads=st.sampled_from([1, 2, 3]),
    shuffle=st.booleans(),
    unequal=st.booleans(),
    kernel=st.sampled_from([Gaussian(1.0), Aggregate(FAMILY)]),
)
def test_chunks_and_threads_leave_no_trace(
    files: tuple[str, str, str],
    *,
    chunk: int,
    block_size: int,
    n_threads: int,
    shuffle: bool,
    unequal: bool,
    kernel: Any,
) -> None:
    rows = np.vstack([Y, X[:1000]]) if unequal else Y
    options: dict[str, Any] = {"kernel": kernel, "block_size": block_size, "seed": 2, "shuffle": shuffle}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(out_of_core, "CHUNK_BYTES", chunk)
        found = btest(files[0], files[2] if unequal else files[1], n_threads=n_threads, **options)
    assert_same(found, btest(X[:2903], rows, **options))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("write", [npy, parquet])
def test_float32(write: Callable[[Rows, Path], str], dtype: str, tmp_path: Path) -> None:
    x, y = X.astype(np.float32), Y.astype(np.float32)
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "dtype": dtype, "seed": 2}
    narrow, wide = write(x, tmp_path / "x"), write(y.astype(np.float64), tmp_path / "wide")
    assert_same(btest(narrow, write(y, tmp_path / "y"), **options), btest(x, y, **options))
    assert_same(btest(narrow, wide, **options), btest(x, y.astype(np.float64), **options))


def test_files_beside_arrays_and_frames(tmp_path: Path) -> None:
    alone = btest(X, Y, seed=4)
    path = csv(X, tmp_path / "x")
    frame = pd.DataFrame(Y, columns=NAMES)
    mapped = np.load(npy(Y, tmp_path / "y"), mmap_mode="r")
    for y in (Y, frame, frame[["c", "a", "b"]], mapped, Y.tolist()):
        assert_same(btest(path, y, seed=4), alone)
    turned = btest(Y, X, seed=4)
    for y in (Y, frame, mapped):
        assert_same(btest(y, Path(path), seed=4), turned)
    renamed = frame.rename(columns={"c": "d"})
    with pytest.raises(ValueError, match="only in x: c; only in y: d"):
        btest(path, renamed)


def test_columns_in_another_order(tmp_path: Path) -> None:
    x, y = parquet(X, tmp_path / "x"), tmp_path / "y.parquet"
    pq.write_table(pa.table({"c": Y[:, 2], "a": Y[:, 0], "b": Y[:, 1]}), y)
    assert_same(btest(x, y, seed=4), btest(X, Y, seed=4))
    assert_same(
        btest(open_source(x, ["a", "c"]), open_source(y, ["a", "c"]), seed=4), btest(X[:, ::2], Y[:, ::2], seed=4)
    )


@pytest.mark.parametrize("write", [parquet, csv, parts])
def test_sources_with_columns_in_another_order(write: Callable[[Rows, Path], str], tmp_path: Path) -> None:
    x, ordered = write(X, tmp_path / "x"), write(Y, tmp_path / "ordered")
    other = tmp_path / "y.csv"
    pd.DataFrame(Y, columns=NAMES)[["c", "a", "b"]].to_csv(other, index=False)
    alone = btest(open_source(x), open_source(ordered), seed=4)
    for left in (x, open_source(x), pd.DataFrame(X, columns=NAMES)):
        assert_same(btest(left, open_source(other), seed=4), alone)
    turned = btest(open_source(other), open_source(ordered), seed=4)  # the order is that of x
    assert_same(turned, btest(open_source(other), open_source(ordered, ["c", "a", "b"]), seed=4))
    assert_same(btest(open_source(other), pd.DataFrame(Y, columns=NAMES), seed=4), turned)
    pd.DataFrame(Y, columns=["a", "b", "d"]).to_csv(other, index=False)
    with pytest.raises(ValueError, match="only in x: c; only in y: d"):
        btest(open_source(x), open_source(other))


def test_one_part_that_is_cut_off_is_named_or_left_out(tmp_path: Path) -> None:
    folder = Path(parts(X, tmp_path / "x"))
    whole = (folder / "part-3.parquet").read_bytes()
    (folder / "part-3.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"part-3\.parquet"):
        btest(folder, Y)
    source = open_source(folder, skip_bad_parts=True)
    assert len(source.skipped) == 1
    pieces = np.array_split(X, 7)
    found = btest(source, Y, seed=4)
    assert_same(found, btest(np.vstack(pieces[:3] + pieces[4:]), Y, seed=4))
    assert found.note.startswith("left out as damaged: ")
    assert "part-3.parquet" in str(found)


def test_complaints(tmp_path: Path) -> None:
    hole = X.copy()
    hole[2000, 1] = np.nan
    (tmp_path / "words.csv").write_text("a,b,c\n1,2,x\n1,2,y\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "one.csv").write_text("a,b,c\n1,2,3\n")
    (tmp_path / "data.xyz").write_text("1")
    x = csv(X, tmp_path / "x")
    for other, complaint in (
        (tmp_path / "nothing.csv", "there is no file"),
        (tmp_path / "*.feather", "no file matches"),
        (tmp_path / "data.xyz", "of no known format"),
        (tmp_path / "words.csv", "words.csv"),
        (tmp_path / "empty.csv", "empty.csv"),
        (tmp_path / "one.csv", "y has 1 row; a test needs at least 2"),
        (npy(hole, tmp_path / "hole"), "hole.npy' has a NaN or missing cell in row 2000, column 1"),
        (hole, "y has a NaN cell in row 2000, column 1"),
        (X[:, :2], "x has 3 columns and y has 2"),
        (["a", "b"], "y does not hold numbers"),
        ({"a": 1}, "y must be an array"),
        (3, "y must hold"),
    ):
        for shuffle in (True, False):
            with pytest.raises((ValueError, TypeError), match=complaint):
                btest(x, other, shuffle=shuffle)
    for options, complaint in (
        ({"null": "permutation"}, "needs all rows in memory at once"),
        ({"block_size": 5000}, "block_size must be between 2 and 2903"),
        ({"block_exponent": 2.0}, "block_exponent must be between"),
        ({"shuffle": "half"}, "shuffle must be True, False or 'buffered'"),
    ):
        with pytest.raises((ValueError, TypeError), match=complaint):
            btest(x, Y, **options)
    with pytest.raises(ValueError, match="are for rows in files, and these are in memory"):
        btest(X, Y, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="those in memory are shuffled exactly"):
        btest(X, Y, shuffle="buffered")


def drifting(n: int, rng: np.random.Generator) -> Rows:
    """Return rows of a process that drifts from one end to the other while it is recorded."""
    time = np.sort(rng.random(n))
    return np.stack([5.0 * time + rng.normal(size=n), np.cos(4.0 * time) + rng.normal(size=n)], axis=1)


def test_two_files_that_are_sorted_by_time_do_not_differ(tmp_path: Path) -> None:
    # Row groups in random order would bring the mornings of x together with the evenings of y. Dealt anywhere, a
    # p-value of at most 0.005 has probability 0.005 in each of 24 runs.
    small = 0
    for seed in range(24):
        rng = np.random.default_rng([9, seed])
        x, y = (parquet(drifting(2000, rng), tmp_path / name, 100) for name in ("x", "y"))
        found = btest(x, y, kernel=Gaussian(1.0), block_size=50, null=SignFlip(199), seed=seed)
        assert found.order == "exact"
        small += found.pvalue <= 0.005
    assert float(_binomial_tail(5, 24, 0.005)) < FALSE_ALARM
    assert small < 5


def _binomial_tail(least: int, n: int, p: float) -> float:
    from scipy import stats

    return float(stats.binom.sf(least - 1, n, p))


def test_of_files_that_are_sorted_a_real_difference_is_still_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    x, y = drifting(4000, rng), drifting(4000, rng) * [1.0, 1.5]
    found = btest(parquet(x, tmp_path / "x", 100), parquet(y, tmp_path / "y", 100), seed=1)
    assert found.pvalue == 0.0005


def test_a_buffer_says_that_it_was_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    x, y = (parquet(drifting(2000, rng), tmp_path / name, 100) for name in ("x", "y"))
    found = btest(x, y, kernel=Gaussian(1.0), block_size=50, seed=1, shuffle="buffered")
    assert (found.order, found.to_dict()["order"]) == ("buffered", "buffered")
    assert "order     buffered, in chunks" in str(found)
    assert_same(found, btest(x, y, kernel=Gaussian(1.0), block_size=50, seed=1, shuffle="buffered"))
    # Where any row can be read by itself there is no need to do less than the best.
    arrays = [npy(X, tmp_path / "a"), npy(Y, tmp_path / "b")]
    assert_same(btest(*arrays, seed=1, shuffle="buffered"), btest(X, Y, seed=1))


def test_a_buffer_that_is_smaller_than_sorted_files_finds_differences_that_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Honesty: this is why the exact order is the default, and what docs/large.md says of the buffered one.
    of: Any = PermutedRows.of
    monkeypatch.setitem(of.__func__.__kwdefaults__, "memory", 200 * (2 * 2 * 8 + 24))
    rng = np.random.default_rng(5)
    x, y = (parquet(drifting(4000, rng), tmp_path / name, 100) for name in ("x", "y"))
    with pytest.warns(btests.OrderWarning):
        found = btest(x, y, kernel=Gaussian(1.0), block_size=50, seed=1, shuffle="buffered")
    assert found.pvalue == 0.0005
    exact = btest(x, y, kernel=Gaussian(1.0), block_size=50, seed=1)
    assert exact.pvalue > 0.0005


def test_a_result_says_how_rows_were_read(files: tuple[str, str, str]) -> None:
    found = btest(*files[:2], seed=1)
    assert "\n  order     exact, in chunks\n" in str(found)
    assert (found.to_dict()["read"], found.to_dict()["n_pending"]) == ("in chunks", [0, 0])
    assert "order" not in str(btest(X, Y, seed=1))
    stream = btests.Stream(Gaussian(1.0), 100, seed=1)
    stream.update(X, Y)
    assert "\n  order     as stored, in batches\n  waiting   101 and 3 rows, which fill no block\n" in str(
        stream.result()
    )


def test_chunks_of_large_blocks_are_short() -> None:
    from btests.execution.out_of_core import chunks
    from btests.plan import Plan

    assert chunks(Plan(100_000, 100_000, 12), 64, n_kernels=12) == [(i, i + 2) for i in range(0, 12, 2)]
    assert chunks(Plan(10**8, 10**8, 10**5), 32)[0] == (0, 1024)  # where blocks are small, their bytes decide


@pytest.mark.parametrize("write", [csv, parquet, npy])
def test_sources_for_workers_do_not_depend_on_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Rows, Path], str]
) -> None:
    monkeypatch.chdir(tmp_path)
    source = with_absolute_paths(open_source(write(X, Path("x"))))
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(source.read(0, len(X)), X)
