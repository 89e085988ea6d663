"""The page on screens of all widths, in the dark and on paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.report.sample import category_column, comparison, number_column
from tests.report.test_group_page import TWELVE, grouped

if TYPE_CHECKING:
    from tests.report.conftest import Open


_OPEN = "all => all.forEach(part => { part.open = true; })"


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_sticks_out(show: Open, width: int) -> None:
    columns = [number_column("a_very_long_name_" * 12, 1, 9.0), category_column("c" * 120, 2, ["l" * 200, "b c " * 60])]
    data = comparison([*columns, *comparison()["columns"]])
    data["examples"]["a"] = [["x" * 300 for _ in row] for row in data["examples"]["a"]]
    data["command"] = "btests compare " + "/a/path/that/does/not/end" * 12
    data["names"] = {"a": "reference_" * 20 + ".parquet", "b": "current"}
    several = grouped(["a rather long name of a group " * 4, *TWELVE])
    for group in several["groups"]:
        group |= {"rows": 336_776, "tested": 5000}
    for given in (data, comparison(), several):
        page = show(given, viewport={"width": width, "height": 780})
        page.eval_on_selector_all("details", _OPEN)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_charts_can_be_read_on_a_phone(show: Open) -> None:
    page = show(viewport={"width": 360, "height": 780})
    sizes = page.eval_on_selector_all(
        "svg.chart",
        """all => all.filter(s => s.checkVisibility())
          .map(s => 11.5 * s.getBoundingClientRect().width / s.viewBox.baseVal.width)""",
    )
    assert len(sizes) >= 6
    assert min(sizes) > 9


def _contrast(one: list[float], other: list[float]) -> float:
    def light(colour: list[float]) -> float:
        parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


_COLOURS = """all => all.filter(e => e.checkVisibility()).map(e => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const below = part => numbers(getComputedStyle(part).backgroundColor);
  let behind = e;
  while (behind.parentElement && below(behind)[3] === 0) behind = behind.parentElement;
  const style = getComputedStyle(e);
  const own = e instanceof SVGElement ? style.fill : style.color;
  return [numbers(own).slice(0, 3), below(behind).slice(0, 3), e.outerHTML.slice(0, 80)];
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out(show: Open, scheme: str) -> None:
    page = show(color_scheme=scheme)
    page.eval_on_selector_all("details", _OPEN)
    behind = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(int(n) for n in re.findall(r"\d+", behind)[:3]) < 60) == (scheme == "dark")
    texts = page.eval_on_selector_all(
        "p, h1, h2, h3, td, th, dt, dd, small, a, button, summary, li, pre, text", _COLOURS
    )
    assert len(texts) > 200
    for own, around, what in texts:
        assert _contrast(own, around) >= 4.5, what


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_and_bars_stand_out(show: Open, scheme: str) -> None:
    page = show(color_scheme=scheme)
    page.eval_on_selector_all("details", _OPEN)
    drawn = page.eval_on_selector_all(
        ".area, .mark, .bar.b, svg.spark [stroke]", _COLOURS.replace("style.fill", "style.stroke")
    )
    drawn += page.eval_on_selector_all(".bar.a", _COLOURS)
    assert len(drawn) > 30
    for own, around, what in drawn:
        assert _contrast(own, around) >= 3.0, what


_OVERLAPS = """all => all.filter(s => s.checkVisibility()).flatMap(svg => {
  const boxes = Array.from(svg.querySelectorAll("text.tick, text.label")).map(t => [t, t.getBoundingClientRect()]);
  const apart = (p, q) =>
    p.right <= q.left + 1 || q.right <= p.left + 1 || p.bottom <= q.top + 1 || q.bottom <= p.top + 1;
  return boxes.flatMap(([t, p], i) => boxes.slice(i + 1)
    .filter(([u, q]) => (t.classList.contains("label") || u.classList.contains("label")) && !apart(p, q))
    .map(([u]) => t.textContent + " on " + u.textContent));
})"""


@pytest.mark.parametrize("width", [390, 1280])
def test_labels_of_axes_are_not_on_ticks(show: Open, width: int) -> None:
    columns = [number_column("a_very_long_name_" * 12, 1, 9.0), category_column("c" * 120, 2, ["l" * 200, "b c " * 60])]
    tiny = number_column("tiny", 3, 3.0)
    tiny["chart"]["edges"] = [1e-7 * edge + 123456.0 for edge in tiny["chart"]["edges"]]
    data = comparison([*columns, tiny, *comparison()["columns"]])
    page = show(data, viewport={"width": width, "height": 800})
    page.eval_on_selector_all("details", _OPEN)
    assert page.eval_on_selector_all("svg.chart", _OVERLAPS) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_no_line_begins_with_a_sign_of_percent(show: Open, width: int) -> None:
    columns = [number_column(f"x{i}", i + 1, 9.0) for i in range(4)]
    for i, column in enumerate(columns):
        column["summary"] = " -> ".join(["w" * (3 + i) + f" 1{i}.5 %"] * 30)
    page = show(comparison(columns), viewport={"width": width, "height": 800})
    page.eval_on_selector_all("details", _OPEN)
    alone = """() => {
      const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), found = [];
      const tops = (node, from, to) => {
        const range = document.createRange();
        range.setStart(node, from);
        range.setEnd(node, to);
        return range.getClientRects()[0]?.top;
      };
      while (walker.nextNode()) {
        const node = walker.currentNode, text = node.data;
        for (let i = text.indexOf("%"); i > 1; i = text.indexOf("%", i + 1))
          if (tops(node, i, i + 1) > tops(node, i - 2, i - 1) + 8) found.push(text.slice(i - 9, i + 1));
      }
      return found;
    }"""
    assert page.evaluate(alone) == []


def test_on_paper(show: Open) -> None:
    page = show(color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert not page.locator("#save").is_visible()
    assert page.locator("#command").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")
