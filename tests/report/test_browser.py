"""The page in a real browser: it renders without complaints, its parts work, and its numbers are those of the JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from btests.report import render, write
from tests.report.hostile import TEXTS, poisoned
from tests.report.reading import read
from tests.report.sample import comparison, number_column

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.report.conftest import Open


def _at(data: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        data = data[int(part)] if isinstance(data, list) else data[part]
    return data


def _names(page: Page) -> list[str]:
    return page.locator("#columns-table > tbody:visible > tr > th").all_inner_texts()


def _order(data: dict[str, Any], key: Callable[[dict[str, Any]], Any], *, down: bool = False) -> list[str]:
    return [column["name"] for column in sorted(data["columns"], key=key, reverse=down)]


@pytest.mark.parametrize("different", [True, False])
def test_numbers_on_the_page_are_those_of_the_json(show: Open, different: bool) -> None:
    data = comparison(different=different)
    page = show(data)
    assert json.loads(page.inner_text("#comparison") or page.text_content("#comparison") or "") == data
    found = page.eval_on_selector_all("data", "all => all.map(e => [e.dataset.at, e.value, e.textContent])")
    assert len(found) > 150
    for pointer, exact, shown in found:
        wanted = _at(data, pointer)
        if isinstance(wanted, str):
            assert exact == shown == wanted
            continue
        assert json.loads(exact) == wanted
        if isinstance(wanted, bool) or pointer in {"/seconds", "/memory_bytes"}:
            continue
        # Three digits and more are shown, two where the number is small, and they are right.
        digits = 0.0051 if abs(wanted) >= 0.01 else 0.051
        assert read(shown) == pytest.approx(wanted, rel=digits, abs=1e-12), pointer
    assert _families(data) <= {pointer for pointer, _, _ in found}


def _families(data: dict[str, Any]) -> set[str]:
    """Return what must be on the page: numbers of the verdict, columns, relations, looks, blocks and settings."""
    wanted = {"/verdict/pvalue", "/verdict/alpha", "/relations_tested", "/seconds", "/memory_bytes"}
    wanted |= {f"/effect/{key}" for key in ("mmd2", "low", "high", "confidence_level", "total_variation_bound")}
    of_blocks = ("n", "size", "mean") if data["blocks"]["n"] > 1 else ("n", "size")
    wanted |= {f"/rows/{key}" for key in "ab"} | {f"/blocks/{key}" for key in of_blocks}
    wanted |= {f"/settings/{key}" for key in ("alpha", "seed", "max_rows")}
    for i, column in enumerate(data["columns"]):
        wanted |= {f"/columns/{i}/{key}" for key in ("effect", "pvalue", "pvalue_corrected")}
        wanted |= {f"/columns/{i}/{side}/missing" for side in "ab" if column["a"]["missing"] or column["b"]["missing"]}
    for i, _ in enumerate(data["tests"]):
        wanted |= {f"/tests/{i}/{key}" for key in ("pvalue", "observed", "threshold", "null/n_draws", "n_tests")}
    if data["verdict"]["different"]:
        wanted |= {f"/examples/rows/{side}/{i}/row" for side in "ab" for i in range(5)}
    for i, _ in enumerate(data["relations"]):
        wanted |= {f"/relations/{i}/{key}" for key in ("a", "b", "pvalue_corrected")}
    return wanted


def test_numbers_of_a_tolerance_are_those_of_the_json(show: Open) -> None:
    data = comparison()
    beyond = {"joint": 0.04321, "columns": 0.0123}
    data["verdict"] |= {"tolerance": 0.05, "question": "more than the tolerance", "pvalue": 0.0246, "beyond": beyond}
    data["settings"]["tolerance"] = 0.05
    for i, column in enumerate(data["columns"]):
        column |= {"pvalue_beyond": 0.0123 + 0.1 * i, "beyond": i == 0}
    page = show(data)
    found = dict(page.eval_on_selector_all("data", "all => all.map(e => [e.dataset.at, e.textContent])"))
    wanted = {"/verdict/tolerance", "/verdict/beyond/joint", "/verdict/beyond/columns", "/settings/tolerance"}
    wanted |= {f"/columns/{i}/pvalue_beyond" for i, _ in enumerate(data["columns"])}
    for pointer in wanted:
        assert read(found[pointer]) == pytest.approx(_at(data, pointer), rel=0.0051), pointer
    assert page.inner_text("#n-changed") == "1"
    assert page.locator("#columns-table > tbody.changed").count() == 1


def test_the_map_is_that_of_the_json(show: Open) -> None:
    data = comparison()
    values = data["witness"]["values"]
    largest = max(abs(value) for row in values for value in row)
    page = show(data)
    cells = page.eval_on_selector_all(
        "svg[aria-labelledby^=witness] rect",
        "all => all.map(e => [e.className.baseVal, ...['x', 'y', 'width'].map(n => Number(e.getAttribute(n)))])",
    )
    left, width = min(cell[1] for cell in cells), (350 - 10 - 74) / len(values[0])
    rows = sorted({cell[2] for cell in cells}, reverse=True)
    assert len(rows) == len(values)
    for shade, x, y, length in cells:
        first = round((x - left) / width)
        for value in values[rows.index(y)][first : first + round((length - 0.5) / width)]:
            steps = round(6 * value / largest)
            assert shade == f"w{'a' if steps > 0 else 'b' if steps < 0 else ''}{abs(steps)}"


def test_words_on_the_page_are_those_of_the_json(show: Open) -> None:
    data = comparison()
    page = show(data)
    assert page.inner_text(".answer") == data["verdict"]["text"]
    assert "found" in (page.get_attribute(".verdict", "class") or "")
    assert _names(page) == [column["name"] for column in data["columns"]]
    assert page.inner_text("#n-changed") == str(sum(column["changed"] for column in data["columns"]))
    assert page.locator("#columns-table > tbody.changed").count() == sum(
        column["changed"] for column in data["columns"]
    )
    assert page.inner_text("#command") == data["command"]
    text = page.inner_text("main")
    for words in [*data["notes"], *(c["summary"] for c in data["columns"]), *(x["reason"] for x in data["excluded"])]:
        assert words.replace("->", "→").replace(" %", "\N{NO-BREAK SPACE}%") in text
    assert "found" not in (show(comparison(different=False)).get_attribute(".verdict", "class") or "")


def test_bars_are_as_long_as_their_shares(show: Open) -> None:
    data = comparison()
    page = show(data)
    chart = data["columns"][1]["chart"]
    for side, place in (("a", 0), ("b", 1)):
        bars = page.locator(f"#card1 rect.bar.{side}")
        widths = [float(bars.nth(i).get_attribute("width") or "nan") for i in range(bars.count())]
        shares = [*chart[side], chart["missing"][place]]
        assert len(widths) == len(shares)
        longest = max([*chart["a"], *chart["b"]])
        full = max(widths) / max(shares) * longest
        assert widths == pytest.approx([full * share / longest for share in shares], abs=0.2)


def test_the_observed_value_is_where_it_belongs(show: Open) -> None:
    data = comparison()
    page = show(data)
    observed, threshold = (
        float(page.locator(f".test .mark.{kind}").first.get_attribute("x1") or "nan") for kind in ("seen", "limit")
    )
    path = page.locator(".test .area.plain").first.get_attribute("d") or ""
    places = [float(place) for place in re.findall(r"[MLH]([\d.]+)", path)]
    edges = data["tests"][0]["null"]["edges"]
    per_unit = (max(places) - min(places)) / (edges[-1] - edges[0])
    test = data["tests"][0]
    assert observed - threshold == pytest.approx(per_unit * (test["observed"] - test["threshold"]), rel=0.01)
    assert observed > max(places)


def test_columns_are_sorted_with_the_mouse(show: Open) -> None:
    data = comparison()
    page = show(data)
    effect = page.get_by_role("button", name="Changed by")
    heading = page.locator("th", has=effect)
    effect.click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert _names(page) == _order(data, lambda c: c["effect"], down=True)
    effect.click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert _names(page) == _order(data, lambda c: c["effect"])
    page.get_by_role("button", name="p-value, corrected").click()
    assert heading.get_attribute("aria-sort") == "none"
    assert _names(page) == _order(data, lambda c: c["pvalue_corrected"])
    page.get_by_role("button", name="Rank").click()
    assert _names(page) == [column["name"] for column in data["columns"]]


def test_columns_without_a_value_come_last_in_either_direction(show: Open) -> None:
    data = comparison()
    data["columns"][0]["effect"] = None
    page = show(data)
    for _ in range(2):
        page.get_by_role("button", name="Changed by").click()
        assert _names(page)[-1] == data["columns"][0]["name"]


def test_everything_works_from_the_keyboard(show: Open) -> None:
    data = comparison()
    page = show(data)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.wait_for_url("**#columns")  # a jump within a page takes a moment
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "columns-search"
    page.keyboard.type("DELAY")
    assert _names(page) == ["arr_delay", "dep_delay"]
    assert page.inner_text("#columns-count") == "2 of 6 columns shown"
    page.keyboard.press("Escape")
    assert len(_names(page)) == 6
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert _names(page) == [column["name"] for column in data["columns"] if column["changed"]]
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Column"
    page.keyboard.press("Enter")
    assert _names(page) == _order(data, lambda c: c["name"])
    # Whatever has the focus shows it.
    for _ in range(25):
        page.keyboard.press("Tab")
        style = page.evaluate("(e => [getComputedStyle(e).outlineStyle, e.tagName])(document.activeElement)")
        assert style[0] != "none" or style[1] == "BODY"


def test_the_command_can_be_copied_and_the_numbers_saved(show: Open) -> None:
    data = comparison()
    page = show(data, permissions=["clipboard-read", "clipboard-write"])
    page.click("#copy")
    page.wait_for_function("document.querySelector('#copy').textContent !== 'Copy the command'")
    if page.inner_text("#copy") == "Copied":
        assert page.evaluate("navigator.clipboard.readText()") == data["command"]
    else:
        assert page.evaluate("String(getSelection())") == data["command"]


def test_numbers_can_be_saved(show: Open) -> None:
    data = comparison()
    page = show(data)
    page.evaluate(
        "() => { const make = URL.createObjectURL; URL.createObjectURL = b => { window.saved = b; return '#saved'; } }"
    )
    page.click("#save")
    assert json.loads(page.evaluate("window.saved.text()")) == data


def test_without_scripts_all_is_there_but_the_tools(show: Open) -> None:
    page = show(java_script_enabled=False)
    assert page.locator(".answer").is_visible()
    assert _names(page) == [column["name"] for column in comparison()["columns"]]
    assert not page.locator(".tools").is_visible()
    assert not page.locator("#copy").is_visible()
    # Drawings open without a script; hundreds of columns are there at once.
    small = page.locator("#columns-table > tbody").nth(4).locator("summary").first
    assert not page.locator("#card4 svg.chart").is_visible()
    small.click()
    assert page.locator("#card4 svg.chart").is_visible()
    page = show(comparison(_many(120)), java_script_enabled=False)
    assert page.locator(".answer").is_visible()
    assert len(_names(page)) == 120


def test_charts_speak(show: Open) -> None:
    data = comparison()
    page = show(data)
    charts = page.eval_on_selector_all(
        "svg.chart",
        """all => all.map(s => ({
          role: s.getAttribute("role"),
          words: s.getAttribute("aria-labelledby").split(" ").map(i => document.getElementById(i).textContent.trim()),
          axes: Array.from(s.querySelectorAll("text.label")).map(t => t.textContent),
        }))""",
    )
    assert len(charts) == len(data["columns"]) + len(data["tests"]) + 2
    for chart in charts:
        assert chart["role"] == "img"
        assert all(len(words) > 5 for words in chart["words"])
        assert all(chart["axes"])
        assert len(chart["axes"]) >= 1
    assert page.locator("svg:not([role=img]):not([aria-hidden=true])").count() == 0
    # Headings step down one at a time.
    levels = page.eval_on_selector_all("h1, h2, h3", "all => all.map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_shown_and_never_run(show: Open, text: str) -> None:
    page = show(poisoned(comparison(), text))
    page.hover("svg.chart >> nth=0")
    page.locator("details").evaluate_all("all => all.forEach(d => { d.open = true; })")
    page.get_by_role("button", name="Kind").click()
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 2
    assert page.locator("iframe, img, foreignObject, object, embed").count() == 0
    active = "all => all.flatMap(e => Array.from(e.attributes)).filter(a => /^on|^style$|^srcdoc$/.test(a.name)).length"
    assert page.eval_on_selector_all("*", active) == 0
    assert page.locator("a:not([href^='#'])").count() == 0
    wanted = " ".join(("arr_delay" + text).split())
    assert wanted in [" ".join(name.split()) for name in _names(page)]
    assert "arr_delay" + text in (page.text_content("#examples") or "")


def test_a_script_that_got_in_would_not_run(show: Open, browser: Browser, tmp_path: Path) -> None:
    # The second door: the page's own policy lets its one script run, and nothing else.
    page = render(comparison()).replace("</main>", "<script>window.hacked = 1</script></main>")
    path = write(tmp_path / "broken.html", page)
    opened = browser.new_page()
    opened.goto(path.as_uri())
    assert opened.evaluate("window.hacked") is None
    assert opened.locator(".tools").is_visible()
    opened.close()


def _many(n: int) -> list[dict[str, Any]]:
    return [number_column(f"x{i}", i + 1, 30.0 * math.exp(-i / 10)) for i in range(n)]


def test_many_columns_are_shown_in_pages(show: Open) -> None:
    page = show(comparison(_many(120)))
    assert _names(page) == [f"x{i}" for i in range(50)]
    assert page.inner_text("#columns-count") == "50 of 120 columns shown"
    assert page.inner_text("#columns-left").strip() == "70 more."
    page.click("#columns-next")
    assert len(_names(page)) == 100
    page.fill("#columns-search", "x11")
    assert _names(page) == ["x11", *(f"x{i}" for i in range(110, 120))]
    assert not page.locator(".more-rows").is_visible()
    page.fill("#columns-search", "")
    assert len(_names(page)) == 50
    page.get_by_role("button", name="Rank").click()
    assert _names(page) == [f"x{i}" for i in range(119, 69, -1)]
    page.click("#columns-all")
    assert len(_names(page)) == 120


def test_small_drawings_open_as_large_ones(show: Open) -> None:
    page = show(comparison(_many(120)))
    large = "e => e.checkVisibility()"
    assert page.locator("#column0-title").evaluate("e => e.closest('svg').checkVisibility()")
    assert not page.locator("#card45").evaluate(large)
    page.locator("#columns-table > tbody").nth(45).locator("summary").first.click()
    assert page.locator("#card45").evaluate(large)
    # Beyond the first ones the small drawing grows; a link to one that is on a later page shows it.
    small = page.locator("#card100 svg.spark")
    assert not small.is_visible()
    page.evaluate("location.hash = '#card100'")
    page.wait_for_function("document.querySelector('#card100').open")
    box = small.bounding_box()
    assert box is not None
    assert box["width"] > 300


def test_a_few_columns_have_nothing_to_search(show: Open) -> None:
    page = show(comparison(comparison()["columns"][:2]))
    assert page.locator(".tools").count() == 0
    page.get_by_role("button", name="Column").click()
    assert _names(page) == ["arr_delay", "carrier"]
    assert page.locator("#save").is_visible()
