"""Quotes that are not closed are refused, with their line; quotes that pyarrow takes as text are not."""

from __future__ import annotations

import csv
import gzip
import io
import random
import re
from pathlib import Path

import pytest

import btests
from btests.data.csv import open_csv
from btests.data.csv_rows import QuoteScan, check_quotes

ROWS = "".join(f"{i},x\n" for i in range(60))


def opened(data: bytes, cuts: list[int]) -> str:
    """Return the message on text that is scanned in pieces, empty for none."""
    scan = QuoteScan("t", ",")
    try:
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            scan.feed(data[start:end])
        scan.finish()
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("memory", [None, 1000])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_rows_behind_an_open_quote_are_not_lost(tmp_path: Path, memory: int | None, suffix: str) -> None:
    good, bad, stray = (tmp_path / f"{name}{suffix}" for name in ("good", "bad", "stray"))
    write = gzip.compress if suffix.endswith("gz") else bytes
    good.write_bytes(write(("a,b\n" + ROWS).encode()))
    bad.write_bytes(write(("a,b\n" + ROWS + '60,"open\n' + ROWS).encode()))
    stray.write_bytes(write(("a,b\n" + ROWS + '60,"open\n' + ROWS + '9,"y"\n' + ROWS).encode()))
    with pytest.raises(ValueError, match=r"has a quote in line 62, before 'open\\n0,x.*, that is not closed"):
        btests.compare(bad, good, memory=memory)
    with pytest.raises(ValueError, match=r"a quote in line 62, .*, that is closed in line 123, where text follows"):
        btests.compare(stray, good, memory=memory)
    with pytest.raises(ValueError, match="has a quote in line 62"):
        open_csv(bad, ("a",))


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n1,5" pipe\n',
        'a,b\n1,"two\nlines"\n',
        'a,b\n1,"a ""word"""\n',
        'a,b\n1,""\n"x" ,""""\n',
        '\ufeff"a",b\n1,2',
    ],
)
def test_quotes_that_are_right(text: str) -> None:
    check_quotes(text.encode(), "t", ",")


def test_pieces_and_wholes_agree_with_a_parser() -> None:
    rng = random.Random(1)
    found = 0
    for _ in range(3000):
        text = "".join(
            rng.choice(['"', '"', ",", "\n", "x", '""', ',"', '",', '"\n']) for _ in range(rng.randrange(1, 14))
        )
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(4)))
        whole = opened(text.encode(), [])
        in_pieces = opened(text.encode(), cuts)
        assert re.sub("before .*,", "", in_pieces) == re.sub("before .*,", "", whole), (text, cuts)
        if "that is closed in" in whole:
            continue
        # The parser of Python closes no cell at the end of the text: one more line shows whether a cell was open.
        rows = list(csv.reader(io.StringIO(text + "\nlast", newline="")))
        assert (rows[-1] != ["last"]) == ("not closed" in whole), text
        found += "not closed" in whole
    assert found > 300
