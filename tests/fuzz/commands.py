"""Random commands of the shell, nearly all of which reach a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.fuzz.files import ENCODINGS, OF_NUMBERS, File
from tests.fuzz.random_files import random_files, text_options, told
from tests.fuzz.tables import ODD_TEXTS, Table

Words = tuple[str, ...]

#: Ways to write what takes all memory that it may, which no option of independence limits, and what it does not read.
UNBOUNDED = ("bomb", "far", "huge", *ENCODINGS[2:])


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and the files in the folder that it runs in.

    Attributes
    ----------
    files : tuple of File
        Files of the folder.
    words : tuple of str
        Command and tables; ``"<(cat path)"`` is the name of a pipe, as of a shell.
    options : tuple of tuple of str
        Options, each with its value.
    stdin : str
        Path of the file that is standard input; none if empty.
    is_real : bool
        Whether it also runs as a process of its own, whose output must be the same.
    """

    files: tuple[File, ...]
    words: Words
    options: tuple[Words, ...] = ()
    stdin: str = ""
    is_real: bool = False

    @property
    def arguments(self) -> list[str]:
        """The command line."""
        return [*self.words, *(word for option in self.options for word in option)]

    def values(self, *names: str) -> list[str]:
        """Return the values of some options."""
        return [option[1] for option in self.options if option[0] in names and len(option) > 1]

    def has(self, name: str) -> bool:
        """Return whether an option is given."""
        return any(option[0] == name for option in self.options)


def random_command(rng: Random) -> Command:
    """Return a command; some of them with something odd about it."""
    make = rng.choices([_two_tables, _by_column, _independence, _demo, _odd_words], [50, 20, 25, 0.3, 3])[0]
    command = make(rng, rng.random() < 0.4)
    return replace(command, is_real=rng.random() < 0.01)


def _two_tables(rng: Random, odd: bool) -> Command:
    a, b = random_files(rng, odd)
    words: Words = ("compare", told(rng, a), told(rng, b))
    stdin = ""
    if rng.random() < 0.05 and not a.n_parts and a.form != "pipe":
        words, stdin = ("compare", "-", words[2]), a.path
    if odd and rng.random() < 0.1:
        words = rng.choice(
            [words[:2], (*words, words[1]), ("compare", words[1], "nowhere.csv"), words[1:], ("compare", "", words[1])]
        )
    options = (*text_options(rng, (a, b), odd), *_drawn(rng, _COMPARE, a.table, odd))
    if rng.random() < 0.06:
        options = (*options, ("--memory", "1kB"), *([("--checkpoint", "saved.npz")] if rng.random() < 0.5 else []))
    if rng.random() < 0.003:
        options = (*options, rng.choice([("--workers", "1"), ("--workers", "2"), ("--dask", "tcp://127.0.0.1:1")]))
    return Command((a, b), words, options, stdin)


def _by_column(rng: Random, odd: bool) -> Command:
    a, _ = random_files(rng, odd)
    groups: tuple[Any, ...] = rng.choice([("l", "r"), (1, 2, 3), ("p", "q", "r"), (True, False)])
    if odd and rng.random() < 0.3:
        groups = rng.choice([("l",), tuple(range(60)), (None, "a"), tuple(ODD_TEXTS), (0.5, 1.5)])
    side = tuple(rng.choice(groups) for _ in range(a.table.n_rows))
    by = "side" if not odd or rng.random() < 0.8 else rng.choice(ODD_TEXTS)
    table = Table((*a.table.names, by), (*a.table.columns, side))
    whole = replace(a, table=table)
    if a.form in OF_NUMBERS:
        whole = replace(whole, form="parquet", path=a.path.replace(f".{a.form}", ".parquet"))
    options: tuple[Words, ...] = (("--by", by), *text_options(rng, (whole,), odd))
    if rng.random() < 0.4:
        options = (*options, ("--a", _label(groups[0])), ("--b", _label(groups[-1])))
    return Command((whole,), ("compare", told(rng, whole)), (*options, *_drawn(rng, _COMPARE, table, odd)))


def _independence(rng: Random, odd: bool) -> Command:
    a, _ = random_files(rng, odd)
    other = f"x{len(a.table.names)}"
    second = tuple(rng.gauss(0.0, 1.0) for _ in range(a.table.n_rows))
    table = Table((*a.table.names, other), (*a.table.columns, second))
    whole = replace(a, table=table)
    if whole.style in UNBOUNDED:
        whole = replace(whole, style="")
    options: tuple[Words, ...] = (("--all-pairs",),)
    more = [("--delimiter", ";")] if whole.style == "commas" else []
    if rng.random() < 0.6:
        options = (("--x", _quoted(rng.choice(a.table.names))), *([("--y", other)] if rng.random() < 0.7 else []))
    return Command(
        (whole,), ("independence", told(rng, whole)), (*options, *more, *_drawn(rng, _INDEPENDENCE, table, odd))
    )


def _demo(rng: Random, odd: bool) -> Command:
    if rng.random() < 0.3:
        return Command((), ("compare", "--demo"), _drawn(rng, _COMPARE, None, odd))
    options: list[Words] = [("--rows", rng.choice(["20", "33", "100"])), ("--seed", str(rng.randrange(99)))]
    if rng.random() < 0.5:
        options.append(("--json",))
    if rng.random() < 0.3:
        options.append(("--out", rng.choice(["p.svg", "p.pdf", "p.gif", "no/p.png", "\x1b[0m.svg", "p\n.svg"])))
    return Command((), ("demo",), tuple(options))


def _odd_words(rng: Random, odd: bool) -> Command:
    a, b = random_files(rng, odd)
    words = [
        "compare",
        "independence",
        "demo",
        "help",
        "--version",
        "--help",
        "-",
        "--",
        a.path,
        b.path,
        "--json",
        "--by",
    ]
    words += ["--x", "u", "--columns", "--alpha", "0.5", *rng.choices(ODD_TEXTS, k=3)]
    chosen = [word.replace("\x00", "") for word in rng.choices(words, k=rng.randint(0, 6))]
    return Command((a, b), tuple(chosen))


def _label(group: object) -> str:
    return str(group).lower().replace("\x00", "") if isinstance(group, bool) else str(group).replace("\x00", "")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""').replace("\x00", "") + '"' if set(name) & set(',"\n\r\x00') else name


Value = Callable[[Random, Table | None], str]


def _one(*texts: str) -> Value:
    return lambda rng, table: rng.choice(texts)


def _column(rng: Random, table: Table | None) -> str:
    return _quoted(rng.choice(table.names)) if table is not None and table.names else "amount"


_ODD_VALUE = _one(
    *(text.replace("\x00", "") for text in ODD_TEXTS),
    "-1",
    "0",
    "1",
    "1e9",
    "1e400",
    "1e-320",
    "nan",
    "inf",
    "1" * 400,
    "9" * 5000,
)

# Options with their probability, good values, and None for flags.
_Options = dict[str, tuple[float, Value | None]]
_SHARED: _Options = {
    "--json": (0.6, None),
    "--seed": (0.5, _one("0", "1", "7", "4294967295", "99999999999999999999")),
    "--alpha": (0.1, _one("0.01", "0.5", "1e-9", "0.999")),
    "--missing": (0.08, _one("-", "-999", "red", "0,1", '"a,b",-')),
    "--categories": (0.08, _column),
    "--exclude": (0.06, _column),
    "--max-rows": (0.1, _one("8", "10", "1000", "999999999")),
    "--block-size": (0.12, _one("4", "5", "sqrt", "auto", "8")),
    "--budget": (0.06, _one("0.001", "1", "0.5", "1e-300")),
    "--delimiter": (0.03, _one(";", "\\t", ",", "|")),
}
_COMPARE: _Options = {
    **_SHARED,
    "--tolerance": (0.08, _one("5%", "0.1", "0", "99%", "1e-12")),
    "--kernel": (0.12, _one("gaussian", "laplacian", "matern", "energy", "linear")),
    "--null": (
        0.12,
        _one("sign-flip", "normal", "third-cumulant", "cross-mmd", "permutation", "spectrum", "gamma", "pearson"),
    ),
    "--columns": (0.06, _column),
    "--common": (0.1, None),
    "--unit": (0.07, _column),
    "--memory": (0.05, _one("1kB", "10MB", "2GB", "1TB", "100")),
    "--skip-bad-parts": (0.1, None),
    "--report": (0.08, _one("page.html", "page", "a.csv", "b.html")),
    "--checkpoint": (0.02, _one("saved.npz", "a.csv", "nowhere/saved")),
    "--force": (0.1, None),
    "--verbose": (0.05, None),
}
_INDEPENDENCE: _Options = {
    **_SHARED,
    "--statistic": (0.3, _one("hsic", "dcov")),
    "--null": (0.2, _one("swap", "normal", "pearson", "permutation")),
    "--all": (0.05, None),
    "--out": (0.04, _one("pairs.png", "pairs.svg", "pairs.pdf", "a.csv")),
    "--force": (0.1, None),
}


def _drawn(rng: Random, options: _Options, table: Table | None, odd: bool) -> tuple[Words, ...]:
    found: list[Words] = []
    for name, (share, value) in options.items():
        if rng.random() >= share:
            continue
        if value is None:
            found.append((name,))
        elif odd and rng.random() < 0.1:
            found.append((name, _ODD_VALUE(rng, table)))
        else:
            found.append((name, value(rng, table)))
    return tuple(found)
