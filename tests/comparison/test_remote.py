"""Tables at addresses, fetched from a server on this machine."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import socket
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather
from pyarrow import parquet as pq

import btests
from btests.comparison.sources import load
from btests.data.open import Parts
from btests.data.remote import TimeLimits, fetched, local_copies, public
from tests.comparison.conftest import Shell
from tests.data.http_server import Site, serving
from tests.workbooks import workbook

SECRET = "hunter2"


def _table(seed: int, n: int = 120) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({"u": rng.normal(size=n).round(4), "v": rng.integers(0, 9, n).astype(float)})


def _csv(table: pa.Table) -> bytes:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return "\n".join([",".join(table.column_names), *(f"{u},{v}" for u, v in rows), ""]).encode()


def _bytes(write: object, table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    write(table, buffer)  # type: ignore[operator]
    return buffer.getvalue()


def _rows(table: pa.Table) -> list[list[object]]:
    return [table.column_names, *map(list, zip(*(column.to_pylist() for column in table.columns), strict=True))]


def _databases(table: pa.Table) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.duckdb")
        with closing(duckdb.connect(str(path))) as database:
            database.register("given", table)
            database.execute("CREATE TABLE t AS SELECT * FROM given")
        with closing(sqlite3.connect(":memory:")) as light:
            light.execute("CREATE TABLE t (u, v)")
            light.executemany("INSERT INTO t VALUES (?, ?)", _rows(table)[1:])
            light.execute("CREATE TABLE other (a)")
            light.commit()
            return {"t.duckdb": path.read_bytes(), "t.db": light.serialize()}


def _files() -> dict[str, bytes]:
    table = _table(1)
    text = _csv(table)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("one.csv", text)
        members.writestr("two.csv", text)
    array = io.BytesIO()
    np.save(array, np.column_stack([column.to_numpy() for column in table.columns]))
    return {
        "a.csv": text,
        "deep/er/a.csv": text,
        "b.csv": _csv(_table(2)),
        "noname": text,
        "login.csv": b"\n<!DOCTYPE html>\n<html>\n<p>Who are you?\n<p>You may not.\n</html>\n",
        "a.csv.gz": gzip.compress(text),
        "a.parquet": _bytes(pq.write_table, table),
        "a.feather": _bytes(feather.write_feather, table),
        "a.jsonl": "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode(),
        "a.npy": array.getvalue(),
        "a.zip": archive.getvalue(),
        "a.xlsx": workbook({"first": [["a"], [1]], "two words": _rows(table)}),
        "bad.parquet": b"PAR1" + bytes(40),
        **_databases(table),
    }


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serving(_files()) as found:
        yield found


@pytest.fixture(autouse=True)
def _leaves_no_copies(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("copies")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield
    assert os.listdir(folder) == []


KINDS = ["a.csv", "noname", "a.csv.gz", "a.parquet", "a.feather", "a.jsonl", "t.duckdb", "t.db::t", "a.zip::two.csv"]


@pytest.mark.parametrize("how", ["plain", "ranges", "redirect"])
@pytest.mark.parametrize("name", [*KINDS, "a.xlsx::two words"])
def test_files_of_every_kind_are_fetched(site: Site, name: str, how: str) -> None:
    with local_copies(site.url(how, name)) as (path,):
        found = load(path, "table").table
    assert found.to_pydict() == _table(1).to_pydict()


def test_an_address_in_place_of_a_file_changes_no_result(site: Site, shell: Shell) -> None:
    for name in ("a.parquet", "b.csv"):
        Path(name).write_bytes(site.files[name])
    addresses = site.url("plain", "a.parquet"), site.url("ranges", "b.csv")
    plain, remote = btests.compare("a.parquet", "b.csv", seed=0), btests.compare(*addresses, seed=0)
    assert (remote.pvalue, remote.names) == (plain.pvalue, ("a.parquet", "b.csv"))
    assert btests.btest(*addresses, seed=3).pvalue == btests.btest("a.parquet", "b.csv", seed=3).pvalue
    assert btests.btest(addresses[0], "b.csv", seed=3).pvalue == btests.btest("a.parquet", "b.csv", seed=3).pvalue
    in_pieces = btests.compare(*addresses, seed=0, memory=1000)
    assert in_pieces.pvalue == btests.compare("a.parquet", "b.csv", seed=0, memory=1000).pvalue
    assert in_pieces.result.read != "at once"
    npy = btests.btest(site.url("plain", "a.npy"), np.loadtxt("b.csv", delimiter=",", skiprows=1), seed=1)
    assert 0.0 < npy.pvalue <= 1.0


def test_a_source_keeps_its_copy(site: Site) -> None:
    source = btests.open_source([site.url("plain", "a.csv?token=" + SECRET), site.url("plain", "b.csv")])
    assert source.n_rows == 240
    assert source.names == ("u", "v")
    assert SECRET not in repr(source)
    one = btests.open_source(site.url("plain", "a.parquet"), ["v"])
    assert one.name == site.url("plain", "a.parquet")
    assert one.read(0, 3).tolist() == [[x] for x in _table(1)["v"].to_pylist()[:3]]
    assert pickle.loads(pickle.dumps(one)).read(0, 1).shape == (1, 1)
    assert btests.btest(source, Parts(one.name, (source,)), seed=0).pvalue > 0.0


def test_secrets_of_an_address_are_nowhere(site: Site, shell: Shell) -> None:
    address = site.url("plain", f"deep/er/a.csv?token={SECRET}#{SECRET}").replace("http://", f"http://me:{SECRET}@")
    found = shell(address, site.url("plain", "b.csv"), "--json", "--report", "r.html")
    assert found.status in (0, 1)
    assert any(SECRET in path for path in site.asked)
    for text in (found.out, found.err, Path("r.html").read_text(encoding="utf-8")):
        assert SECRET not in text
        assert "btests-remote" not in text
    assert found.json["command"].startswith(f"btests compare {site.url('plain', 'deep/er/a.csv')} ")
    for how in ("404", "403", "plain", "circle", "cut"):
        missing = site.url(how, f"zz.csv?token={SECRET}").replace("http://", f"http://me:{SECRET}@")
        assert SECRET not in shell.refused(missing, "b.csv")
    same = shell(address, site.url("plain", "a.csv"), "--json").json
    assert list(same["names"].values()) == [site.url("plain", "deep/er/a.csv"), site.url("plain", "a.csv")]


def test_trouble_is_one_sentence(site: Site, shell: Shell) -> None:
    Path("b.csv").write_bytes(site.files["b.csv"])

    def refused(how: str, name: str) -> str:
        return shell.refused(site.url(how, name), "b.csv")

    assert f"there is no file '{site.url('plain', 'zz.csv')}'" in refused("plain", "zz.csv")
    assert "answers with status 403" in refused("403", "a.csv")
    assert "answers with status 500" in refused("500", "a.csv")
    assert "redirects it in a circle" in refused("circle", "a.csv")
    assert "its end is missing" in refused("cut", "a.csv")
    assert "redirects it to what is no address of http:// or https://" in refused("file", "a.csv")
    assert "the answer of the server is not valid HTTP" in refused("foreign", "a.csv")
    assert "closed the connection without an answer" in refused("silent", "a.csv")
    login = site.url("plain", "login.csv")
    assert f"'{login}' is an HTML page" in shell.refused(login, login)
    assert f"'{site.url('plain', 'bad.parquet')}' is damaged" in refused("plain", "bad.parquet")
    assert "name one of them, such as 'http://127.0.0.1" in refused("plain", "t.db")
    assert "did you mean" in refused("plain", "t.db::oter")
    assert "holds one table" in refused("plain", "a.csv::t")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/a.csv"
        assert "takes no connections" in shell.refused(closed, "b.csv")
    for address, why in (
        ("http://127.0.0.1/", "names no file"),
        ("https://", "names no file"),
        ("http://[::1/a.csv", "no address of a file"),
        ("gopher://a/b.csv", "of a kind that is not read"),
        ("s3://bucket/part-*.csv", "is a pattern"),
        ("s3://bucket/a.csv", "fetching it needs s3fs; python -m pip install s3fs gets it"),
    ):
        assert why in shell.refused(address, "b.csv")
    assert "--checkpoint is for files that stay as they are" in shell.refused(
        site.url("plain", "a.csv"), "b.csv", "--checkpoint", "c"
    )
    with pytest.raises(ValueError, match="checkpoint is for files"):
        btests.btest(site.url("plain", "a.csv"), "b.csv", checkpoint="c")


@pytest.mark.parametrize(("how", "why"), [("stalled", "stopped answering"), ("drops", "comes too slowly")])
def test_a_server_that_does_not_go_on_is_left(site: Site, tmp_path: Path, how: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        fetched(site.url(how, "a.csv"), str(tmp_path), TimeLimits(2.0, 0.3, 0.2))


@pytest.mark.parametrize(("module", "remedy"), [("fsspec", "btests[remote]"), ("aiohttp", "btests[remote]")])
def test_addresses_need_packages(shell: Shell, monkeypatch: pytest.MonkeyPatch, module: str, remedy: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert f"needs {module}; python -m pip install '{remedy}'" in shell.refused("http://127.0.0.1/a.csv", "b.csv")


def test_a_file_of_that_name_comes_first(shell: Shell) -> None:
    Path("http:/host").mkdir(parents=True)
    Path("http://host/a.csv").write_bytes(_csv(_table(1)))
    assert load("http://host/a.csv", "table").table.num_rows == 120
    assert public("http://host/a.csv?x") == "http://host/a.csv"
