"""Import guards for the packages that files and tables need beyond numpy."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def arrow(module: str = "pyarrow") -> ModuleType:
    """Return pyarrow or one of its modules, or raise an error that names the command to install it.

    Parameters
    ----------
    module : str
        Such as ``"pyarrow.parquet"``.
    """
    return _imported(module)


def narwhals() -> ModuleType:
    """Return narwhals, or raise an error that names the command to install it."""
    return _imported("narwhals")


def _imported(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ValueError(
            f"reading files and comparing tables needs {package}; python -m pip install 'btests[tables]' gets it"
        ) from None
