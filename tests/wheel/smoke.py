"""What an installed btests must do, by the standard library and the package alone: ``python smoke.py [--plain]``.

``--plain`` says that the package was built without a compiler.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

import btests


def main(plain: bool) -> None:
    """Test two samples, a stream and two tables; raise where an answer is not as expected."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 3)), rng.normal(size=(300, 3)) * [1.0, 1.0, 2.0]
    found = btests.btest(x, y, seed=1)
    assert found.rejects(0.01), found
    assert found.engine.startswith("numpy" if plain else "compiled"), found.engine
    assert not btests.btest(x[:150], x[150:], seed=1).rejects(0.001)
    stream = btests.Stream(btests.Gaussian(1.0), block_size=50, seed=1)
    stream.update(x, y)
    assert stream.result().rejects(0.01)
    command = Path(sysconfig.get_path("scripts"), "btests")
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(command), "compare", "--demo", "--json", "--report", "page.html"]
        ran = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        assert ran.returncode == 1, ran.stderr
        document = json.loads(ran.stdout)
        assert document["verdict"]["different"], document["verdict"]
        assert "</html>" in Path(folder, "page.html").read_text(encoding="utf-8")
    print(f"Python {sys.version.split()[0]}, numpy {np.__version__}, {found.engine}")


if __name__ == "__main__":
    main(plain="--plain" in sys.argv[1:])
