"""Random files of every format, nearly all of which can be read, and how commands name them."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from btests.data.formats import FORMATS
from tests.fuzz.containers import TABLE
from tests.fuzz.files import (
    ENCODINGS,
    FORMS,
    INSIDES,
    ODD_INSIDES,
    ODD_STYLES,
    OF_NUMBERS,
    PACKED,
    SEVERAL,
    STYLES,
    File,
    random_mutation,
)
from tests.fuzz.tables import ODD_TEXTS, Table, random_lengths, random_tables

#: Begins the name of a pipe, as of a shell.
PIPE = "<(cat "

#: Begins the address of a file of the folder, on a server that runs as long as the command.
SERVED = "http://files/"

# Names that an address has as they are.
_PLAIN = re.compile(r"[\w.]+", re.ASCII)

_TEXT = ("csv", "tsv", "zip", "csv.gz", "csv.bz2", "csv.xz", "csv.zst")

# Formats that are no parts of folders.
_APART = (*SEVERAL, "ods")

# Names of encodings: good ones of other texts, and those of what is no encoding of text.
_ODD_ENCODINGS = (
    "ascii",
    "idna",
    "undefined",
    "hex",
    "zlib",
    "rot13",
    "utf-7",
    "unicode_escape",
    "mbcs",
    "\x1b[0m",
    "",
)


def random_files(rng: Random, odd: bool) -> tuple[File, File]:
    """Return two files with the same columns."""
    forms = list(FORMS) if odd else [name for name in FORMS if not name.startswith("json")]
    form = rng.choice(forms)
    other = form if rng.random() < 0.8 else rng.choice(forms)
    numbers = form in OF_NUMBERS or other in OF_NUMBERS
    is_short = odd and rng.random() < 0.15
    tables = random_tables(rng, random_lengths(rng, odd=is_short), odd=odd and rng.random() < 0.7, numbers=numbers)
    if odd and rng.random() < 0.1 and len(tables[0].names) > 1:
        tables[0] = tables[0].without(0)
    style = _style(rng, form, odd)
    found = []
    for stem, table, own in zip(("a", "b"), tables, (form, other), strict=True):
        chosen = style if own == form and style not in ODD_INSIDES else _style(rng, own, odd and stem == "a")
        name = stem if not odd or rng.random() < 0.9 else _file_name(rng)
        file = _file(rng, name, table, own, chosen)
        found.append(_odder(rng, file, is_first=stem == "a") if odd else file)
    if found[0].path == found[1].path:
        found[1] = replace(found[1], path=f"b-{found[1].path}")
    return found[0], found[1]


def _style(rng: Random, form: str, odd: bool) -> str:
    if form in SEVERAL or form == "ods":
        return rng.choice(ODD_INSIDES if odd and rng.random() < 0.2 else INSIDES)
    if form in _TEXT and rng.random() < 0.15:
        return rng.choice(["commas", *ENCODINGS])
    return rng.choice(STYLES if not odd or rng.random() < 0.8 else ODD_STYLES)


def _file(rng: Random, name: str, table: Table, form: str, style: str) -> File:
    n_parts = rng.randint(1, 4) if rng.random() < 0.1 and form not in _APART else 0
    has_suffix = not n_parts and (form in ("tsv", "npz") or rng.random() < 0.9)
    return File(f"{name}.{form}" if has_suffix else name, table, form, style, n_parts=n_parts)


def _odder(rng: Random, file: File, *, is_first: bool) -> File:
    if rng.random() < 0.01:
        return replace(file, form="pipe", n_parts=0)
    if rng.random() >= (0.4 if is_first else 0.1):
        return file
    mutations = tuple(random_mutation(rng) for _ in range(rng.randint(1, 3)))
    return replace(file, mutations=mutations, is_inside=file.form in PACKED and rng.random() < 0.6)


def _file_name(rng: Random) -> str:
    name = rng.choice([*ODD_TEXTS, "\udcff\udcfe", "a" * 200, "-a", "a.b.c", "A", "a::b", "::", "a.zip", "a.db::t"])
    name = name.replace("/", "_").replace("\x00", "_")[:200]
    return f"n{name}" if name in ("", ".", "..") else name


def told(rng: Random, file: File) -> str:
    """Return how a command names a file."""
    if file.n_parts and rng.random() < 0.5:
        return f"{file.path}/*.{file.form}"
    if (
        rng.random() < 0.06
        and not file.n_parts
        and file.form not in ("pipe", "db", "duckdb")
        and file.style != "several"
    ):
        return f"{PIPE}{file.path})"
    if rng.random() < 0.03 and not file.n_parts and file.form != "pipe" and _PLAIN.fullmatch(file.path):
        return SERVED + file.address
    return f"./{file.address}" if file.address.startswith("-") or rng.random() < 0.1 else file.address


def text_options(rng: Random, files: tuple[File, ...], odd: bool) -> tuple[tuple[str, ...], ...]:
    """Return the options that the text of files needs, and sometimes what it does not need."""
    found: list[tuple[str, ...]] = []
    styles = {file.style for file in files}
    encodings = [style for style in sorted(styles) if style in ENCODINGS]
    if encodings and (encodings[0] not in ("latin-1", "utf-16") or rng.random() < 0.4):
        found.append(("--encoding", encodings[0]))
    elif odd and rng.random() < 0.04:
        found.append(("--encoding", rng.choice([*ENCODINGS, *_ODD_ENCODINGS])))
    if "commas" in styles:
        found.append(("--delimiter", ";"))
    if ("commas" in styles and rng.random() < 0.5) or rng.random() < 0.02:
        found.append(("--decimal", rng.choice([",", ",", "."])))
    if odd and rng.random() < 0.04:
        found.append(("--format", rng.choice([*FORMATS, "", "excel", *8 * [files[0].form.partition(".")[0]]])))
    if odd and rng.random() < (0.3 if styles & {"several", "foreign"} else 0.02):
        found.append(("--table", rng.choice([TABLE, TABLE, "other", "table.csv", *ODD_TEXTS])))
    if styles & {"bomb", "far", "huge"}:
        found.append(("--memory", "10MB"))
    return tuple(found)
