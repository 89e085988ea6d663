"""Imports of optional packages: whether one is missing, or installed and broken."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from btests._text import shortly


def optional(module: str, remedy: str) -> ModuleType | str:
    """Return a module of an optional package, or the end of a sentence that says what to do for want of it.

    A package that is installed for another version of numpy, say, may raise anything on import; that is no reason to
    install it once more, so its own error is shown.

    Parameters
    ----------
    module : str
        Such as ``"pyarrow.parquet"``.
    remedy : str
        Command that installs its package.
    """
    package = module.partition(".")[0]
    try:
        import_module(package)  # by itself: an error of its import names the package, and not the module
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name == package:
            return f"{remedy} gets it"
        return _broken(package, error)
    except Exception as error:  # of the other package, which alone runs here
        return _broken(package, error)


def _broken(package: str, error: Exception) -> str:
    return (
        f"it is installed, but cannot be imported: {type(error).__name__}, {shortly(error)}; install a version of "
        f"{package} that fits this Python and this numpy"
    )


def arrow(module: str = "pyarrow") -> ModuleType:
    """Return pyarrow or one of its modules, or raise an error that says how to get it, or why its import fails.

    Parameters
    ----------
    module : str
        Such as ``"pyarrow.parquet"``.
    """
    return _imported(module)


def narwhals() -> ModuleType:
    """Return narwhals, or raise an error that says how to get it, or why its import fails."""
    return _imported("narwhals")


def _imported(module: str) -> ModuleType:
    found = optional(module, "python -m pip install 'btests[tables]'")
    if isinstance(found, str):
        raise ValueError(f"reading files and comparing tables needs {module.partition('.')[0]}; {found}")
    return found
