"""Constraints for pip: the oldest version of each dependency that pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

_PROJECT = Path(__file__).parents[2] / "pyproject.toml"

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[.*\])?>=([0-9.]+)$")


def oldest() -> Iterator[str]:
    """Yield ``name==version`` for each requirement with a lower bound, of the package and of all extras."""
    project = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for requirement in sorted({*project["dependencies"], *(one for extra in extras for one in extra)}):
        if found := _REQUIREMENT.match(requirement):
            yield f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    print(*oldest(), sep="\n")
