"""What tables need beyond numpy, and what to say where it is not there."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_ADVICE = "comparing tables needs {name}; python -m pip install 'btests[tables]' gets it"


def arrow() -> ModuleType:
    """Return pyarrow, or say how to get it."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise ValueError(_ADVICE.format(name="pyarrow")) from None


def narwhals() -> ModuleType:
    """Return narwhals, or say how to get it."""
    try:
        return import_module("narwhals")
    except ImportError:
        raise ValueError(_ADVICE.format(name="narwhals")) from None
