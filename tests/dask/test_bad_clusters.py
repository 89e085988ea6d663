"""Errors of a cluster, or of data on it, are one sentence."""

from __future__ import annotations

import importlib
import logging
import os
import platform
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import btests
from btests import Gaussian, _core, btest, open_source
from btests._text import brief
from btests.block_size import BlockRule
from btests.execution.dask import ClusterError, Timeouts, connect
from btests.execution.dask.futures import quiet
from btests.execution.dask.local_workers import end_workers, local_client, start_worker
from btests.execution.samples import open_samples
from btests.nulls import SignFlip
from btests.pipeline import Procedure
from btests.selection import Setting
from tests.dask.polling import wait_until
from tests.same import assert_same

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(3000, 3)), RNG.normal(size=(2500, 3))


def array(rows: Any, size: int = 700) -> Any:
    return da.from_array(rows, chunks=(size, -1) if rows.ndim == 2 else size)


def with_cell(cell: float) -> Any:
    rows = X.copy()
    rows[2000, 1] = cell
    return array(rows)


def frame(**columns: Any) -> Any:
    return dd.from_pandas(pd.DataFrame(columns), npartitions=2)


def uneven() -> Any:
    """Return an array that says that all of its partitions have three columns, and one has two."""
    pieces = [dask.delayed(X[:500]), dask.delayed(X[500:1000, :2])]
    return da.concatenate([da.from_delayed(piece, (500, 3), dtype=float) for piece in pieces])


def fickle() -> Any:
    """Return an array whose second partition has other rows than it says."""
    pieces = [dask.delayed(X[:500]), dask.delayed(X[500:900])]
    return da.concatenate([da.from_delayed(piece, (500, 3), dtype=float) for piece in pieces])


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: with_cell(np.nan), r"y, in partition 2, has a NaN or missing cell in row 2000, column 1; drop or fill"),
    (lambda: with_cell(-np.inf), r"y, in partition 2, has an infinite cell in row 2000, column 1"),
    (lambda: with_cell(1e301), r"y, in partition 2, has a cell in row 2000, column 1, beyond 1e300"),
    (lambda: array(X[:, :2]), "x has 3 columns and y has 2; they must have the same"),
    (lambda: array(X[:1]), "y has 1 row; a test needs at least 2 rows"),
    (lambda: array(X.astype(str)), "y holds <U32, not numbers; encode it as numbers"),
    (lambda: da.ones((10, 2, 2)), r"y must have rows and columns, \(n, d\) or \(n,\), got shape"),
    (lambda: da.ones((10, 0)), "y has no columns"),
    (lambda: frame(a=[1.0, 2.0], b=["u", "v"], c=[1, 2]), "column 'b' of y holds .*, not numbers"),
    (uneven, "y, in partition 1, has 2 columns and not 3"),
    (fickle, r"y has 400 rows in partitions 1 to 1|y has 900 rows in partitions 0 to 1|another number of rows"),
    (lambda: dask.delayed(X), "y must be a dask array or data frame, got a dask Delayed"),
]


@pytest.mark.parametrize(("make", "complaint"), BAD, ids=[complaint[:40] for _, complaint in BAD])
def test_bad_collections(client: Any, make: Callable[[], Any], complaint: str) -> None:
    for workers in (client, None):
        with pytest.raises((ValueError, TypeError), match=complaint):
            btest(array(X), make(), workers=workers, seed=1)


def test_columns_that_do_not_match(client: Any) -> None:
    x = frame(a=X[:, 0], b=X[:, 1])
    with pytest.raises(ValueError, match="only in x: b; only in y: c"):
        btest(x, frame(a=Y[:, 0], c=Y[:, 1]), workers=client)
    missing = frame(a=pd.array([1.0, None, 3.0], dtype="Float64"), b=pd.array([1, 2, 3], dtype="Int64"))
    with pytest.raises(ValueError, match="y, in partition 0, has a NaN or missing cell in row 1, column 'a'"):
        btest(x, missing, workers=client)


def test_a_partition_that_fails_says_why(client: Any) -> None:
    def fail(rows: Any) -> Any:
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError, match="the disk is on fire"):
        btest(array(X).map_blocks(fail, dtype=float, meta=X[:0]), Y, workers=client)


@pytest.mark.parametrize("workers", [True, 0, -2, 1.5, ["tcp://a"], {}, 10**6, 16**5000], ids=brief)
def test_workers_that_are_none(workers: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="workers must be"):
        btest(X, Y, workers=workers)


def test_a_scheduler_that_does_not_exist() -> None:
    for address in ("tcp://127.0.0.1:9", "no such address at all"):
        with pytest.raises(ClusterError, match=r"no scheduler answers at .* within 1 s .*'dask scheduler' starts one"):  # noqa: SIM117
            with connect(address, timeouts=Timeouts(connect=1.0)):
                pass


def test_workers_that_do_not_start() -> None:
    with (
        pytest.raises(ClusterError, match=r"a worker has ended while it started, with status \d"),
        local_client(1, "many"),
    ):
        pass


@pytest.mark.parametrize("kind", ["silent", "closing", "another"])
def test_a_server_that_is_not_a_scheduler(kind: str) -> None:
    timeouts = Timeouts(connect=0.3 if kind == "silent" else 60.0)  # the others answer at once, on a quiet machine
    before = threading.active_count()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(50)
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"

        def answer() -> None:
            with suppress(OSError):
                while kind != "silent":
                    line, _ = listener.accept()
                    with line:
                        line.sendall(b"HTTP/1.1 400 Bad Request" * 500 if kind == "another" else b"")

        server = threading.Thread(target=answer)
        server.start()
        reason = {"silent": "timed out", "another": "not a dask scheduler"}.get(kind, "")
        for _ in range(2):
            with pytest.raises(ClusterError, match=rf"no scheduler answers at '{address}' .*{reason}"):  # noqa: SIM117
                with connect(address, timeouts=timeouts):
                    pass
        listener.shutdown(socket.SHUT_RDWR)
    server.join()
    with (
        pytest.raises(ClusterError, match="no scheduler answers at 'ws:"),
        connect("ws://127.0.0.1:9", timeouts=Timeouts(connect=0.3)),
    ):
        pass
    wait_until(lambda: threading.active_count() <= before)  # no thread of a client is left


def test_a_cluster_without_workers_then_with_a_bad_one(tmp_path: Path) -> None:
    blocker = tmp_path / "blocker.py"
    blocker.write_text(
        "import sys\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'btests':\n"
        "            raise ModuleNotFoundError(\"No module named 'btests'\", name='btests')\n"
        "sys.meta_path.insert(0, Blocker())\n"
    )
    with distributed.LocalCluster(n_workers=0, processes=True, dashboard_address="127.0.0.1:0") as cluster:
        with pytest.raises(ClusterError, match=r"has no workers; 'dask worker tcp://.*' starts one"):  # noqa: SIM117
            with connect(cluster.scheduler_address, timeouts=Timeouts(connect=60.0, first_worker=0.2)):
                pass
        with dask.config.set({"distributed.worker.preload": [str(blocker)]}):
            worker = start_worker(cluster.scheduler_address, str(tmp_path))
        try:
            with distributed.Client(cluster, set_as_default=False) as client:
                client.wait_for_workers(1, timeout=600)
                with pytest.raises(ClusterError, match=r"cannot import btests as it is here .*; install the same"):
                    btest(X, Y, workers=client)
        finally:
            end_workers([worker])


def pretend(what: str, version: str) -> None:
    """Change the version of something in the process that runs this."""
    if what == "Python":
        platform.python_version = lambda: version
    else:
        vars(importlib.import_module(what))["__version__"] = version


@pytest.mark.parametrize(
    ("what", "version", "told"),
    [
        ("btests", "0.0.7", r"btests 0\.0\.7, and this process has"),
        ("numpy", "1.0.0", r"numpy 1\.0\.0, and this process has"),
        ("Python", "3.2.1", r"Python 3\.2, and this process has"),
    ],
)
def test_a_worker_of_another_version(client: Any, what: str, version: str, told: str) -> None:
    one = sorted(client.nthreads())[0]
    true = {"btests": btests.__version__, "numpy": np.__version__, "Python": platform.python_version()}[what]
    client.run(pretend, what, version, workers=[one])
    try:
        with pytest.raises(ClusterError, match=rf"the worker {one} has {told} .*; install the same on both"):
            btest(X, Y, workers=client)
    finally:
        client.run(pretend, what, true, workers=[one])
    assert btest(X, Y, workers=client, seed=1).read == "on 2 workers"


def have(instruction_sets: tuple[str, ...]) -> None:
    """Let the process that runs this be a machine of some instruction sets."""
    _core.library.instruction_sets = lambda: instruction_sets  # type: ignore[assignment]


@pytest.mark.skipif(_core.instruction_set() in ("none", "generic"), reason="there is but one instruction set")
@pytest.mark.parametrize("options", [{}, {"block_size": 100}, {"statistic": "features"}], ids=str)
def test_all_take_the_weakest_instruction_set(
    client: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, all_of_them = sorted(client.nthreads())[0], _core.instruction_sets()
    client.run(have, ("generic",), workers=[one])
    try:
        found = btest(X, Y, seed=2, workers=client, **options)
    finally:
        client.run(have, all_of_them)
    assert found.engine == "compiled (generic)"
    monkeypatch.setattr(_core.library, "instruction_sets", lambda: ("generic",))
    assert_same(found, btest(X, Y, seed=2, **options))


def test_files_that_workers_do_not_see(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "x.npy", X)
    monkeypatch.chdir(tmp_path)
    assert btest("x.npy", Y, workers=client, seed=1).read == "on 2 workers"  # wherever the workers are
    source = open_source("x.npy")
    (tmp_path / "x.npy").unlink()
    with pytest.raises(ClusterError, match=r"the worker tcp://.* does not see '.*x\.npy'; files must be where"):
        btest(source, Y, workers=client)


def test_scattered_data_that_are_lost() -> None:
    with local_client(2) as client:
        pids = client.run(os.getpid)
        one = sorted(pids)[0]
        pieces = client.scatter([X[:1500], X[1500:]], workers=[one])
        x = da.concatenate([da.from_delayed(dask.delayed(piece), (1500, 3), dtype=float) for piece in pieces])
        os.kill(pids[one], signal.SIGKILL)
        wait_until(lambda: one not in client.nthreads())
        with pytest.raises(ClusterError, match="data which were scattered and cannot be computed again"):
            btest(x, Y, workers=client)


def test_clients_that_cannot_wait(client: Any) -> None:
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        pass
    with pytest.raises(ClusterError, match="is closed, not running; make a new one"):
        btest(X, Y, workers=other)


def test_the_quadratic_nulls_stay_in_one_process(client: Any) -> None:
    with pytest.raises(ValueError, match="needs all rows in memory at once"):
        btest(array(X), Y, null="permutation", workers=client)


def test_the_entry_for_others(client: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    sources = open_source(tmp_path / "x.npy"), open_source(tmp_path / "y.npy")
    for workers in (client, None):
        with closing(open_samples(*sources, 5, True, workers)) as stored:
            setting = Setting(BlockRule(30), executor=stored.executor())
            found = Procedure(Gaussian(1.0), SignFlip(), 5, setting, stored.order).run(stored.x, stored.y)
        assert_same(found, btest(X, Y, kernel=Gaussian(1.0), block_size=30, seed=5))


def test_two_tests_at_once_on_one_cluster(client: Any) -> None:
    found: dict[int, Any] = {}

    def run(seed: int) -> None:
        found[seed] = btest(array(X), array(Y), seed=seed, workers=client)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, result in found.items():
        assert_same(result, btest(X, Y, seed=seed))


def test_what_dask_logs_of_a_lost_scheduler_is_not_shown() -> None:
    """The client has a logger with a level and a handler of its own, whatever its parent has."""
    names = ("distributed", "distributed.client", "distributed.scheduler", "tornado.application")
    before = [logging.getLogger(name).isEnabledFor(logging.ERROR) for name in names]
    assert all(before)
    with quiet():
        assert not any(logging.getLogger(name).isEnabledFor(logging.ERROR) for name in names)
    assert [logging.getLogger(name).isEnabledFor(logging.ERROR) for name in names] == before
