"""Times as text, with parts of a second and time zones."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import btests
from btests.comparison.cells import pool
from btests.comparison.text_styles import read_texts
from tests.comparison.conftest import Shell

TIMES = pd.Timestamp("2024-01-05 10:20:30.25") + pd.to_timedelta(np.arange(50) * 7919, "s")


def read(columns: tuple[Any, Any], name: str, notes: list[str]) -> tuple[Any, Any, str]:
    fields = tuple(pa.field(name, column.type) for column in columns)
    return read_texts(columns, (fields[0], fields[1]), None, ("a", "b"), notes)


@pytest.mark.parametrize(
    ("texts", "zone"),
    [
        ([t.isoformat() for t in TIMES], None),
        ([t.isoformat(" ") for t in TIMES], None),
        ([t.isoformat() + "Z" for t in TIMES], "UTC"),
        ([(t + pd.Timedelta("2h")).isoformat() + "+02:00" for t in TIMES], "UTC"),
    ],
)
def test_parts_of_a_second_and_zones(texts: list[str], zone: str | None) -> None:
    notes: list[str] = []
    column = pa.chunked_array([[*texts, None]])
    found, *_ = read((column, column.slice(0, 0)), "t", notes)
    assert found.type == pa.timestamp("us", zone)
    assert found.null_count == 1
    assert [t.replace(tzinfo=None) for t in found.to_pylist()[:-1]] == list(TIMES.to_pydatetime())
    assert notes == ["column 't' holds dates as text, read as ISO 8601"]


def test_some_with_a_zone_and_some_without_stay_text() -> None:
    notes: list[str] = []
    column = pa.chunked_array([["2024-01-05T10:20:30.5Z", "2024-01-05T10:20:30.5"]])
    assert read((column, column), "t", notes)[0] is column
    assert "not all of one form" in notes[0]


def test_json_lines_and_csv_say_the_same(shell: Shell) -> None:
    rng = np.random.default_rng(3)
    for side in "ab":
        days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, 200), "D")
        table = pd.DataFrame({"day": days, "u": rng.normal(size=200)})
        table.to_csv(f"{side}.csv", index=False)
        table.to_json(f"{side}.jsonl", orient="records", lines=True, date_format="iso")
    assert '"2024-' in Path("a.jsonl").read_text(encoding="utf-8")
    found = [shell(f"a.{kind}", f"b.{kind}", "--json").json for kind in ("csv", "jsonl")]
    assert found[0]["verdict"]["pvalue"] == found[1]["verdict"]["pvalue"]
    assert {column["kind"] for column in found[1]["columns"]} == {"time", "number"}


def test_a_zone_on_one_side_alone_is_noted() -> None:
    times = pd.DataFrame({"t": TIMES})
    found = btests.compare(times, pd.DataFrame({"t": TIMES.tz_localize("US/Eastern")}), seed=0)
    assert "column 't' has a time zone in b and none in a: taken as UTC there" in found.notes


def test_another_zone_than_utc_is_noted() -> None:
    rng = np.random.default_rng(0)
    for zone, noted in (("Europe/Berlin", True), ("UTC", False)):
        times = [TIMES[rng.integers(0, 50, 200)].tz_localize("UTC").tz_convert(zone) for _ in range(2)]
        found = btests.compare(*(pd.DataFrame({"t": side}) for side in times), seed=0)
        assert (found.notes == (f"column 't' has times of {zone}: compared, and shown, in UTC",)) == noted


def test_times_beside_nothing_but_missing_cells() -> None:
    days = [datetime.date(2024, 1, 1 + k) for k in range(20)]
    found = btests.compare({"u": [1.0] * 20, "day": days}, {"u": [1.0] * 20, "day": [None] * 20}, seed=0)
    assert found.different
    assert found.columns[0].kind == "time"


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M", "%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S"])
def test_days_that_do_not_exist_are_no_dates(form: str) -> None:
    """Arrow takes 30 February for 2 March."""
    days = [datetime.datetime(2021, 2, 1 + i % 28, 10, 0).strftime(form) for i in range(300)]
    wrong = days[0].replace("01", "30", 1) if form.startswith("%d") else days[0].replace("-01", "-30", 1)
    assert "30" in wrong
    notes: list[str] = []
    a, _, found = read((pa.chunked_array([days]), pa.chunked_array([[*days[:7], wrong]])), "d", notes)
    assert (found, a.type) == ("", pa.string())
    assert notes == [f"column 'd' holds dates as text, not all of one form ({wrong!r}): taken as text"]
    assert read((pa.chunked_array([days]), pa.chunked_array([days])), "d", [])[2] == form


@pytest.mark.parametrize(
    "make", [pa.timestamp, pa.duration, lambda unit: (pa.time32 if unit in ("s", "ms") else pa.time64)(unit)]
)
def test_units_of_times_have_the_same_bits(make: Any) -> None:
    milliseconds = np.random.default_rng(0).integers(-(10**12) if make is pa.timestamp else 0, 80_000_000, 500)
    dtype = make("ms")
    column = pa.chunked_array(
        [pa.array(milliseconds.astype("int32" if pa.types.is_time32(dtype) else "int64")).cast(dtype)]
    )
    expected = pool("t", column, column.slice(0, 0)).values
    for unit in ("us", "ns"):
        own = column.cast(make(unit))
        np.testing.assert_array_equal(pool("t", own, own.slice(0, 0)).values, expected)
    assert np.abs(expected - milliseconds / 1000.0).max() < 1e-6


def test_days_are_seconds() -> None:
    days = pa.chunked_array([pa.array([datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)])])
    both = [pool("d", own, own.slice(0, 0)).values for own in (days, days.cast(pa.date64()))]
    np.testing.assert_array_equal(both, [[-719162 * 86400.0, 0.0, 2932896 * 86400.0]] * 2)
