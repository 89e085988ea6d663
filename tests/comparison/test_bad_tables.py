"""Every kind of bad input: one sentence that names file, column and row where it can, and status 2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import btests
from tests.comparison.conftest import Shell


def test_no_such_file(shell: Shell, files: tuple[str, str]) -> None:
    assert "there is no file 'nowhere.csv'" in shell.refused("nowhere.csv", "b.csv")
    assert "no file matches 'part-*.csv'" in shell.refused("a.csv", "part-*.csv")
    for call in (btests.compare, btests.btest):
        with pytest.raises(FileNotFoundError, match=r"^there is no file 'nowhere\.csv'$"):
            call("nowhere.csv", "b.csv")
    Path("data.xyz").write_bytes(b"\x7f\x01\x02")
    assert "'data.xyz' is of no known format" in shell.refused("data.xyz", "b.csv")


def test_folder_without_parts(shell: Shell, files: tuple[str, str]) -> None:
    Path("parts").mkdir()
    (Path("parts") / "_SUCCESS").touch()
    assert "the folder 'parts' holds no data files" in shell.refused("parts", "b.csv")


def test_ragged_csv_names_the_line(shell: Shell, files: tuple[str, str]) -> None:
    lines = Path("a.csv").read_text().splitlines()
    lines[7] = "1"
    Path("ragged.csv").write_text("\n".join(lines))
    assert "line 8 has 1 cell and the header has 4" in shell.refused("ragged.csv", "b.csv")
    lines[7] = "1,2"
    Path("ragged.csv").write_text("\n".join(lines))
    assert "'ragged.csv' is ragged: line 8 has 2 cells and the header has 4" in shell.refused("ragged.csv", "b.csv")


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_wrong_delimiter(shell: Shell, files: tuple[str, str], delimiter: str) -> None:
    Path("other.csv").write_text(Path("a.csv").read_text().replace(",", delimiter))
    error = shell.refused("other.csv", "b.csv")
    assert "'other.csv' has one column" in error
    assert "--delimiter" in error
    Path("second.csv").write_text(Path("b.csv").read_text().replace(",", delimiter))
    assert shell("other.csv", "second.csv", "--delimiter", delimiter).status == 0


def test_other_encodings(shell: Shell, files: tuple[str, str]) -> None:
    lines = [*["size,colour"], *[f"{j},blau" for j in range(20)], "21,gr\u00fcn"]
    Path("latin.csv").write_bytes("\n".join(lines).encode("latin-1"))
    Path("wide.csv").write_bytes("\n".join(lines).encode("utf-16"))
    notes = shell("latin.csv", "wide.csv", "--json").json["notes"]
    assert "latin.csv was read as Latin-1" in notes
    assert "wide.csv was read as UTF-16" in notes
    damaged = "\n".join([*lines, "22,blau"]).encode() + b"\xff"
    Path("damaged.csv").write_bytes(damaged)
    assert "column 'colour' of 'damaged.csv' is not UTF-8 text in row 22" in shell.refused("damaged.csv", "b.csv")
    Path("header.csv").write_bytes("gr\u00fcn".encode() + b"\xff,b\n1,2\n3,4\n")
    assert "'header.csv'" in shell.refused("header.csv", "b.csv")


def test_utf8_with_a_byte_order_mark_is_fine(shell: Shell, files: tuple[str, str]) -> None:
    Path("bom.csv").write_bytes(b"\xef\xbb\xbf" + Path("a.csv").read_bytes())
    assert shell("bom.csv", "b.csv").status == 0


def test_no_rows(shell: Shell, files: tuple[str, str]) -> None:
    for end in ("\n", "", "\r\n\r\n"):
        Path("header.csv").write_text("size,colour,flag,day" + end)
        assert "'header.csv' has a header and no rows" in shell.refused("header.csv", "b.csv")
    Path("empty.csv").write_text("")
    assert "'empty.csv' is empty" in shell.refused("a.csv", "empty.csv")
    Path("one.csv").write_text("size,colour,flag,day\n1,red,true,2024-01-01\n")
    assert "one.csv has 1 row" in shell.refused("one.csv", "b.csv")
    assert "no row has colour = pink; there are" in shell.refused(
        "a.csv", "--by", "colour", "--a", "red", "--b", "pink"
    ).replace("No row", "no row")


def test_no_common_columns(shell: Shell, files: tuple[str, str]) -> None:
    Path("other.csv").write_text("u,v\n1,2\n3,4\n")
    error = shell.refused("a.csv", "other.csv")
    assert "no column in common: 'size', 'colour', 'flag', 'day' against 'u', 'v'" in error


def test_extra_columns_are_named(shell: Shell, files: tuple[str, str]) -> None:
    Path("more.csv").write_text(
        "\n".join(
            line + (",extra" if k == 0 else f",{k % 7}")
            for k, line in enumerate(Path("b.csv").read_text().splitlines())
        )
    )
    error = shell.refused("a.csv", "more.csv")
    assert "only in more.csv: 'extra'" in error
    assert "--common" in error
    found = shell("a.csv", "more.csv", "--common", "--json").json
    assert {"name": "extra", "reason": "only in more.csv"} in found["excluded"]


def test_type_conflicts_are_named(shell: Shell, files: tuple[str, str]) -> None:
    text = Path("b.csv").read_text().splitlines()
    cells = [line.split(",") for line in text]
    for row in cells[1:]:
        row[0] = "small"
    Path("text.csv").write_text("\n".join(",".join(row) for row in cells))
    error = shell.refused("a.csv", "text.csv")
    assert "column 'size' is numbers in a.csv and text in text.csv ('small' in row 1)" in error
    assert "text in text.csv ('small' in row 1) and numbers in a.csv" in shell.refused("text.csv", "a.csv")
    found = shell("a.csv", "text.csv", "--common", "--json").json
    assert [left["name"] for left in found["excluded"]] == ["size"]


def test_all_cells_missing(shell: Shell, files: tuple[str, str]) -> None:
    for name in "pq":
        Path(f"{name}.csv").write_text("u,v\n" + ",\n" * 50)
    error = shell.refused("p.csv", "q.csv")
    assert "no column of p.csv and q.csv remains to be compared: 'u': all its cells are missing" in error.replace(
        "No ", "no "
    )
    Path("p.csv").write_text("u,v\n" + "".join(f"{j % 5},\n" for j in range(50)))
    Path("q.csv").write_text("u,v\n" + "".join(f"{j % 5},\n" for j in range(50)))
    found = shell("p.csv", "q.csv", "--json")
    assert found.status == 0
    assert found.json["excluded"] == [{"name": "v", "reason": "all its cells are missing"}]


def test_missing_on_one_side_alone_is_a_difference(shell: Shell, files: tuple[str, str]) -> None:
    Path("p.csv").write_text("u,v\n" + "".join(f"{j % 5},\n" for j in range(200)))
    Path("q.csv").write_text("u,v\n" + "".join(f"{j % 5},{j % 3}\n" for j in range(200)))
    found = shell("p.csv", "q.csv", "--json")
    assert found.status == 1
    assert found.json["columns"][0]["name"] == "v"
    assert found.json["columns"][0]["changes"][0]["quantity"] == "missing"


def test_very_many_strings(shell: Shell) -> None:
    n = 50_000
    for k, name in enumerate("pq"):
        Path(f"{name}.csv").write_text("key,u\n" + "".join(f"name-{k}-{j},{j % 10}\n" for j in range(n)))
    found = shell("p.csv", "q.csv", "--json").json
    assert found["excluded"][0]["name"] == "key"
    assert "100000 different values" in found["excluded"][0]["reason"]


def test_a_million_distinct_strings() -> None:
    n = 500_000
    words = pa.array([f"w{j}" for j in range(2 * n)])
    tables = [pa.table({"word": words[k * n : (k + 1) * n], "u": pa.array(np.arange(n) % 7)}) for k in range(2)]
    found = btests.compare(*tables, seed=0, max_rows=n)
    assert found.excluded[0][0] == "word"


def test_a_column_of_lists(shell: Shell, files: tuple[str, str]) -> None:
    for name in "pq":
        pq.write_table(pa.table({"u": np.arange(50) % 7, "tags": [["x"]] * 50}), f"{name}.parquet")
    assert "column 'tags' holds lists in p.parquet" in shell.refused("p.parquet", "q.parquet")
    found = shell("p.parquet", "q.parquet", "--exclude", "tags", "--json").json
    assert found["excluded"] == [{"name": "tags", "reason": "as asked"}]


def test_infinite_numbers(shell: Shell, files: tuple[str, str]) -> None:
    Path("p.csv").write_text("u\n" + "\n".join(str(j % 9) for j in range(20)) + "\ninf\n")
    Path("q.csv").write_text("u\n" + "\n".join(str(j % 9) for j in range(20)) + "\n")
    assert "column 'u' of p.csv has an infinite number in row 21" in shell.refused("p.csv", "q.csv")


@pytest.mark.parametrize(
    ("form", "note"),
    [("{d}.{m}.2024", "read as %d.%m.%Y"), ("2024/{m}/{d}", "read as %Y/%m/%d"), ("{d}/{m}/2024", "read as %d/%m/%Y")],
)
def test_dates_as_text(shell: Shell, form: str, note: str) -> None:
    rng = np.random.default_rng(0)
    for k, name in enumerate("pq"):
        days = [
            form.format(d=f"{1 + int(rng.integers(28)):02d}", m=f"{1 + k + int(rng.integers(3)):02d}")
            for _ in range(300)
        ]
        Path(f"{name}.csv").write_text("when\n" + "\n".join(days))
    found = shell("p.csv", "q.csv", "--json").json
    assert note in found["notes"][0]
    assert found["columns"][0]["kind"] == "time"
    assert found["verdict"]["different"]


def test_dates_as_text_that_could_be_either(shell: Shell) -> None:
    rng = np.random.default_rng(0)
    for name in "pq":
        days = [f"0{1 + int(rng.integers(9))}/0{1 + int(rng.integers(9))}/2024" for _ in range(300)]
        Path(f"{name}.csv").write_text("when\n" + "\n".join(days))
    found = shell("p.csv", "q.csv", "--json").json
    assert "the day or the month first" in found["notes"][0]
    assert found["columns"][0]["kind"] == "category"


def test_duplicated_names(shell: Shell, files: tuple[str, str]) -> None:
    Path("twice.csv").write_text("u,v,u\n1,2,3\n4,5,6\n")
    assert "'twice.csv' has more than one column called 'u'" in shell.refused("twice.csv", "b.csv")
    pq.write_table(pa.table([["p", "q"], ["r", "s"]], names=["u", "u"]), "twice.parquet")
    assert "'twice.parquet' has more than one column called 'u'" in shell.refused("twice.parquet", "b.csv")


def test_markup_is_text(shell: Shell) -> None:
    evil = "<script>alert(1)</script>"
    for k, name in enumerate("pq"):
        lines = [f'"{evil}",{j % 5}' if j % 3 == k else f"plain,{j % 5}" for j in range(200)]
        Path(f"{name}.csv").write_text("<b>name</b>,u\n" + "\n".join(lines))
    found = btests.compare("p.csv", "q.csv", seed=0)
    assert any(column.name == "<b>name</b>" for column in found.columns)
    assert "<script>" not in found._repr_html_()
    assert "<b>name" not in found._repr_html_()


def test_output_paths(shell: Shell, files: tuple[str, str]) -> None:
    Path("there.html").write_text("mine")
    assert "'there.html' exists already; add --force" in shell.refused("a.csv", "b.csv", "--report", "there.html")
    assert Path("there.html").read_text() == "mine"
    assert "There is no folder 'nowhere'" in shell.refused("a.csv", "b.csv", "--report", "nowhere/r.html")
    Path("folder").mkdir()
    assert "'folder' is a folder" in shell.refused("a.csv", "b.csv", "--report", "folder")
    Path("link.html").symlink_to("elsewhere.html")
    assert "'link.html' exists already" in shell.refused("a.csv", "b.csv", "--report", "link.html")
    assert "File name too long" in shell.refused("a.csv", "b.csv", "--report", "r" * 300 + ".html")
    assert "--report has no name; name a file." in shell.refused("a.csv", "b.csv", "--report", "")
    assert "--report is a file, and - is standard output" in shell.refused("a.csv", "b.csv", "--report", "-")


def test_pipes_are_neither_written_nor_read(shell: Shell, files: tuple[str, str]) -> None:
    for name in ("pipe.csv", "pipe.html"):  # without a reader or a writer: opening it would wait for ever
        os.mkfifo(name)
    refused = shell.refused("a.csv", "b.csv", "--report", "pipe.html", "--force")
    assert "--report must be a file, and 'pipe.html' is a pipe or a device" in refused
    assert "'pipe.csv' is a pipe or a device; name a file" in shell.refused("a.csv", "pipe.csv")
    assert "'pipe.csv' is no file" in shell.refused("a.csv", "b.csv", "--memory", "1kB", "--checkpoint", "pipe.csv")


def test_a_report_is_not_written_where_the_answer_is_printed(files: tuple[str, str]) -> None:
    command = [sys.executable, "-m", "btests", "compare", "a.csv", "b.csv", "--force", "--report", "/dev/stdout"]
    with Path("answer.txt").open("wb") as file:
        found = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, check=False)
    assert (found.returncode, Path("answer.txt").read_bytes()) == (2, b"")
    assert b"'/dev/stdout' is where the command prints; name another file" in found.stderr


def test_pickles_are_never_loaded(shell: Shell, files: tuple[str, str]) -> None:
    np.save("objects.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    assert "'objects.npy' holds Python objects, which are never loaded" in shell.refused("objects.npy", "b.csv")
    np.savez("objects.npz", x=np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    assert "never loaded" in shell.refused("objects.npz", "b.csv")
    Path("junk.npy").write_bytes(b"\x93NUMPY junk")
    assert "'junk.npy' is not a readable numpy file" in shell.refused("junk.npy", "b.csv")


@pytest.mark.parametrize("options", [(), ("--memory", "1kB")])
def test_files_that_are_named_like_something_else(
    shell: Shell, files: tuple[str, str], options: tuple[str, ...]
) -> None:
    table = pa.table({"a": np.arange(50.0)})
    for name in ("p.npy", "p.arrow"):
        pq.write_table(table, name)
        what = {"p.npy": "not a readable numpy file", "p.arrow": "not a readable Arrow or Feather file"}[name]
        refused = shell.refused(name, "b.csv", *options)
        assert f"'{name}' is {what} but a Parquet file: name it .parquet" in refused
    np.save("n.npy", np.zeros((5, 2)))
    Path("n.npy").rename("n.parquet")
    told = "is not a readable Parquet file but a numpy array: name it .npy"
    assert told in shell.refused("n.parquet", "b.csv", *options)
    Path("c.npy").write_text(Path("b.csv").read_text())
    told = "'c.npy' is not a readable numpy file but text: name it .csv if it is a table"
    assert told in shell.refused("c.npy", "b.csv", *options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name two tables"),
        (["a.csv"], "name two tables, or one and the column that splits it with --by"),
        (["a.csv", "b.csv", "b.csv"], "compare takes two tables, got 3"),
        (["a.csv", "b.csv", "--by", "flag"], "--by splits one table"),
        (["a.csv", "--by", "nothing"], "--by names 'nothing', which is not in a.csv"),
        (["a.csv", "--by", "colour", "--memory", "1kB"], "has more than two different values"),
        (["a.csv", "--by", "colour", "--tolerance", "5%"], "--tolerance is for two sides, and 'colour' has 3 groups"),
        (["a.csv", "--by", "colour", "--null", "normal"], "--null of 3 groups must be sign-flip, got normal"),
        (["a.csv", "--by", "colour", "--workers", "2", "--max-rows", "9"], "--workers computes the joint test"),
        (["a.csv", "--by", "colour", "--columns", "colour"], "--columns names 'colour', which splits the table"),
        (["a.csv", "--by", "colour", "--exclude", "sise"], "(did you mean 'size'?), which is not in a.csv"),
        (["a.csv", "--by", "colour", "--block-size", "2"], "--block-size must be at least 4"),
        (["a.csv", "--by", "size"], "at most 50 groups are compared at once; name two of them with --a and --b"),
        (["a.csv", "--by", "colour", "--a", "red"], "--a and --b go together"),
        (["a.csv", "--by", "colour", "--a", "red", "--b", "red"], "are the same value"),
        (["a.csv", "b.csv", "--columns", "sise"], "(did you mean 'size'?), which is not in a.csv nor in b.csv"),
        (["a.csv", "b.csv", "--exclude", "sise"], "--exclude names 'sise'"),
        (["a.csv", "b.csv", "--exclude", "size,colour,flag,day"], "remains to be compared"),
        (["a.csv", "b.csv", "--alpha", "2"], "2.0 is not in the range"),
        (["a.csv", "b.csv", "--block-size", "1000"], "--block-size must be between 2 and 300"),
        (["a.csv", "b.csv", "--kernel", "magic"], "'magic' is not one of"),
        (["-", "-"], "standard input can be one of the tables, not both"),
        (["--demo", "a.csv"], "--demo writes and compares tables of its own"),
    ],
)
def test_mistakes_at_the_command_line(shell: Shell, files: tuple[str, str], arguments: list[str], message: str) -> None:
    assert message in shell.refused(*arguments)


def test_files_larger_than_memory(shell: Shell, files: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    from btests.comparison import sources

    monkeypatch.setattr(sources, "free_bytes", lambda: 1000)
    assert "'a.csv' has" in shell.refused("a.csv", "b.csv")


@pytest.mark.parametrize("table", ["b.csv", "b*.csv", "."])
def test_the_report_is_not_written_over_a_table(shell: Shell, files: tuple[str, str], table: str) -> None:
    before = Path("b.csv").read_bytes()
    refused = shell.refused("a.csv", table, "--report", "b.csv", "--force")
    assert "'b.csv' is one of the tables that are compared; name another file" in refused
    assert Path("b.csv").read_bytes() == before


def test_a_table_without_a_name(shell: Shell, files: tuple[str, str]) -> None:
    assert "A table has no name" in shell.refused("", "b.csv")


def test_whole_numbers_that_floats_cannot_tell_apart() -> None:
    rng = np.random.default_rng(1)
    a, b = ({"v": 2**60 + rng.integers(low, low + 5, 300)} for low in (0, 3))
    found = btests.compare(a, b, seed=1)
    assert found.different
    assert f"column 'v' has whole numbers beyond 2^53; {2**60} was subtracted from them" in found.notes
    b["v"][0] = 5
    assert "which are rounded: neighbours may become equal" in " ".join(btests.compare(a, b, seed=1).notes)


def test_whole_numbers_in_text_beyond_the_range_of_integers(shell: Shell) -> None:
    for name, low in (("p", 0), ("q", 400)):
        Path(f"{name}.csv").write_text("v,w\n" + "".join(f"{2**70 + low + i},{i % 7}\n" for i in range(200)))
    found = shell("p.csv", "q.csv", "--json").json
    assert found["verdict"]["different"]
    assert f"column 'v' has numbers beyond 2^53; {2**70} was subtracted from them" in found["notes"]
    for name in "pq":
        Path(f"{name}.csv").write_text("v,w\n" + "".join(f"{i + 1}e20,{i % 7}\n" for i in range(200)))
    assert not shell("p.csv", "q.csv", "--json").json["verdict"]["different"]


def test_decimals_that_floats_cannot_tell_apart() -> None:
    a, b = (
        pa.table({"v": pa.array([Decimal(10**30 + low + i) for i in range(100)], pa.decimal128(38, 0))})
        for low in (0, 100)
    )
    found = btests.compare(a, b, seed=1)
    assert found.different
    assert f"column 'v' has numbers beyond 2^53; {10**30} was subtracted from them" in found.notes


def test_a_file_and_a_frame(files: tuple[str, str]) -> None:
    frame = pd.read_csv("b.csv")
    assert btests.compare("a.csv", frame, seed=1).pvalue == btests.compare("a.csv", "b.csv", seed=1).pvalue


def test_json_that_is_nested_very_deep(shell: Shell) -> None:
    Path("deep.jsonl").write_text(('{"a":' + "[" * 20000 + "]" * 20000 + "}\n") * 3)
    assert "nested 20001 deep, and at most 500 are read" in shell.refused("deep.jsonl", "deep.jsonl")
    Path("flat.jsonl").write_text("".join(f'{{"a": {i % 7}, "b": "{"[" * 600}"}}\n' for i in range(60)))
    assert shell("flat.jsonl", "flat.jsonl", "--json").json["verdict"]["pvalue"] == 1.0


def test_a_name_that_is_not_text(shell: Shell, files: tuple[str, str]) -> None:
    name = os.fsdecode(b"n\xff\xfe.csv")
    shutil.copy("a.csv", name)
    assert r"the name 'n\udcff\udcfe.csv' is not UTF-8" in shell.refused(name, "b.csv")


def test_a_checkpoint_on_another_file(shell: Shell, files: tuple[str, str]) -> None:
    refused = shell.refused("a.csv", "b.csv", "--checkpoint", "b.csv")
    assert "--checkpoint 'b.csv' is one of the tables; name another" in refused
    refused = shell.refused("a.csv", "b.csv", "--checkpoint", "c", "--report", "c")
    assert "--checkpoint and --report are both 'c'; name two files" in refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--a", "1"], "--a and --b are values of the column that --by names"),
        (["--null", "pearson", "--block-size", "50"], "all rows at once: --block-size must be 300, got 50"),
        (["--checkpoint", ""], "--checkpoint must be the path of a file, got ''"),
        (["--delimiter", "||"], "--delimiter must be one ASCII character and no quote, got '||'"),
        (["--delimiter", ""], "--delimiter must be one ASCII character and no quote, got ''"),
    ],
)
def test_options_that_do_not_fit(shell: Shell, files: tuple[str, str], options: list[str], message: str) -> None:
    assert message in shell.refused("a.csv", "b.csv", *options)


def test_a_table_without_a_name_or_of_a_whole_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="the name of a file is empty, ''"):
        btests.compare("", "")
    for empty in (".", tmp_path, Path()):
        with pytest.raises(ValueError, match="holds no data files"):
            btests.compare(empty, empty)
    (tmp_path / "inside").mkdir()
    for k in range(30):
        (tmp_path / "inside" / f"{k}.dat").touch()
    monkeypatch.setattr("btests.data.files._MOST_ENTRIES", 20)
    for path in (".", "inside/*", "**", "**/*.zzz", "*/*.zzz"):
        with pytest.raises(ValueError, match="holds more than 20 files and folders; name those of the table"):
            btests.compare(path, path)
