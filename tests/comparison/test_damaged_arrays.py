"""Numpy files and compressed files that are damaged, lie about their sizes, or hold something else: one sentence."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import btests
from btests.cli import main
from tests.comparison.conftest import Shell


def npy(array: np.ndarray) -> bytes:
    """Return the bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def headed(header: str, data: bytes = b"") -> bytes:
    """Return the bytes of a .npy file with a header of one's own."""
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def described(descr: str, shape: str) -> str:
    """Return a header."""
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"


HEADERS = {
    "(0, 1000000000)": (described("'<f8'", "(0, 1000000000)"), "has no rows"),
    "cells of no bytes": (described("'<U0'", "(1000000000000,)"), "holds <U0, cells of no bytes"),
    "void": (described("'|V0'", "(1000000000000,)"), "cells of no bytes"),
    "more than there is": (described("'<f8'", "(1000000000000,)"), "is cut off: 8000000000000 bytes"),
    "beyond 64 bits": (described("'<f8'", f"({10**30}, {10**30})"), "is cut off"),
    "negative": (described("'<f8'", "(-5,)"), "is damaged: its shape is (-5,)"),
    "scalar": (described("'<f8'", "()"), "must have rows and columns"),
    "three dimensions": (described("'<f8'", "(1, 1, 1)"), "must have rows and columns"),
    "objects": (described("'|O'", "(5,)"), "never loaded"),
    "open bracket": ("{'descr': '<f8', 'shape': (5,", "is not a readable numpy file"),
    "no type": (described("'zz'", "(5,)"), "is not a readable numpy file"),
    "nested": (described("(" * 3000 + ")" * 3000, "(5,)"), "is not a readable numpy file"),
    "minus": (described("-" * 5000 + "1", "(5,)"), "is not a readable numpy file"),
    "other keys": ("{1: 2, 'a': 3}", "is not a readable numpy file"),
    "no dictionary": ("[]", "is not a readable numpy file"),
    "nothing": ("", "is not a readable numpy file"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_headers(shell: Shell, capsys: pytest.CaptureFixture[str], case: str) -> None:
    header, complaint = HEADERS[case]
    Path("bad.npy").write_bytes(headed(header))
    Path("bad.npy.gz").write_bytes(gzip.compress(headed(header)))
    with zipfile.ZipFile("bad.npz", "w") as archive:
        archive.writestr("x.npy", headed(header))
    for name in ("bad.npy", "bad.npy.gz", "bad.npz"):
        assert complaint in shell.refused(name, name)
        assert complaint in shell.refused(name, name, "--memory", "1MB")
    with pytest.raises(SystemExit) as stop:
        main(["independence", "bad.npy", "--x", "x0"])
    assert stop.value.code == 2
    assert complaint in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"^'bad\.npy' .*(rows|numpy file|damaged|cut off|numbers|objects|bytes)"):
        btests.btest("bad.npy", "bad.npy")


def test_headers_of_python_2_are_read_without_a_word(shell: Shell) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 2))
    Path("old.npy").write_bytes(headed(described("'<f8'", "(60L, 2L)"), rows.tobytes()))
    np.save("new.npy", rows)
    assert btests.btest("old.npy", "new.npy", seed=1).pvalue == btests.btest("new.npy", "new.npy", seed=1).pvalue
    found = shell("old.npy", "new.npy", "--json")
    assert (found.status, found.err) == (0, "")


def deflated(method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return the bytes of an archive of one array."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("x.npy", npy(np.random.default_rng(0).normal(size=300)))
    return file.getvalue()


def flipped(data: bytes, place: int) -> bytes:
    """Return the bytes with one of them changed."""
    return data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]


def with_field(data: bytes, offset: int, value: int, size: int) -> bytes:
    """Return an archive with a number of its list of members changed."""
    place = data.index(b"PK\x01\x02") + offset
    return data[:place] + value.to_bytes(size, "little") + data[place + size :]


def holding(name: str, data: bytes) -> bytes:
    """Return an archive of one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, data)
    return file.getvalue()


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "deflate": lambda: flipped(deflated(), 200),
    "lzma": lambda: flipped(deflated(zipfile.ZIP_LZMA), 200),
    "bzip2": lambda: flipped(deflated(zipfile.ZIP_BZIP2), 200),
    "stored": lambda: flipped(deflated(zipfile.ZIP_STORED), 400),
    "unknown method": lambda: with_field(deflated(), 10, 99, 2),
    "patched": lambda: with_field(deflated(), 8, 0x20, 2),
    "encrypted": lambda: with_field(deflated(), 8, 1, 2),
    "smaller than it is": lambda: with_field(deflated(), 24, 100, 4),
    "sum": lambda: with_field(deflated(), 16, 1, 4),
    "cut off": lambda: deflated()[:-30],
    "no array": lambda: holding("x.txt", b"hello"),
    "no array in it": lambda: holding("x.npy", b"hello"),
    "more than the array": lambda: holding("x.npy", npy(np.ones(9)) + b"more"),
    "a folder": lambda: holding("x/", b""),
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_archives(shell: Shell, files: tuple[str, str], case: str) -> None:
    Path("bad.npz").write_bytes(ARCHIVES[case]())
    assert "'bad.npz' is" in shell.refused("bad.npz", "b.csv")
    with pytest.raises(ValueError, match=r"'bad\.npz' is"):
        btests.compare("bad.npz", "b.csv")


def test_columns_of_one_name_in_an_archive(shell: Shell) -> None:
    np.savez("x.npz", x=np.ones((60, 2)), x0=np.ones(60))
    assert "more than one column called 'x0'" in shell.refused("x.npz", "x.npz")


def test_archives_that_declare_more_than_memory(shell: Shell) -> None:
    with zipfile.ZipFile("large.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", headed(described("'<f8'", "(4000000,)"), bytes(32_000_000)))
    told = "'large.npz' holds arrays of 32 MB, and may take 25 MB; raise --memory, or take a part of it"
    assert told in shell.refused("large.npz", "large.npz", "--memory", "50MB")


@pytest.mark.parametrize("columns", [100_001])
def test_too_many_columns_for_a_table(shell: Shell, columns: int) -> None:
    np.save("wide.npy", np.zeros((1, columns), dtype=np.int8))
    for options in ((), ("--memory", "1kB")):
        told = shell.refused("wide.npy", "wide.npy", *options)
        assert "'wide.npy' has 100001 columns, and a table has 100000 at most" in told


PACKED = gzip.compress(b"u,v\n" + b"".join(b"%d,%d\n" % (i, i * i % 7) for i in range(3000)))
DAMAGED = {
    "cut": PACKED[:-900],
    "trailer": PACKED[:-3],
    "bits": flipped(PACKED, len(PACKED) // 2),
    "sum": flipped(PACKED, len(PACKED) - 6),
    "header": flipped(PACKED, 2),
    "garbage": PACKED + b"garbage at its end",
    "nothing": b"",
}


@pytest.mark.parametrize("case", DAMAGED)
def test_compressed_text(shell: Shell, files: tuple[str, str], case: str) -> None:
    for name in ("bad.csv.gz", "bad.jsonl.gz", "bad.npy.gz", "bad.parquet.gz"):
        Path(name).write_bytes(DAMAGED[case])
        for options in ((), ("--memory", "1kB")):
            assert f"'{name}' is" in shell.refused(name, "b.csv", *options)
    with pytest.raises(ValueError, match=r"'bad\.csv\.gz' is"):
        btests.btest("bad.csv.gz", "bad.csv.gz")


def test_compressed_text_that_unpacks_to_more_than_it_may(shell: Shell) -> None:
    text = b'{"u": "%s"}\n' % (b"x" * 30_000_000)
    Path("line.jsonl.gz").write_bytes(gzip.compress(text))
    assert "'line.jsonl.gz' has a line of more than 16.8 MB" in shell.refused(*["line.jsonl.gz"] * 2, "--memory", "1MB")
    Path("row.jsonl").write_bytes(b'{"u": "%s"}\n' % (b"x" * 17_000_000))  # one row, and more than may be drawn
    assert "has 1 row; a test needs" in shell.refused(*["row.jsonl"] * 2, "--memory", "1MB")
    Path("line.csv.gz").write_bytes(gzip.compress(b"u,v\n" + b"1" * 10_000_000))
    assert "has a row of more than 8.39 MB" in shell.refused(*["line.csv.gz"] * 2, "--memory", "1MB")
    with pytest.raises(ValueError, match="has a row of more than"):
        btests.btest("line.csv.gz", "line.csv.gz")
    # The last bytes say that it is small.
    lying = gzip.compress(npy(np.zeros(4_000_000)))[:-4] + (100).to_bytes(4, "little")
    Path("large.npy.gz").write_bytes(lying)
    told = "'large.npy.gz' unpacks to more than 25 MB, which is what it may take; raise --memory"
    assert told in shell.refused("large.npy.gz", "large.npy.gz", "--memory", "50MB")


@pytest.mark.parametrize("unclosed", [b'u,v\n"1,2\n' + b"1,2\n" * 400_000, b'u,"v\n' + b"1,2\n" * 400_000])
def test_a_quote_that_is_not_closed_takes_no_time(shell: Shell, unclosed: bytes) -> None:
    Path("quote.csv").write_bytes(unclosed)
    assert "'quote.csv'" in shell.refused("quote.csv", "quote.csv", "--memory", "1MB")
    with pytest.raises(ValueError, match=r"'quote\.csv'"):
        btests.btest("quote.csv", "quote.csv")


def test_names_of_40000_characters_take_no_time(shell: Shell) -> None:
    rng = np.random.default_rng(0)
    header = ",".join(letter * 40_000 for letter in "xy")
    np.savetxt("long.csv", rng.normal(size=(60, 2)), delimiter=",", header=header, comments="")
    assert "xxx\u2026xxx" in shell("long.csv", "long.csv").out


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((20, 2), complex), "column 'x0' of '.*' holds complex numbers; give their real and imaginary parts"),
        (np.zeros(20, [("u", float), ("v", complex)]), "column 'v' of '.*' holds complex numbers"),
        (np.zeros(20, "V4"), "column 'x0' of '.*' holds cells of raw bytes"),
        (np.zeros(20, [("u", float, (2,))]), "column 'u' of '.*' holds several values in each cell"),
    ],
)
def test_cells_of_no_column(tmp_path: Path, array: np.ndarray, message: str) -> None:
    np.save(tmp_path / "x.npy", array)
    for memory in (None, 100):
        with pytest.raises(ValueError, match=message):
            btests.compare(tmp_path / "x.npy", tmp_path / "x.npy", memory=memory)
    with pytest.raises(ValueError, match=message):
        btests.compare(array, array)


def test_long_floats_are_numbers() -> None:
    x = np.random.default_rng(0).normal(size=(50, 2))
    assert btests.compare(x.astype(np.longdouble), x[::-1], seed=0).pvalue == btests.compare(x, x[::-1], seed=0).pvalue
