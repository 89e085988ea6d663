"""Numbers of other packages, from a process of their own: their compilers do not live beside all that tests import."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

_SCRIPT = """
import json, sys
import numpy as np
globals().update(np.load(sys.argv[1]))
{code}
print(json.dumps(out))
"""


def computed(code: str, **arrays: Any) -> Any:
    """Return the value of ``out`` after code that sees these arrays, in another process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arrays.npz")
        np.savez(path, **arrays)
        command = [sys.executable, "-W", "ignore", "-c", _SCRIPT.format(code=code), str(path)]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout.splitlines()[-1])
