"""JSON lines that are no table: the sentence names the line, and pyarrow is not given what ends the process."""

from __future__ import annotations

import pytest

from btests.data import table
from btests.data.json_table import read_json
from btests.data.table import table_of_bytes

GOOD = b"".join(b'{"a": %d, "b": %d}\n' % (i % 5, i % 3) for i in range(40))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b'{"a": "x"}\n', r"'x' has text in line 41, column 'a', and a number in lines before"),
        (b'\n\n{"b": {"c": 1}}\n', r"'x' has an object in line 43, column 'b', and a number in lines before"),
        (b"[1]\n", r"'x' has an array in line 41; each line must be an object"),
        (b"null\n", r"'x' has null in line 41; each line must be an object"),
        (b'{"a": 1, "a": 2}\n', r"'x' has the key 'a' twice in line 41"),
        (b'{"a": 1\n', r"'x' is damaged or cut off in line 41: Missing a comma"),
        (b'{"a":' + b"[" * 600 + b"]" * 600 + b"}", r"line 41 of 'x' is nested 601 deep"),
    ],
)
def test_messages_name_the_line(lines: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table_of_bytes(GOOD + lines, "x")


def test_the_first_line_of_a_piece_is_counted() -> None:
    with pytest.raises(ValueError, match="'x' has text in line 140, column 'a'"):
        read_json(GOOD + b'{"a": "x"}\n', "x", first_line=100)


@pytest.mark.parametrize("lines", [b"null\n", b"null\nnull\n", b'\xef\xbb\xbfnull\n{"a": 1}\n', b'  null\n{"a": 1}\n'])
def test_lines_that_are_null(lines: bytes) -> None:
    with pytest.raises(ValueError, match="has null in line 1; each line must be an object"):
        read_json(lines, "x")


def test_blocks_of_several_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_JSON_BLOCK", 64)
    days = b'{"a": "2020-01-01"}\n' * 10
    assert [str(own) for own in table_of_bytes(GOOD + b'{"a": 1.5}\n', "x").schema.types] == ["double", "int64"]
    assert [str(own) for own in table_of_bytes(days, "x").schema.types] == ["timestamp[s]"]
    mixed = table_of_bytes(days + b'{"b": 1}\n' * 20 + b'{"a": "soon"}\n', "x")
    assert [str(own) for own in mixed.schema.types] == ["string", "int64"]
    assert mixed["a"].to_pylist() == ["2020-01-01"] * 10 + [None] * 20 + ["soon"]
    with pytest.raises(ValueError, match=r"an object in line 41, column 'a'|from line 4\d on"):
        table_of_bytes(GOOD + b'{"a": {"c": 1}}\n' * 40, "x")
    with pytest.raises(ValueError, match="of type string in column 'a' from line 41 on, and of type int64 before"):
        table_of_bytes(GOOD + b'{"a": "' + b"x" * 50 + b'"}\n', "x")


def test_a_key_of_its_own_in_each_line() -> None:
    with pytest.raises(ValueError, match="'x' has 30000 different keys in 30001 lines, so that nearly all cells"):
        read_json(b"".join(b'{"k%d": 1}\n' % i for i in range(30_000)), "x")
    wide = b"{" + b", ".join(b'"k%d": 1' % i for i in range(2000)) + b"}\n"
    assert read_json(wide * 100, "x").num_columns == 2000
    some = b"".join(b'{"k%d": 1}\n' % (i % 300) for i in range(3000))
    assert read_json(some, "x").num_columns == 300
