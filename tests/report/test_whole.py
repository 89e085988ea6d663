"""From two tables through the command to the page in a browser."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.report.hostile import TEXTS
from tests.report.reading import read

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.importorskip("narwhals")
pytest.importorskip("pyarrow")

HEADINGS = ["amount", "colour <b>bold</b>", "when", TEXTS[0], TEXTS[2]]


def _table(path: Path, seed: int, shift: float) -> Path:
    rng = random.Random(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(HEADINGS)
        for _ in range(400):
            colour = rng.choice([TEXTS[1], TEXTS[6], "red", "blue"])
            amount = "" if rng.random() < 0.1 + shift / 10 else f"{rng.gauss(shift, 1):.6f}"
            day = f"2024-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
            rows.writerow([amount, colour, day, f"{rng.gauss(0, 1):.6f}", rng.choice(TEXTS[3:6])])
    return path


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_command_the_page_and_the_json_agree(browser: Browser, tmp_path: Path, shift: float) -> None:
    a, b = _table(tmp_path / "a.csv", 1, 0.0), _table(tmp_path / "b.csv", 2, shift)
    out = tmp_path / "out.html"
    command = [sys.executable, "-m", "btests", "compare", str(a), str(b), "--seed", "3", "--json", "--report", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode in {0, 1}, run.stderr
    told = json.loads(run.stdout)
    wrong: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.goto(out.as_uri())
    inside = json.loads(page.text_content("#comparison") or "")
    # The command prints and draws one comparison: nothing but what was measured last may differ.
    changing = {"seconds", "memory_bytes"}
    assert {k: v for k, v in inside.items() if k not in changing} == {
        k: v for k, v in told.items() if k not in changing
    }
    assert page.inner_text(".answer") == told["verdict"]["text"]
    assert page.locator(".verdict.found").count() == told["verdict"]["different"] == run.returncode
    assert read(page.inner_text("dd data[data-at='/verdict/pvalue']")) == pytest.approx(
        told["verdict"]["pvalue"], rel=0.05
    )
    found = page.eval_on_selector_all("data", "all => all.map(e => [e.dataset.at, e.value, e.textContent])")
    assert len(found) > 60
    for pointer, exact, shown in found:
        if pointer[1:] in changing:
            continue
        wanted = told
        for part in pointer.split("/")[1:]:
            wanted = wanted[int(part)] if isinstance(wanted, list) else wanted[part]
        if isinstance(wanted, (str, bool)):
            assert isinstance(wanted, bool) or exact == shown == wanted
            continue
        assert json.loads(exact) == wanted
        assert read(shown) == pytest.approx(wanted, rel=0.051 if abs(wanted) < 0.01 else 0.0051, abs=1e-12), pointer
    is_told = page.locator("#regions").inner_text().count("Nothing to see") == 1
    assert is_told == (not told["verdict"]["different"])
    names = page.locator("#columns-table > tbody > tr > th").all_inner_texts()
    assert names == [column["name"] for column in told["columns"]]
    assert sorted(names + [column["name"] for column in told["excluded"]]) == sorted(HEADINGS)
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 2
    page.close()
    assert wrong == []
