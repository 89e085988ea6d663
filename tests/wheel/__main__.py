"""Install a wheel and a source distribution in clean environments and use them: ``python -m tests.wheel FOLDER``.

The source distribution is installed with the first interpreter, with a compiler and without one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SMOKE = Path(__file__).with_name("smoke.py")

# Interpreters that are looked for where none are named.
_NAMES = ("python3.11", "python3.12", "python3.13", "python3.14")

# Requirements that are installed with the package. numpy 1 has no wheels for Python 3.13 and later, and pyarrow 26 is
# the first that cannot be imported with it.
_NUMPY_1, _NUMPY_2 = ("numpy<2", "pyarrow<26"), ("numpy>=2",)
_LAST_OF_NUMPY_1 = (3, 12)


@dataclass(frozen=True, slots=True)
class Case:
    """One clean environment: an interpreter, what is installed in it, and whether there is a compiler."""

    python: str
    package: Path
    others: tuple[str, ...]
    compiles: bool = True

    def run(self) -> str:
        """Return what the smoke test printed; raise ``CalledProcessError`` where a step failed."""
        with tempfile.TemporaryDirectory() as folder:
            _run([self.python, "-m", "venv", folder])
            python = str(Path(folder, "bin", "python"))
            environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
            if not self.compiles:
                environment |= {"CC": "false", "CXX": "false"}
            install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            _run([*install, f"{self.package}[tables]", *self.others], environment)
            return _run([python, str(SMOKE), *([] if self.compiles else ["--plain"])], environment, folder)


def version_of(python: str) -> tuple[int, int]:
    """Return the version of an interpreter."""
    text = _run([python, "-c", "import sys; print(*sys.version_info[:2])"])
    major, minor = map(int, text.split())
    return major, minor


def interpreters(named: Sequence[str]) -> list[str]:
    """Return the interpreters that were named, or those on the path that run."""
    if named:
        return list(named)
    found = []
    for python in filter(None, map(shutil.which, _NAMES)):
        try:
            version_of(python)
        except subprocess.CalledProcessError:  # a shim of a version that is not switched on
            continue
        found.append(python)
    return found


def cases(folder: Path, pythons: Sequence[str]) -> Iterator[Case]:
    """Yield the environments for the one wheel and the one source distribution in a folder."""
    wheel, source = (_one(folder, pattern) for pattern in ("*.whl", "*.tar.gz"))
    for python in pythons:
        if version_of(python) <= _LAST_OF_NUMPY_1:
            yield Case(python, wheel.resolve(), _NUMPY_1)
        yield Case(python, wheel.resolve(), _NUMPY_2)
    yield Case(pythons[0], source.resolve(), _NUMPY_2)
    yield Case(pythons[0], source.resolve(), _NUMPY_2, compiles=False)


def _one(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{str(folder)!r} has {len(found)} files {pattern}, and one is expected; run make wheel")
    return found[0]


def _run(arguments: Sequence[str], environment: dict[str, str] | None = None, folder: str | None = None) -> str:
    done = subprocess.run(arguments, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr)
    done.check_returncode()
    return done.stdout.strip()


def main() -> None:
    """Run all cases; the status is 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.wheel", description=__doc__)
    parser.add_argument("folder", type=Path, help="with one wheel and one source distribution")
    parser.add_argument("pythons", nargs="*", help="interpreters; by default those on the path")
    options = parser.parse_args()
    failed = 0
    for case in cases(options.folder, interpreters(options.pythons)):
        kind = case.package.name + ("" if case.compiles else ", no compiler")
        try:
            print(f"{kind}: {case.run()}", flush=True)
        except subprocess.CalledProcessError as error:
            failed += 1
            print(f"{kind}, {case.python}, {case.others[0]}: failed, {error}", flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
