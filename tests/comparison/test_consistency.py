"""Random small tables: no part of a comparison contradicts another, on the screen, on the page and in the JSON."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import btests
from btests.report import render
from studies.real_pairs.pairs import PAIRS, Pair
from tests.comparison.consistency import contradictions, group_contradictions, page_contradictions

N_TABLES, N_GROUPS = 300, 15


def random_tables(seed: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return two small mixed tables, with ties, missing cells and constants, and options of ``compare``."""
    rng = np.random.default_rng([21, seed])
    n_a = int(rng.choice([2, 3, 5, 8, 20, 60, 150]))
    n_b = n_a if rng.random() < 0.5 else int(rng.choice([2, 4, 10, 40, 120]))
    names = [f"c{k}" for k in range(rng.integers(1, 5))]
    kinds = {name: rng.choice(["number", "ties", "level", "flag", "day", "constant", "copy"]) for name in names}
    kinds[names[0]] = rng.choice(["number", "ties", "level"])
    shifted = str(rng.choice(["none", *names]))
    related = rng.random() < 0.5
    if len(names) > 2:
        kinds |= dict.fromkeys(names[1:3], "copy")
    sides = ((n_a, None, True), (n_b, shifted, related))
    a, b = (_table(rng, n, kinds, changed, related=own) for n, changed, own in sides)
    if rng.random() < 0.1:
        b = a
    options: dict[str, Any] = {"seed": int(rng.integers(5)), "alpha": float(rng.choice([0.001, 0.05, 0.2]))}
    if rng.random() < 0.4:
        options["tolerance"] = float(rng.choice([0.0, 0.05, 0.3]))
    return a, b, options


def _table(
    rng: np.random.Generator, n: int, kinds: dict[str, str], shifted: str | None, *, related: bool
) -> dict[str, Any]:
    shared = rng.normal(size=n)
    columns: dict[str, Any] = {}
    for name, kind in kinds.items():
        size = 0.0 if name != shifted else float(rng.choice([0.5, 1.0, 4.0]))
        own: Any = rng.normal(size=n) + size
        if kind == "ties":
            own = np.round(own)
        elif kind == "copy":
            own = (shared if related else rng.normal(size=n)) + 0.1 * own
        elif kind == "day":
            own = (np.datetime64("2024-01-01", "D") + (20.0 * own).astype(np.int64)).astype("datetime64[s]")
        elif kind == "level":
            own = np.array(list("pqrst"))[np.clip(np.round(own + 2.0), 0, 4).astype(int)]
        elif kind == "flag":
            own = own > 0.5
        elif kind == "constant":
            own = np.full(n, 3.0 + size)
        columns[name] = own
        if kind in ("number", "copy") and rng.random() < 0.5:
            columns[name] = np.where(rng.random(n) < rng.choice([0.05, 0.5]), np.nan, own)
    return columns


def compared(seed: int) -> btests.Comparison | None:
    """Return a comparison of random tables; None if all their columns are constant or missing."""
    a, b, options = random_tables(seed)
    try:
        return btests.compare(a, b, **options)
    except ValueError as error:
        if "remains to be compared" in str(error):
            return None
        raise


@pytest.mark.parametrize("first", range(0, N_TABLES, 50))
def test_no_part_contradicts_another(first: int) -> None:
    found = {}
    for seed in range(first, first + 50):
        comparison = compared(seed)
        if comparison is not None:
            found[seed] = contradictions(comparison.to_dict(), str(comparison))
    assert not {seed: odd for seed, odd in found.items() if odd}
    assert len(found) > 40


def test_the_page_says_what_the_verdict_says() -> None:
    """Of what did not change the page says nothing of a change; it draws no regions then."""
    for seed in range(12):
        comparison = compared(seed)
        if comparison is None:
            continue
        document, text = comparison.to_dict(), str(comparison)
        page = render(document)
        assert not page_contradictions(document, text, page)
        shown = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
        changed = sum(column.changed for column in comparison.columns)
        assert len(re.findall(r"<tbody class=\"changed\">", shown)) == changed
        assert ("at least <data" in shown) <= (comparison.details["pvalue_any_difference"] <= comparison.alpha)


@pytest.mark.filterwarnings("ignore:The 'convert_dates' keyword")  # in vega_datasets
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if not pair.missing], ids=lambda pair: pair.name)
def test_real_pairs_on_the_screen_and_on_the_page(pair: Pair) -> None:
    comparison = btests.compare(*pair.draw(np.random.default_rng(2), whole=False), seed=0)
    document, text = comparison.to_dict(), str(comparison)
    assert not contradictions(document, text)
    assert not page_contradictions(document, text, render(document))


def test_groups_do_not_contradict_their_verdict() -> None:
    found = {}
    for seed in range(N_GROUPS):
        rng = np.random.default_rng([22, seed])
        label = rng.choice(["x", "y", "z"], 60)
        table = {"g": label, "u": rng.normal(size=60) + (label == "z") * rng.choice([0.0, 0.5, 2.0])}
        table["c"] = rng.choice(["p", "q"], 60)
        comparison = btests.compare(table, by="g", seed=0, alpha=float(rng.choice([0.05, 0.3])))
        found[seed] = group_contradictions(comparison.to_dict(), str(comparison))
    assert not {seed: odd for seed, odd in found.items() if odd}


@pytest.mark.parametrize("form", ["missing cells", "other types", "drawn rows", "an order of columns"])
def test_a_copy_is_noted(form: str) -> None:
    rng = np.random.default_rng(0)
    a: dict[str, Any] = {"u": np.round(rng.normal(size=60), 2), "v": rng.integers(5, size=60)}
    b = dict(a)
    options: dict[str, Any] = {}
    if form == "missing cells":
        a["u"][:9] = np.nan
    elif form == "other types":
        b["v"] = a["v"].astype(float)
    elif form == "drawn rows":
        options = {"max_rows": 30}
    else:
        b = {"v": a["v"], "u": a["u"]}
    note = "both tables hold the same rows in the same order"
    assert any(note in one for one in btests.compare(a, b, seed=0, **options).notes)
    b = {**b, "v": np.roll(b["v"], 1)}
    assert not any(note in one for one in btests.compare(a, b, seed=0, **options).notes)


def test_a_copy_in_files_that_are_read_in_pieces_is_noted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    paths = [tmp_path / f"{name}.csv" for name in "abc"]
    rows = [f"{u:.5f}" for u in rng.normal(size=4000)]
    for path, own in zip(paths, (rows, rows, rows[::-1]), strict=True):
        path.write_text("u\n" + "\n".join(own) + "\n")
    note = "both tables are read from files of the same content: a copy is not a second sample"
    for other, noted in ((paths[0], True), (paths[1], True), (paths[2], False)):
        assert (note in btests.compare(paths[0], other, memory="50kB", seed=0).notes) == noted


def test_sentences_that_a_person_would_say() -> None:
    rng = np.random.default_rng(0)
    n = 1200
    a = {"month": np.ones(n), "amount": rng.normal(size=n)}
    b = {"month": np.full(n, 7.0), "amount": rng.normal(1.0, 1.0, size=n)}
    found = btests.compare(a, b, seed=0)
    assert found["month"].summary == "all 1 -> all 7"
    assert any("`tolerance=0.05` asks" in note for note in found.notes)
    assert not any("tolerance" in note for note in btests.compare(a, b, seed=0, tolerance=0.05).notes)
    same = btests.compare({"amount": a["amount"]}, {"amount": a["amount"]}, seed=0)
    assert str(same).startswith("a and b are identical.")
    tails = {"delay": np.where(rng.random(n) < 0.5, -1.0, rng.exponential(9.0, n))}
    shifted = {"delay": np.where(rng.random(n) < 0.3, -1.0, rng.exponential(6.0, n))}
    assert "up to " in btests.compare(tails, shifted, seed=0)["delay"].summary
