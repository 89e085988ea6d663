"""Short form of the campaign of lost workers."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("distributed")

from tests.faults import lost_workers
from tests.faults.report import wrongs


def test_lost_workers(tmp_path: Path) -> None:
    assert wrongs(lost_workers.campaign(tmp_path, 1)) == []
