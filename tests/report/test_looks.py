"""The page on screens of all widths, in the dark and on paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.report.sample import category_column, comparison, number_column

if TYPE_CHECKING:
    from tests.report.conftest import Open


@pytest.mark.parametrize("width", [320, 360, 768, 1200])
def test_nothing_sticks_out(show: Open, width: int) -> None:
    columns = [number_column("a_very_long_name_" * 12, 1, 9.0), category_column("c" * 120, 2, ["l" * 200, "b c " * 60])]
    data = comparison([*columns, *comparison()["columns"]])
    data["examples"]["a"] = [["x" * 300 for _ in row] for row in data["examples"]["a"]]
    data["command"] = "btests compare " + "/a/path/that/does/not/end" * 12
    data["names"] = {"a": "reference_" * 20 + ".parquet", "b": "current"}
    for given in (data, comparison()):
        page = show(given, viewport={"width": width, "height": 780})
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
    behind = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(int(n) for n in re.findall(r"\d+", behind)[:3]) < 60) == (scheme == "dark")
    texts = page.eval_on_selector_all(
        "p, h1, h2, h3, td, th, dt, dd, small, a, button, summary, li, pre, text", _COLOURS
    )
    assert len(texts) > 200
    for own, around, what in texts:
        assert _contrast(own, around) >= 4.5, what


def test_on_paper(show: Open) -> None:
    page = show(color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert not page.locator("#save").is_visible()
    assert page.locator("#command").is_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")
