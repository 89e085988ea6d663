"""What a comparison answers: known changes are named, and everything that it prints agrees."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import btests
from tests.bounds import count_bounds
from tests.comparison.conftest import Shell


def table(rng: np.random.Generator, n: int, **changed: Any) -> dict[str, Any]:
    """Return a table of independent columns, some of them changed."""
    z = rng.normal(size=(2, n))
    found = {
        "size": z[0],
        "weight": 0.8 * z[0] + 0.6 * z[1],
        "colour": rng.choice(np.array(["red", "green", "blue"]), n),
        "flag": rng.random(n) < 0.3,
        "holes": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    }
    return {**found, **changed}


N = 1500
RNG = np.random.default_rng(11)


@pytest.mark.parametrize(
    ("name", "changed", "what"),
    [
        ("size", RNG.normal(size=N) + 0.5, "mean"),
        ("size", RNG.normal(size=N) * 1.6, "spread"),
        ("size", np.sign(RNG.normal(size=N)) * 0.95 + 0.3 * RNG.normal(size=N), "shape"),
        ("colour", RNG.choice(np.array(["red", "green", "blue"]), N, p=[0.5, 0.3, 0.2]), "categories"),
        ("flag", RNG.random(N) < 0.5, "categories"),
        ("holes", np.where(RNG.random(N) < 0.3, np.nan, RNG.normal(size=N)), "missing"),
    ],
)
def test_what_moved_is_named(name: str, changed: Any, what: str) -> None:
    rng = np.random.default_rng(4)
    found = btests.compare(table(rng, N), table(rng, N, **{name: changed}), seed=0)
    assert found.different
    assert found.columns[0].name == name
    assert found.columns[0].changed
    assert found.columns[0].changes[0].quantity == what
    assert (found.columns[0].pvalue, found.columns[0].pvalue_corrected) == (1 / 2000, found.pvalue)
    assert name in str(found).splitlines()[0]


def test_a_relation_that_moved_is_named() -> None:
    rng = np.random.default_rng(4)
    z = rng.normal(size=(2, N))
    found = btests.compare(table(rng, N), table(rng, N, size=z[0], weight=z[1]), seed=0)
    assert found.different
    assert not any(column.changed for column in found.columns)
    assert [set(r.columns) for r in found.relations] == [{"size", "weight"}]
    assert found.relations[0].measure == "rank correlation"
    assert found.relations[0].a == pytest.approx(0.78, abs=0.05)
    assert found.relations[0].b == pytest.approx(0.0, abs=0.1)


def test_level_of_the_verdict_and_of_columns() -> None:
    # 200 trials at level 0.1 of exact tests: each bound fails with probability 1e-6. Few rows, unlike lengths, ties.
    alpha, trials = 0.1, 200
    counts = np.zeros(3, dtype=int)
    for trial in range(trials):
        rng = np.random.default_rng([7, trial])
        found = btests.compare(table(rng, 45), table(rng, 30), alpha=alpha, seed=trial, null=btests.SignFlip(99))
        columns, pairs = (test.pvalue for test in found.tests[1:])
        counts += [found.different, columns <= alpha, pairs <= alpha]
        assert found.different or not any(c.changed for c in found.columns)
    low, high = count_bounds(trials, alpha, alpha)
    assert all(low <= count <= high for count in counts), counts


def test_the_same_seed_gives_the_same_answer() -> None:
    rng = np.random.default_rng(0)
    a, b = table(rng, 300), table(rng, 300)

    def answer(seed: int) -> Any:
        found = btests.compare(a, b, seed=seed).to_dict()
        return {k: v for k, v in found.items() if k not in ("seconds", "memory_bytes", "test")}

    assert answer(1) == answer(1)
    assert answer(1)["verdict"] != answer(2)["verdict"]


@pytest.mark.parametrize("null", ["normal", "third-cumulant", "cross-mmd", "permutation", "sign-flip"])
@pytest.mark.parametrize("kernel", [None, "energy"])
def test_kernels_and_nulls_as_in_python(null: str, kernel: str | None) -> None:
    rng = np.random.default_rng(0)
    found = btests.compare(
        table(rng, 400), table(rng, 400, size=rng.normal(size=400) + 1), null=null, kernel=kernel, seed=0
    )
    assert found.different
    assert found.columns[0].name == "size"
    assert found.to_dict()["settings"]["null"] == null


def test_json_is_plain_and_agrees(shell: Shell, files: tuple[str, str]) -> None:
    result = shell("a.csv", "b.csv", "--json", "--seed", "3")
    found = json.loads(result.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert result.status == int(found["verdict"]["different"])
    assert found["schema"] == "btests.compare/1"
    assert found["command"] == "btests compare a.csv b.csv --seed 3"
    assert [column["rank"] for column in found["columns"]] == [1, 2, 3, 4]
    for column in found["columns"]:
        chart = column["chart"]
        for side in (0, 1):
            extra = (chart["below"][side] + chart["above"][side]) if chart["type"] == "histogram" else 0.0
            total = sum(chart["ab"[side]]) + extra + chart["missing"][side]
            assert total == pytest.approx(1.0, abs=1e-4)  # shares have five digits
    assert sum(found["tests"][0]["null"]["counts"]) == found["tests"][0]["null"]["n_draws"]
    text = shell("a.csv", "b.csv", "--seed", "3").out
    assert text.startswith(found["verdict"]["text"])
    again = shell(*found["command"].split()[2:], "--json").json
    assert again["verdict"] == found["verdict"]


def test_one_screen(shell: Shell, files: tuple[str, str]) -> None:
    result = shell("a.csv", "b.csv")
    lines = result.out.splitlines()
    assert result.err == ""
    assert len(lines) <= 24
    assert all(len(line) <= 100 for line in lines)
    for word in ("p-value", "effect", "rows", "joint", "time", "column"):
        assert any(line.lstrip().startswith(word) for line in lines)


def test_verbose_says_how_much_memory(shell: Shell, files: tuple[str, str]) -> None:
    assert "MB of memory" in shell("a.csv", "b.csv", "--verbose").err
    assert "there is no file 'c.csv'" in shell.refused("a.csv", "c.csv", "--verbose")


def test_files_without_a_command(shell: Shell, files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    from btests.cli import main

    expected = shell("a.csv", "b.csv", "--json").json["verdict"]
    with pytest.raises(SystemExit):
        main(["a.csv", "b.csv", "--json"])
    assert json.loads(capsys.readouterr().out)["verdict"] == expected


def test_in_a_notebook_and_as_a_page(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    found = btests.compare(table(rng, 200), table(rng, 200), seed=0)
    assert found._repr_html_().startswith("<")
    found.to_html(tmp_path / "r.html")
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(FileExistsError):
        found.to_html(tmp_path / "r.html")
    found.to_html(tmp_path / "r.html", force=True)


def test_progress_goes_up_to_one() -> None:
    rng = np.random.default_rng(0)
    shares: list[float] = []
    btests.compare(table(rng, 100), table(rng, 100), seed=0, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize(("n_a", "n_b"), [(2, 2), (2, 50), (5, 7), (3, 400)])
def test_few_rows(n_a: int, n_b: int) -> None:
    rng = np.random.default_rng(0)
    found = btests.compare(table(rng, n_a), table(rng, n_b), seed=0)
    assert 0 < found.pvalue <= 1
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found)


@pytest.mark.parametrize(("n_a", "n_b", "least"), [(2, 2, 0.75), (2, 3, 0.15), (4, 4, 0.1875), (2, 4, 0.1)])
def test_so_few_rows_that_no_difference_could_be_found(n_a: int, n_b: int, least: float) -> None:
    rng = np.random.default_rng(0)
    found = btests.compare({"u": rng.normal(size=n_a)}, {"u": rng.normal(size=n_b) + 100}, seed=0)
    assert not found.different
    assert found.pvalue >= least
    assert found.to_dict()["verdict"]["smallest_pvalue"] == pytest.approx(least)
    sentence = f"with so few rows none could be: the smallest p-value possible is {least:.3g}, above the level 0.05."
    assert sentence in " ".join(str(found).splitlines())


def test_a_level_that_no_draw_can_reach() -> None:
    rng = np.random.default_rng(0)
    a, b = table(rng, 100), table(rng, 100)
    assert "so few sign flips" in " ".join(str(btests.compare(a, b, alpha=1e-4, seed=0)).split())
    assert "none could be" not in str(btests.compare(a, b, alpha=1e-3, seed=0)).splitlines()[0]


@pytest.mark.parametrize("n_columns", [1, 40, 70, 160])
def test_any_number_of_columns(n_columns: int) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, n_columns)), rng.normal(size=(120, n_columns))
    y[:, 0] += 3.0
    found = btests.compare(x, y, seed=0)
    assert found.columns[0].name == "x0"
    assert len(found.columns) == n_columns
    assert found.details["relations_tested"] == (n_columns * (n_columns - 1) // 2 if n_columns <= 150 else 0)
    assert any("not tested" in note for note in found.notes) == (n_columns > 150)


def test_starts_without_heavy_packages() -> None:
    code = "import sys\nfrom btests.cli import main\ntry:\n    main(['compare', '--help'])\nexcept SystemExit: pass\n"
    code += "assert not {'pyarrow', 'narwhals', 'jinja2', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_one_column_by_its_name_and_wrong_options() -> None:
    rng = np.random.default_rng(0)
    a, b = table(rng, 60), table(rng, 60)
    assert [column.name for column in btests.compare(a, b, columns="size", seed=0).columns] == ["size"]
    assert "size" not in [column.name for column in btests.compare(a, b, exclude="size", seed=0).columns]
    with pytest.raises(ValueError, match="max_rows must be a whole number of at least 2, got 1"):
        btests.compare(a, b, max_rows=1)


def test_names_do_not_reach_the_terminal_as_commands() -> None:
    rng = np.random.default_rng(0)
    a, b = ({"\x1b[31mred\n": rng.normal(size=60), "u": rng.normal(size=60)} for _ in range(2))
    assert "\x1b" not in str(btests.compare(a, b, seed=0))


def test_large_numbers_do_not_overflow() -> None:
    rng = np.random.default_rng(0)
    a, b = ({"u": 1e140 * rng.normal(size=60), "v": 1e-300 * rng.normal(size=60)} for _ in range(2))
    json.dumps(btests.compare(a, b, seed=0).to_dict(), allow_nan=False)
    with pytest.raises(ValueError, match="column 'u' of b has a number beyond 1e150 in row 2"):
        btests.compare({"u": [1.0, 2.0]}, {"u": [1.0, 1e200]})


@pytest.mark.parametrize("seed", range(6))
def test_columns_of_two_numbers_that_say_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = []
    for _ in range(2):
        x = rng.integers(0, 2, 300)
        sides.append({"p": x, "q": x, "s": 2 * x, "other": rng.integers(0, 2, 300)})
    assert 0.0 < btests.compare(*sides, seed=0).pvalue <= 1.0


def test_the_index_of_pandas_is_no_column() -> None:
    rng = np.random.default_rng(1)
    a, b = (pd.DataFrame({"v": rng.normal(size=200)}, index=np.arange(200) + 1000 * k) for k in (0, 1))
    found = btests.compare(a, b.rename_axis("key"), seed=1)
    assert [column.name for column in found.columns] == ["v"]
