"""The page as text: what is in it, what cannot get into it, and its size."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from btests.comparison import compare
from btests.report import render, write
from tests.report.hostile import TEXTS, poisoned
from tests.report.sample import category_column, comparison, number_column, time_column


class Tags(HTMLParser):
    """What a parser sees: tags, attributes, and the text of the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.names: set[str] = set()
        self.links: set[str] = set()
        self.ids: Counter[str] = Counter()
        self.data: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count."""
        self.tags[tag] += 1
        self.names |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in {"href", "src", "action", "xlink:href"}}
        self.ids.update(value or "" for name, value in attrs if name == "id")

    def handle_data(self, data: str) -> None:
        """Keep."""
        self.data.append(data)

    @property
    def text(self) -> str:
        """The text of the page, scripts and styles too."""
        return " ".join(self.data)


PLAIN = Tags(render(comparison()))


def test_the_verdict_is_on_top_and_the_command_is_in_full() -> None:
    page = render(comparison())
    assert page.index("The two tables differ.") < page.index("Columns, most changed first") < page.index('id="command"')
    assert "btests compare flights.parquet --by month --a 1 --b 7 --exclude day --seed 7 --report out.html" in page


def test_nothing_is_loaded_from_elsewhere() -> None:
    assert all(link.startswith("#") or link == "data:," for link in PLAIN.links)
    page = render(comparison())
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page.replace("&#39;", "'")


def test_ids_are_unique() -> None:
    assert set(PLAIN.ids.values()) == {1}


@pytest.mark.parametrize("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    tags = Tags(render(poisoned(comparison(), text)))
    assert tags.tags["script"] == 2
    assert not tags.tags.keys() - PLAIN.tags.keys() - {"br"}
    assert not tags.names - PLAIN.names
    assert all(link.startswith("#") or link == "data:," for link in tags.links)
    assert "arr_delay" + text in tags.text


@given(text=st.text(min_size=1, max_size=30))
def test_any_text_is_fine_anywhere(text: str) -> None:
    tags = Tags(render(poisoned(comparison(), text)))
    assert tags.tags["script"] == 2
    assert not tags.names - PLAIN.names
    assert set(tags.ids.values()) == {1}


@pytest.mark.parametrize("text", [*TEXTS, "\ud800", "\x00\x1b[31m", "\u202eabc", "\u2028"])
def test_the_json_inside_is_the_comparison(text: str) -> None:
    wanted = poisoned(comparison(), text)
    page = render(wanted)
    inside = page.partition('<script type="application/json" id="comparison">')[2].partition("</script>")[0]
    assert json.loads(inside) == wanted
    assert not set(inside) & set("<>&\u2028")
    page.encode("utf-8")


def test_marks_of_direction_are_shown_and_do_not_work() -> None:
    page = render(poisoned(comparison(), "\u202e\x00"))
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "arr_delay\\u202e\\x00" in page


def _wide() -> dict[str, Any]:
    columns = [number_column(f"a column with number {i}", i + 1, 30.0 - i / 4, n_bins=60) for i in range(60)]
    columns += [category_column(f"category {i}", 61 + i, [f"level {k} of it" for k in range(12)]) for i in range(30)]
    columns += [time_column(f"time {i}", 91 + i) for i in range(10)]
    return comparison(columns)


def test_a_hundred_columns_are_under_one_and_a_half_megabytes() -> None:
    data = _wide()
    assert len(data["columns"]) == 100
    page = render(data)
    assert len(page.encode()) < 1_500_000
    # All of them are drawn, the top ones large, and three of these in the open.
    assert page.count('class="spark"') == 100
    assert len(re.findall(r'id="column\d+-title"', page)) == 60
    assert page.count('<details class="enlarged"') == 40
    assert page.count(" open>") == 3


def _image(seed: int, shift: float) -> dict[str, Any]:
    """Return a table of 28 x 28 columns of random numbers."""
    values = np.random.default_rng(seed).normal(size=(300, 784))
    values[:, 300:320] += shift
    return {f"pixel{i}": values[:, i] for i in range(784)}


def test_an_image_is_under_three_megabytes_and_has_a_map() -> None:
    page = render(compare(_image(0, 0.0), _image(1, 1.0), seed=0).to_dict())
    assert len(page.encode()) < 3_000_000
    assert "28 x 28 of them" in page


@pytest.mark.parametrize("part", ["witness", "examples", "blocks", "command", "memory_bytes"])
def test_parts_that_are_not_there_leave_no_hole(part: str) -> None:
    page = render(comparison() | {part: None})
    assert "None" not in Tags(page.partition('<script type="application/json"')[0]).text


def test_little_is_enough() -> None:
    bare = comparison([], different=False) | {"notes": [], "excluded": [], "examples": None, "witness": None}
    for test in bare["tests"]:
        test |= {"null": None, "threshold": None}
    bare["effect"] |= {"low": None, "high": None, "largest_change": ""}
    page = render(bare)
    assert "No difference found between the two tables." in page
    assert "All columns were compared." in page
    assert "None was found whose relation changed" in page


def test_a_column_without_a_drawing_or_numbers() -> None:
    column = number_column("x", 1, 3.0) | {"chart": None, "effect": None}
    column["a"] = dict.fromkeys(column["a"])
    assert ">x</th>" in render(comparison([column])).replace("</a>", "")


@pytest.mark.parametrize(
    ("edges", "a", "b"),
    [
        ([1.0, 1.0], [1.0], [1.0]),
        ([0.0, 1e-320], [0.0], [0.0]),
        ([-1e308, 0.0, 1e308], [0.5, 0.5], [0.0, 1.0]),
        ([1e9, 1e9 + 1e-6], [1.0], [1.0]),
    ],
)
def test_odd_histograms_are_drawn(edges: list[float], a: list[float], b: list[float]) -> None:
    column = number_column("x", 1, 3.0)
    column["chart"] |= {"edges": edges, "a": a, "b": b}
    page = render(comparison([column]))
    assert "nan" not in page.partition('id="column0-title"')[2].partition("</svg>")[0]


def test_where_nothing_was_found_there_is_nothing_to_see() -> None:
    words = "Nothing to see: no difference was found"
    assert words not in render(comparison())
    found = comparison(different=False)
    page = render(found)
    assert words in page
    assert 'id="witness-title"' not in page
    assert 'id="examples"' not in page
    # Less than tolerated is not nothing.
    found["verdict"] |= {"tolerance": 0.01, "question": "more than the tolerance", "pvalue_any_difference": 0.0005}
    for column in found["columns"]:
        column |= {"beyond": False, "pvalue_beyond": 0.5}
    page = render(found)
    assert words not in page
    assert 'id="witness-title"' in page
    assert "no difference found beyond the tolerance</title>" in page
    assert "if it were not so." in page


@pytest.mark.parametrize("different", [True, False])
def test_there_is_no_jargon_above_the_fold(different: bool) -> None:
    page = render(comparison(different=different))
    hero = Tags(page[page.index("<h1>") : page.index("<nav")]).text.lower()
    assert "p-value" in hero
    for word in ("mmd", "kernel", "bandwidth", "gaussian", "total variation", "statistic", "null"):
        assert word not in hero, word


def test_lines_break_at_words_and_names_keep_their_direction() -> None:
    page = render(comparison([number_column("גובה", 1, 3.0) | {"summary": "in גובה רב 3 % -> 4 %; p-value 1"}]))
    body = page[: page.index('<script type="application/json"')]
    assert "in <bdi>גובה רב</bdi> 3\xa0% → 4\xa0%; " in body
    assert '<span class="whole">p-value</span> 1' in body


def test_every_mmd_has_its_kernel() -> None:
    page = Tags(render(comparison()).partition('<script type="application/json"')[0]).text
    assert "The effect in units of the test: MMD²" in page
    assert "with Gaussian(bandwidth=2.308)" in page
    assert "MMD² with Gaussian(bandwidth=1.5): p-value" in " ".join(page.split())
    assert "block MMD² with Gaussian(bandwidth=1.5)" in page
    assert "MMD^2" not in page


def test_one_of_a_kind_is_not_many() -> None:
    one = comparison([number_column("x", 1, 3.0)]) | {"relations_tested": 1, "relations": []}
    one["blocks"] |= {"n": 1}
    page = " ".join(Tags(render(one)).text.split())
    assert "1 pair of columns was tested" in page
    assert "block 1 of 164 rows a side" in page  # in the settings; there is no histogram of one value
    assert not [words for words in ("1 columns", "1 pairs", "1 blocks", "1 rows") if f" {words}" in page]
    assert "No pairs of columns were tested: there is one column." in render(one | {"relations_tested": 0})


def test_columns_are_in_order_and_those_that_moved_are_open() -> None:
    data = comparison([number_column(f"x{i}", i + 1, 9.0 if i in (4, 5, 7) else 0.0) for i in range(9)])
    page = render(data)
    shown = [" open>" in own.partition("<summary>")[0] for own in page.split('<td class="n rank">')[1:]]
    assert shown == [i in (4, 5, 7) for i in range(9)]
    places = [page.index(f'<a href="#card{i}">') for i in range(9)]
    assert places == sorted(places)


def test_a_value_far_off_breaks_the_axis() -> None:
    data = comparison()
    assert "axis broken" not in render(data)
    data["tests"][0]["observed"] = 0.5
    assert render(data).count("axis broken") == 1


def test_a_bar_that_dwarfs_the_others_is_cut() -> None:
    column = category_column("c", 1, ["x", "y", "z"])
    assert 'class="cut"' not in render(comparison([column]))
    column["chart"] |= {"a": [0.001, 0.002, 0.977], "b": [0.002, 0.001, 0.977], "missing": [0.0, 0.0]}
    assert render(comparison([column])).count('class="cut"') == 4


def test_levels_on_the_map_are_named() -> None:
    data = comparison()
    data["witness"] |= {"values": [[1.0, -1.0, 0.5], [0.2, 0.1, -0.3]]}
    data["witness"]["x"] |= {"centres": None, "smooth": False, "labels": ["UA", "B6", "<b>"]}
    data["witness"]["y"] |= {"centres": [1.0, 10.0]}
    page = render(data)
    picture = page.partition('id="witness-title"')[2].partition("</svg>")[0]
    assert ">UA<" in picture
    assert ">&lt;b&gt;<" in picture
    # Letters for those who do not see the colours: row 0 is at the bottom, most of a to the left.
    assert picture.count(">A</text>") == picture.count(">B</text>") == 1


def test_all_levels_on_the_map_are_named_and_missing_too() -> None:
    data = comparison()
    names = [f"a long name of level {i}" for i in range(7)]
    data["witness"] |= {"values": [[1.0] * 8, *[[0.1 * i] * 8 for i in range(24)]]}
    data["witness"]["x"] |= {"centres": None, "smooth": False, "labels": names, "missing": True}
    data["witness"]["y"] |= {"missing": True}
    picture = render(data).partition('id="witness-title"')[2].partition("</svg>")[0]
    assert all(f"<title>{name}</title>" in picture for name in names)
    assert picture.count("<title>missing</title>") == 2
    assert 'class="even"' not in picture  # between levels there is nothing to draw a line through


def test_a_map_of_one_side_has_one_letter() -> None:
    data = comparison()
    data["witness"] |= {"values": [[0.5] * 24] * 23 + [[None] * 24]}
    picture = render(data).partition('id="witness-title"')[2].partition("</svg>")[0]
    assert ">A</text>" in picture
    assert ">B</text>" not in picture


def test_the_same_page_each_time() -> None:
    assert render(comparison()) == render(json.loads(json.dumps(comparison())))


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    assert write(path, "first") == path
    with pytest.raises(FileExistsError, match=r"out\.html exists already"):
        write(str(path), "second")
    assert path.read_text(encoding="utf-8") == "first"
    write(path, "second", force=True)
    assert path.read_text(encoding="utf-8") == "second"


def test_where_writing_fails_the_old_page_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "out.html", "first")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            write(path, "second", force=True)
    assert path.read_text(encoding="utf-8") == "first"
    assert [p.name for p in tmp_path.iterdir()] == ["out.html"]


def test_through_a_link_and_not_to_a_device(tmp_path: Path) -> None:
    link, target = tmp_path / "link.html", tmp_path / "target.html"
    link.symlink_to(target)
    with pytest.raises(FileExistsError):
        write(link, "first")
    write(link, "first", force=True)
    assert (link.is_symlink(), target.read_text(encoding="utf-8")) == (True, "first")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
        with pytest.raises(OSError, match="it is there, and is no file"):
            write(path, "nothing", force=True)


def test_without_jinja2_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'btests\[tables\]'"):
        render(comparison())
