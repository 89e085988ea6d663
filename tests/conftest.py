"""Settings that all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from btests import _core

# The same examples in every run: a failure today is a failure tomorrow. A shared machine may be slow, so no deadline.
settings.register_profile(
    "btests", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("btests")


def _instruction_sets() -> list[str]:
    found = []
    for name in ("generic", "avx2", "avx512"):
        try:
            _core.use_instruction_set(name)
        except ValueError:
            continue
        found.append(name)
    if found:
        _core.use_instruction_set(None)
    return found


@pytest.fixture(params=_instruction_sets() or ["none"])
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test once with each instruction set that this machine has."""
    name: str = request.param
    if name == "none":
        pytest.skip("the compiled loops were not built")
    _core.use_instruction_set(name)
    yield name
    _core.use_instruction_set(None)


# Folders and files under tests/ whose tests are not in the quick suite, by marker.
_MARKED = {
    "cluster": ("dask", "extending/test_extending.py"),
    "browser": ("report/test_browser.py", "report/test_looks.py", "report/test_whole.py"),
    "statistical": ("statistical", "selection/test_levels.py", "comparison/test_levels.py"),
    "study": ("studies", "test_benchmarks.py"),
    "slow": (
        "comparison/test_agreement.py",
        "comparison/test_large.py",
        "comparison/test_large_limits.py",
        "comparison/test_large_rows.py",
        "comparison/test_large_trouble.py",
        "execution/test_checkpoint.py",
        "test_packaging.py",
    ),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that are not in the quick suite, by their place."""
    root = Path(__file__).parent
    for item in items:
        if not item.path.is_relative_to(root):
            continue
        place = item.path.relative_to(root)
        for marker, places in _MARKED.items():
            if any(place.is_relative_to(own) for own in places):
                item.add_marker(marker)
