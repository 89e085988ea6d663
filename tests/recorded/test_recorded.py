"""The numbers of the version before the pipeline was rebuilt, to the last bit where the loops are the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.record import record

_RECORDED = json.loads((Path(__file__).parent / "results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return record(tmp_path_factory.mktemp("recorded"))


def test_results_are_those_recorded(now: dict[str, Any]) -> None:
    then = _RECORDED["results"]
    assert list(now["results"]) == list(then)
    if now["instruction_set"] == _RECORDED["instruction_set"]:
        assert {name: case for name, case in now["results"].items() if case != then[name]} == {}
        return
    for name, case in now["results"].items():  # other loops round differently
        if isinstance(case, dict) and "statistic" in case:
            assert case["blocks"] == then[name]["blocks"], name
            assert float.fromhex(case["statistic"]) == pytest.approx(
                float.fromhex(then[name]["statistic"]), rel=1e-6, abs=1e-9
            ), name
