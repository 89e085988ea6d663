"""A real browser for the tests of the page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from btests.report import render, write
from tests.report.sample import comparison

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

Open = Callable[..., "Page"]

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


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open the page of a comparison; whatever the browser complains of, asks for or runs fails the test."""
    wrong: list[str] = []
    contexts: list[BrowserContext] = []

    def open_page(data: dict[str, Any] | None = None, **options: Any) -> Page:
        path = write(tmp_path / f"{len(contexts)}.html", render(comparison() if data is None else data))
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}} | options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on("request", lambda sent: wrong.append(sent.url) if sent.url not in {path.as_uri(), "data:,"} else None)
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
