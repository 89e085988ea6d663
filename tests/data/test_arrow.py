"""Rows in Parquet and Arrow files, and in many parts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from btests._warnings import PrecisionWarning
from btests.data.arrow import open_arrow
from btests.data.open import Parts, open_source
from tests.data.common import check_source, same

RNG = np.random.default_rng(4)


def write(path: Path, table: Any, **options: Any) -> str:
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=options.pop("rows", 100), **options)
    else:
        feather.write_feather(table, str(path), chunksize=options.pop("rows", 100), **options)
    return str(path)


def table_of(rows: Any, names: str = "abcdefgh") -> Any:
    return pa.table({names[j]: rows[:, j] for j in range(rows.shape[1])})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_floats(tmp_path: Path, suffix: str, dtype: Any) -> None:
    rows = RNG.normal(size=(730, 3)).astype(dtype)
    source = open_source(write(tmp_path / f"rows{suffix}", table_of(rows)))
    check_source(source, rows)
    edges = source.units()
    assert edges is not None
    assert edges.tolist() == [0, 100, 200, 300, 400, 500, 600, 700, 730]
    assert source.names == ("a", "b", "c")


def write_stream(path: Path, table: Any) -> str:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    return str(path)


@pytest.mark.parametrize("suffix", [".arrow", ".arrows"])
def test_streams_of_record_batches(tmp_path: Path, suffix: str) -> None:
    rows = RNG.normal(size=(730, 3))
    path = tmp_path / f"rows{suffix}"
    source = open_source(write_stream(path, table_of(rows)))
    check_source(source, rows)
    edges = source.units()
    assert edges is not None
    assert edges.tolist() == [0, 100, 200, 300, 400, 500, 600, 700, 730]
    check_source(open_source(path, ["c", "a"]), rows[:, [2, 0]])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="is damaged or cut off"):
        open_source(path)
    path.write_bytes(whole[:4] + b"junk" * 10)
    with pytest.raises(ValueError, match="is damaged or cut off"):
        open_source(path)
    coded = table_of(rows).append_column("d", pa.array(["u", "v"] * 365).dictionary_encode())
    with pytest.raises(ValueError, match=r"is an Arrow stream with categories, .* save it as an Arrow file"):
        open_source(write_stream(path, coded), ["a"])


def test_files_that_are_named_like_something_else(tmp_path: Path) -> None:
    table = table_of(RNG.normal(size=(20, 2)))
    parquet.write_table(table, tmp_path / "table.parquet")
    feather.write_feather(table, str(tmp_path / "table.arrow"))
    write_stream(tmp_path / "table.stream", table)
    np.save(tmp_path / "table.npy", np.zeros((3, 2)))
    (tmp_path / "strange.csv").write_text("PAR1,b\n1,2\n")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    (tmp_path / "table.junk").write_bytes(bytes(range(200, 256)))
    assert open_source(tmp_path / "strange.csv").names == ("PAR1", "b")
    for source, name, complaint in (
        ("table.parquet", "x.npy", "is not a readable numpy file but a Parquet file: name it .parquet"),
        ("table.parquet", "x.csv", "is a Parquet file: name it .parquet"),
        ("table.arrow", "x.npy", "is not a readable numpy file but an Arrow file: name it .arrow"),
        ("table.stream", "x.csv", "is a stream of Arrow record batches: name it .arrow"),
        ("table.npy", "x.parquet", "is neither a Parquet nor an Arrow file, but a numpy array: name it .npy"),
        ("table.csv", "x.parquet", "is neither a Parquet nor an Arrow file, but text: name it .csv if it is a table"),
        ("table.csv", "x.npy", "is not a readable numpy file but text: name it .csv if it is a table"),
        ("table.junk", "x.npy", "is not a readable numpy file"),
        ("table.junk", "x.arrow", "is neither a Parquet nor an Arrow file: it does not begin as one"),
    ):
        (tmp_path / name).write_bytes((tmp_path / source).read_bytes())
        with pytest.raises(ValueError, match=complaint):
            open_source(tmp_path / name)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_numbers_of_all_kinds(tmp_path: Path, suffix: str) -> None:
    values = np.arange(250) % 100
    table = pa.table(
        {
            "half": pa.array(values.astype(np.float16)),
            "small": pa.array(values.astype(np.int8)),
            "whole": pa.array(values.astype(np.uint64)),
            "yes": pa.array(values > 50),
            "money": pa.array(values.tolist()).cast(pa.decimal128(25, 2)),
            "with.dot": pa.array(values.astype(np.float32)),
        }
    )
    wanted = np.column_stack([values, values, values, values > 50, values, values]).astype(np.float64)
    path = write(tmp_path / f"rows{suffix}", table)
    check_source(open_source(path), wanted)
    check_source(open_source(path, columns=["with.dot", "small"]), wanted[:, [5, 1]])
    check_source(open_source(path, columns=["with.dot"]), wanted[:, [5]].astype(np.float32))


def test_only_the_columns_asked_for_are_looked_at(tmp_path: Path) -> None:
    table = pa.table({"text": ["a", "b"], "x": [1.0, 2.0], "y": [3.0, None]})
    path = write(tmp_path / "rows.parquet", table)
    same(open_source(path, columns=["x"]).read(0, 2), np.array([[1.0], [2.0]]))
    with pytest.raises(ValueError, match=r"column 'text' of .*rows.parquet' holds string, not numbers"):
        open_source(path)
    with pytest.raises(ValueError, match="missing cell in row 1, column 'y'"):
        open_source(path, columns=["x", "y"]).read(0, 2)
    with pytest.raises(ValueError, match="has no column 'z'; it has 'text', 'x', 'y'"):
        open_source(path, columns=["x", "z"])
    with pytest.raises(ValueError, match="each once"):
        open_source(path, columns=["x", "x"])
    with pytest.raises(ValueError, match=r"write \['x'\]"):
        open_source(path, columns="x")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_bad_cells_are_named(tmp_path: Path, suffix: str) -> None:
    rows = RNG.normal(size=(350, 2))
    rows[333, 1] = np.nan
    source = open_source(write(tmp_path / f"rows{suffix}", table_of(rows)))
    same(source.read(0, 300), rows[:300])
    for reading in (lambda: source.read(120, 350), lambda: source.take(np.array([5, 333])), lambda: [*source.scan(60)]):
        with pytest.raises(ValueError, match=r"rows\..* has a NaN or missing cell in row 333, column 'b'"):
            reading()


def parts_of(folder: Path, rows: Any, n_parts: int, suffix: str = ".parquet") -> list[str]:
    folder.mkdir(exist_ok=True)
    pieces = np.array_split(rows, n_parts)
    return [write(folder / f"part-{i:04}{suffix}", table_of(piece), rows=7) for i, piece in enumerate(pieces)]


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_folders_patterns_and_lists(tmp_path: Path, suffix: str) -> None:
    rows = RNG.normal(size=(500, 3)).astype(np.float32)
    files = parts_of(tmp_path / "all", rows, 30, suffix)
    (tmp_path / "all" / "_SUCCESS").write_text("")
    (tmp_path / "all" / "notes.md").write_text("not data")
    (tmp_path / "all" / "notes.txt").write_text("not data")
    for given in (tmp_path / "all", str(tmp_path / "all" / f"part-*{suffix}"), files):
        source = open_source(given)
        check_source(source, rows)
        assert source.skipped == ()
    backwards = open_source(files[::-1])
    same(backwards.read(0, 5), np.concatenate(np.array_split(rows, 30)[::-1])[:5])


def test_columns_are_matched_by_name(tmp_path: Path) -> None:
    rows = RNG.normal(size=(60, 2))
    first = write(tmp_path / "1.parquet", table_of(rows[:20]))
    second = write(tmp_path / "2.parquet", table_of(rows[20:40, ::-1], "ba"))
    third = write(tmp_path / "3.feather", table_of(rows[40:]))
    check_source(open_source([first, second, third]), rows)


def test_parts_that_differ_are_named(tmp_path: Path) -> None:
    rows = np.zeros((10, 2))
    first = write(tmp_path / "1.parquet", table_of(rows))
    more = write(tmp_path / "2.parquet", table_of(np.zeros((10, 3))))
    other = write(tmp_path / "3.parquet", table_of(rows, "ax"))
    whole = write(tmp_path / "4.parquet", pa.table({"a": np.zeros(10), "b": np.zeros(10, dtype=np.int64)}))
    np.save(tmp_path / "5.npy", rows)
    with pytest.raises(ValueError, match=r"1.parquet' and .*2.parquet' have 2 columns and 3 columns"):
        open_source([first, more])
    check_source(open_source([first, more], columns=["a"]), np.zeros((20, 1)))
    with pytest.raises(ValueError, match=r"1.parquet' and .*3.parquet' do not both have 'b', 'x'"):
        open_source([first, other])
    with pytest.raises(ValueError, match=r"4.parquet' hold column 'b' as double and as int64"):
        open_source([first, whole])
    with pytest.raises(ValueError, match="2 columns and 2 columns without names"):
        open_source([first, tmp_path / "5.npy"])


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_bad_part_among_a_thousand(tmp_path: Path, suffix: str) -> None:
    rows = RNG.normal(size=(3000, 2))
    files = parts_of(tmp_path / "all", rows, 1000, suffix)
    os.truncate(files[617], os.path.getsize(files[617]) - 5)
    with pytest.raises(ValueError, match=rf"part-0617\{suffix}' is damaged or cut off") as error:
        open_source(tmp_path / "all")
    assert "\n" not in str(error.value)
    source = open_source(tmp_path / "all", skip_bad_parts=True)
    assert isinstance(source, Parts)
    assert len(source.skipped) == 1
    assert "part-0617" in source.skipped[0]
    wanted = np.delete(rows, slice(617 * 3, 618 * 3), axis=0)
    same(source.read(0, source.n_rows), wanted)


def test_damage_in_the_middle_is_skipped_too(tmp_path: Path) -> None:
    files = parts_of(tmp_path / "all", RNG.normal(size=(300, 2)), 3)
    data = bytearray(Path(files[1]).read_bytes())
    data[4:400] = b"\x00" * 396
    Path(files[1]).write_bytes(data)
    source = open_source(tmp_path / "all")
    with pytest.raises(ValueError, match=r"part-0001.parquet' is damaged or cut off"):
        source.read(0, 300)
    good = open_source(tmp_path / "all", skip_bad_parts=True)
    assert good.n_rows == 200
    assert "part-0001" in good.skipped[0]


def test_what_is_no_damage_is_not_skipped(tmp_path: Path) -> None:
    files = parts_of(tmp_path / "all", RNG.normal(size=(30, 2)), 3)
    for table, sentence in (
        (table_of(np.full((10, 2), np.nan)), "part-0001.parquet' has a NaN"),
        (pa.table({"a": [1.0, None], "b": [1.0, 2.0]}), "part-0001.parquet' has a missing cell in row 1, column 'a'"),
        (pa.table({"a": ["x"], "b": ["y"]}), "part-0001.parquet' holds string, not numbers"),
        (table_of(np.zeros((10, 3))), "have 2 columns and 3 columns"),
    ):
        parquet.write_table(table, files[1])
        with pytest.raises(ValueError, match=sentence):
            open_source(tmp_path / "all", skip_bad_parts=True)


def test_nothing_but_bad_parts(tmp_path: Path) -> None:
    for i in range(2):
        (tmp_path / f"{i}.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(ValueError, match=r"has no part that can be read: .*0\.parquet"):
        open_source(tmp_path, skip_bad_parts=True)


def test_what_is_not_there_or_not_known(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("hello")
    (tmp_path / "empty.parquet").write_bytes(b"")
    (tmp_path / "text.arrow").write_text("hello, world")
    for path, sentence in (
        (tmp_path / "nothing.parquet", "there is no file"),
        (tmp_path / "*.pq", "no file matches"),
        (tmp_path / "notes.md", "is of no known format by its name; known are .npy"),
        (tmp_path / "empty.parquet", "is empty"),
        (tmp_path / "text.arrow", "is neither a Parquet nor an Arrow file"),
    ):
        with pytest.raises(ValueError, match=sentence):
            open_source(path)
    with pytest.raises(ValueError, match="empty list"):
        open_source([])
    with pytest.raises(ValueError, match="the name of a file is empty, ''"):
        open_source("")
    wrong: Any
    for wrong in (3, None, [3], b"rows.npy", {"a": 1}):
        with pytest.raises(TypeError, match="a path, or a list of paths, is needed, got"):
            open_source(wrong)
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="holds no data files"):
        open_source(tmp_path / "folder")
    none = write(tmp_path / "none.parquet", pa.table({"a": pa.array([], pa.float64())}))
    with pytest.raises(ValueError, match="has no rows"):
        open_source(none)


def test_a_large_row_group_is_read_in_pieces(tmp_path: Path) -> None:
    rows = RNG.normal(size=(300_000, 1))
    source = open_arrow(write(tmp_path / "one.parquet", table_of(rows), rows=10**6))
    assert source.units().tolist() == [0, 300_000]
    pieces = list(source.scan(10**6))
    assert len(pieces) > 2
    same(np.concatenate(pieces), rows)
    check_source(source, rows)


def test_huge_whole_numbers_warn(tmp_path: Path) -> None:
    source = open_source(write(tmp_path / "rows.parquet", pa.table({"id": [2**60, 2**60 + 1]})))
    with pytest.warns(PrecisionWarning, match="column 'id' of .* beyond 2\\^53"):
        source.read(0, 2)
