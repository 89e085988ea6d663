"""Partial results in files: what is saved comes back to the last bit; other files are refused in one sentence."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import btests
from btests import (
    HSIC,
    Aggregate,
    Combination,
    Energy,
    Gaussian,
    KernelPair,
    Laplacian,
    Linear,
    Matern,
    OnColumns,
    PartialResult,
    Stream,
)
from btests.summary_file import digest_of
from btests.symmetries import Redraw, SwapTuples
from tests.partial_result.test_partial_result import assert_equal, rows, stream_of


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return the file of a partial result."""
    path = tmp_path / "day.partial result"
    stream_of(505, 3).partial().save(path)
    return path


@pytest.mark.parametrize(
    "kernel",
    [
        None,
        Gaussian(0.1),
        Laplacian(1.0) + 0.3 * Gaussian(1 / 3),
        OnColumns(Matern(1.0), (1,)),
        Energy(0.7),
        Linear(),
        Combination((0.5, 2.0), (btests.Polynomial(3), btests.RationalQuadratic(1.0))),
        btests.InverseMultiquadric(1.0),
        Aggregate([Gaussian(0.5), Energy()], correction="rank", weights=[1, 2]),
    ],
    ids=repr,
)
def test_round_trip(kernel: Any, tmp_path: Path) -> None:
    stream = Stream(kernel, (10, 7), seed=2**40, part=5)
    x, y = rows(3003)
    stream.update(x, y[:2005])
    before = stream.partial()
    before.save(tmp_path / "t")
    after = PartialResult.load(str(tmp_path / "t"))
    assert_equal(after, before)
    for name in ("kernels", "seed", "correction", "weights", "engine", "order", "n_pending", "width", "dtype"):
        assert getattr(after, name) == getattr(before, name)
    assert (tmp_path / "t").stat().st_size < 2**20 * len(before.kernels)


def test_a_function_is_known_by_its_name_alone(tmp_path: Path) -> None:
    def mine(p: Any, q: Any) -> Any:
        return np.asarray(np.exp(-np.abs(p[:, None, 0] - q[None, :, 0])))

    stream = stream_of(505, 0, mine)
    stream.partial().save(tmp_path / "t")
    after = PartialResult.load(tmp_path / "t")
    assert after.result().pvalue == stream.result().pvalue
    assert "mine" in repr(after.kernels[0])
    with pytest.raises(TypeError, match="which no file holds"):
        after.kernels[0](np.zeros((2, 2)), np.zeros((2, 2)))
    later = stream_of(505, 1, mine).partial()
    later.save(tmp_path / "u")
    assert (after + PartialResult.load(tmp_path / "u")).n_blocks == 100


def test_sums_of_what_was_loaded(tmp_path: Path) -> None:
    partials = [stream_of(n, part).partial() for part, n in enumerate((500, 333, 1207))]
    for i, one in enumerate(partials):
        one.save(tmp_path / str(i))
    joined = PartialResult.join(PartialResult.load(tmp_path / str(i)) for i in (2, 0, 1))
    assert_equal(joined, PartialResult.join(partials))
    joined.save(tmp_path / "all")
    assert_equal(PartialResult.load(tmp_path / "all"), joined)


def test_nothing_is_overwritten_without_force(saved: Path) -> None:
    before = saved.read_bytes()
    other = stream_of(300, 1).partial()
    with pytest.raises(ValueError, match=r"exists; give another name, or force=True"):
        other.save(saved)
    assert saved.read_bytes() == before
    other.save(saved, force=True)
    assert PartialResult.load(saved).n_blocks == 30
    assert [path.name for path in saved.parent.iterdir()] == ["day.partial result"]


@pytest.mark.skipif(os.name != "posix", reason="files have no such rights")
def test_a_file_has_the_rights_that_open_would_give(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        stream_of(505, 3).partial().save(tmp_path / "t")
        (tmp_path / "plain").write_bytes(b"")
    finally:
        os.umask(before)
    assert (tmp_path / "t").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "t").stat().st_mode & 0o777 == 0o640
    (tmp_path / "t").chmod(0o604)  # and one that is there keeps its own
    stream_of(505, 3).partial().save(tmp_path / "t", force=True)
    assert (tmp_path / "t").stat().st_mode & 0o777 == 0o604


def test_a_full_disk_leaves_what_was_there(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(f"btests.atomic_file.os.{name}", full)
            with pytest.raises(ValueError, match=r"cannot write .*day\.partial result.*: No space left on device"):
                stream_of(300, 1).partial().save(saved, force=True)
    assert saved.read_bytes() == before
    assert len(list(saved.parent.iterdir())) == 1
    with pytest.raises(ValueError, match=r"cannot write .*: No such file or directory"):
        stream_of(300, 1).partial().save(saved.parent / "no" / "folder")


def test_what_is_no_tally(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    whole = saved.read_bytes()
    contents: list[tuple[bytes, str]] = [
        (b"", "is no partial result"),
        (b"a,b\n1,2\n", "is no partial result"),
        (whole[: len(whole) // 2], "is no partial result or checkpoint of btests, or damaged"),
        (whole[:-30], "is no partial result or checkpoint of btests, or damaged"),
        (pickle.dumps({"a": 1}), "is no partial result"),
    ]
    for content, complaint in contents:
        other.write_bytes(content)
        with pytest.raises(ValueError, match=complaint) as caught:
            PartialResult.load(other)
        assert "\n" not in str(caught.value)
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    for name in ("array.npy", "arrays.npz"):
        with pytest.raises(ValueError, match="is no partial result"):
            PartialResult.load(tmp_path / name)
    with pytest.raises(ValueError, match="there is no file"):
        PartialResult.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="is no partial result"):
        PartialResult.load(tmp_path)
    with pytest.raises(TypeError, match="a path is needed, got 3"):
        PartialResult.load(3)  # type: ignore[arg-type]


class Trap:
    """Unpickling this would leave a trace."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("trapped",)


def test_nothing_is_ever_unpickled(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with np.load(saved) as file:
        arrays = dict(file)
    trap = np.empty(1, dtype=object)
    trap[0] = Trap()
    for name in ("header", "values_0_0", "more"):
        with (tmp_path / "evil").open("wb") as out:
            np.savez(out, allow_pickle=True, **(arrays | {name: trap}))
        with pytest.raises(ValueError, match="is no partial result or checkpoint of btests, or damaged"):
            PartialResult.load(tmp_path / "evil")
    assert not (tmp_path / "trapped").exists()


def altered(path: Path, **changes: Any) -> Path:
    """Return a file like another with some arrays or entries of its header changed."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays.pop("header").tobytes())
    for name, value in changes.items():
        if name in arrays:
            arrays[name] = value(arrays[name])
        else:
            header[name] = value(header[name])
    other = path.parent / "altered"
    write(other, arrays | {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)})
    return other


def write(path: Path, arrays: dict[str, Any]) -> None:
    """Write arrays with their digest, as somebody would who makes such files himself."""
    rest = {name: array for name, array in arrays.items() if name != "digest"}
    with path.open("wb") as out:
        np.savez(out, **rest, digest=digest_of(rest))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"version": lambda v: v + 1}, "is a partial result of version 3, and this package reads version 2"),
        ({"version": lambda _: "new"}, "is a partial result of version new"),
        ({"format": lambda _: "x"}, "is no partial result"),
        ({"kernels": lambda k: k[:1]}, "is a damaged partial result"),
        ({"kernels": lambda _: [{"kind": "os.system"}] * 3}, "no kernel is called 'os.system'"),
        ({"kernels": lambda k: [{"kind": "Gaussian", "bandwidth": -1.0}, *k[1:]]}, "is a damaged partial result"),
        ({"kernels": lambda _: 3}, "is a damaged partial result"),
        ({"seed": lambda _: "many"}, "is a damaged partial result"),
        ({"seed": lambda _: -1}, "is a damaged partial result"),
        ({"width": lambda _: -1}, "is a damaged partial result"),
        ({"dtype": lambda _: "float16"}, "nothing is computed in 'float16'"),
        ({"seed": lambda _: 1.5}, "is a damaged partial result"),
        ({"parts": lambda p: [p[0] | {"n_blocks": 49}]}, "is a damaged partial result"),
        ({"parts": lambda p: [p[0] | {"n_blocks": 0}]}, "is a damaged partial result"),
        ({"parts": lambda p: [p[0] | {"n_x": 10**30}]}, "is a damaged partial result"),
        ({"parts": lambda _: []}, "is a damaged partial result"),
        ({"parts": lambda p: p * 2}, "is a damaged partial result"),
        ({"parts": lambda p: [p[0] | {"number": -1}]}, "is a damaged partial result"),
        ({"kernel_scale": lambda _: [0.0]}, "is a damaged partial result"),
        ({"kernel_scale": lambda t: ["x", *t[1:]]}, "is a damaged partial result"),
        ({"n_pending": lambda _: [1]}, "is a damaged partial result"),
        ({"correction": lambda _: "none"}, "is a damaged partial result"),
        ({"weights": lambda _: [1.0]}, "is a damaged partial result"),
        ({"order": lambda _: "sorted"}, "is a damaged partial result"),
        ({"values_0_1": lambda v: v[1:]}, "the blocks of part 3 are not all there"),
        ({"values_0_1": lambda v: v.astype(str)}, "is a damaged partial result"),
        ({"moments_0_0": lambda c: c[:, 1:]}, "the blocks of part 3 are not all there"),
        ({"nodes_0": lambda n: n[::-1]}, "the blocks of part 3 are not all there"),
        ({"nodes_0": lambda n: n[:, 0]}, "is a damaged partial result"),
        ({"spans_0": lambda s: s + 1}, "is a damaged partial result"),
        ({"spans_0": lambda s: s * 10**15}, "is a damaged partial result"),
        ({"spans_0": lambda s: s[:, ::-1]}, "is a damaged partial result"),
        ({"spans_0": lambda s: s.ravel()}, "is a damaged partial result"),
    ],
)
def test_an_altered_file_is_refused_in_one_sentence(changes: dict[str, Any], complaint: str, saved: Path) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        PartialResult.load(altered(saved, **changes))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_missing_array_is_named(saved: Path) -> None:
    with np.load(saved) as file:
        arrays = dict(file)
    for name in ("values_0_2", "spans_0"):
        rest = {key: value for key, value in arrays.items() if key != name}
        write(saved.parent / "less", rest)
        with pytest.raises(ValueError, match=name):
            PartialResult.load(saved.parent / "less")


@given(data=st.data())
def test_altered_bytes_are_refused_or_do_no_harm(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "some.partial result"
    stream_of(205, 3).partial().save(path, force=True)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with contextlib.suppress(ValueError):  # and nothing else
        PartialResult.load(path)


def test_a_device_or_a_folder_is_not_written_over(tmp_path: Path) -> None:
    partial = partial_of_some()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="it is there, and is no file"):
        partial.save(tmp_path / "pipe", force=True)
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "target.npz").write_bytes(b"old")
    (tmp_path / "link.npz").symlink_to(tmp_path / "target.npz")
    partial.save(tmp_path / "link.npz", force=True)
    assert (tmp_path / "link.npz").is_symlink()
    assert PartialResult.load(tmp_path / "target.npz").n_blocks == partial.n_blocks


def test_functions_of_one_name_do_not_add(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kernels: list[Any] = [lambda a, b: a @ b.T, lambda a, b: np.exp(-np.abs(a[:, None] - b[None]).sum(-1))]
    loaded = []
    for part, kernel in enumerate([*kernels, kernels[0]]):
        stream = Stream(kernel, 20, seed=1, part=part)
        stream.update(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)))
        stream.partial().save(tmp_path / f"{part}.npz")
        loaded.append(PartialResult.load(tmp_path / f"{part}.npz"))
    assert (loaded[0] + loaded[2]).n_blocks == 20
    with pytest.raises(ValueError, match="partial results of different kernels do not add"):
        loaded[0] + loaded[1]
    assert loaded[0] != loaded[1]
    assert len({loaded[0], loaded[1]}) == 2
    assert loaded[0].result("third-cumulant").pvalue == loaded[0].result(btests.ThirdCumulant()).pvalue
    with pytest.raises(ValueError, match="null must be one of"):
        loaded[0].result("student")


def partial_of_some() -> PartialResult:
    """Return a partial result of ten blocks."""
    rng = np.random.default_rng(1)
    stream = Stream(Gaussian(1.0), 20, seed=1)
    stream.update(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)))
    return stream.partial()


def enclosing(g: float) -> Any:
    return lambda u, v: np.exp(-g * ((u[:, None] - v[None]) ** 2).sum(-1))


@pytest.mark.parametrize("make", [enclosing, lambda g: btests.Pairwise(lambda a, b: float(a @ b) + g)])
def test_functions_that_enclose_other_numbers_do_not_add(make: Any, tmp_path: Path) -> None:
    def partial(kernel: Any, part: int) -> PartialResult:
        stream = Stream(kernel, 10, seed=1, part=part)
        stream.update(*rows(100, part))
        return stream.partial()

    for part, g in enumerate((1.0, 1.0, 9.0)):
        partial(make(g), part).save(tmp_path / f"{part}")
    one, same, other = (PartialResult.load(tmp_path / f"{part}") for part in range(3))
    assert (one + same).n_blocks == 20
    assert (one + partial(make(1.0), 1)).result().pvalue == (one + same).result().pvalue  # a file, and a live one
    for left, right in ((one, other), (one, partial(make(9.0), 2)), (partial(make(1.0), 0), partial(make(9.0), 2))):
        with pytest.raises(ValueError, match="partial results of different kernels do not add"):
            left + right
    assert len(repr(one)) < 200


def test_a_checkpoint_is_no_tally(tmp_path: Path) -> None:
    for name in "xy":
        np.save(tmp_path / f"{name}.npy", rows(100, 1)[0])
    btests.btest(tmp_path / "x.npy", tmp_path / "y.npy", kernel=Gaussian(1.0), seed=1, checkpoint=tmp_path / "run.npz")
    with pytest.raises(
        ValueError, match="is a checkpoint, which the call that wrote it goes on from, and no partial result"
    ):
        PartialResult.load(tmp_path / "run.npz")


def _of_tuples(most_groups: int) -> PartialResult:
    pair = KernelPair(Gaussian(1.0), Gaussian(1.0))
    stream = Stream(HSIC((pair,), symmetry=SwapTuples(most_groups)), 100, seed=0)
    x, y = rows(600)
    stream.update(x, x[:, :1] + y[:, 1:2])
    return stream.partial()


@pytest.mark.parametrize("most_groups", [5, 9])
def test_symmetries_keep_their_fields(tmp_path: Path, most_groups: int) -> None:
    found = _of_tuples(most_groups)
    found.save(tmp_path / "pairs")
    loaded = PartialResult.load(tmp_path / "pairs")
    assert loaded.summaries[0].symmetry == SwapTuples(most_groups)
    assert loaded.result().pvalue == found.result().pvalue


def test_symmetries_that_differ_do_not_add_and_others_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="different symmetries do not add"):
        _of_tuples(5) + _of_tuples(9)
    other = _of_tuples(9)
    other = replace(other, summaries=tuple(replace(one, symmetry=Redraw(10, 1)) for one in other.summaries))
    with pytest.raises(ValueError, match=r"Redraw.* keep it in memory"):
        other.save(tmp_path / "redrawn")
    assert not (tmp_path / "redrawn").exists()
