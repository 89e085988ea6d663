"""Settings that all tests share."""

from __future__ import annotations

from collections.abc import Iterator

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
