"""A real cluster of processes on this machine that the tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from btests.execution.dask.local_workers import local_client

pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Return a client of two workers, which talk TCP."""
    with local_client(2) as found:
        yield found
