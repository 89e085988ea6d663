"""A real browser for the tests of the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the system's chromium without a window; skip, and say so, where there is none."""
    programs = [found for name in NAMES if (found := shutil.which(name))]
    if not programs:
        pytest.skip(f"no browser here ({', '.join(NAMES)}): the page was not tested in one")
    api = pytest.importorskip("playwright.sync_api", reason="no playwright here: the page was not tested in a browser")
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=programs[0])
        yield started
        started.close()
