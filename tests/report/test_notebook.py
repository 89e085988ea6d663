"""A notebook that is executed: results are tables and pictures in it, not text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

_CELLS = (
    """
    import numpy as np, btests
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 100, 2))
    result = btests.btest(x, y + 1.0, seed=1)
    result""",
    """
    a = {"cost": rng.normal(size=100), "<b>paid": ["card", "cash"] * 50, "by": ["u", "v", "w", "u"] * 25}
    b = {"cost": rng.normal(3.0, 1.0, size=100), "<b>paid": ["card"] * 100, "by": ["u", "v", "w", "u"] * 25}
    found = btests.compare(a, b, seed=1)
    found""",
    """
    b["by"] = ["v", "w", "u", "u"] * 25
    btests.compare({name: [*a[name], *b[name]] for name in a}, by="by", seed=1)""",
    """
    %matplotlib inline
    axes = [result.plot(), found.plot(), found["cost"].plot()]""",
)


@pytest.mark.filterwarnings("ignore")  # those of the packages that run notebooks
def test_results_are_tables_and_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    cells = [nbformat.v4.new_code_cell("\n".join(line.strip() for line in own.splitlines()).strip()) for own in _CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    test, tables, groups, pictures = (cell["outputs"] for cell in notebook["cells"])
    assert "<b>B-test: different" in _html(test)
    html = _html(tables)
    assert "a and b differ: " in html
    assert html.count("<svg") == 3
    assert "&lt;b&gt;paid" in html
    html = _html(groups)
    assert "pairs of groups differ" in html
    assert "u and v" in html
    for outputs in (test, tables, groups):
        shown = _html(outputs)
        assert not [tag for tag in ("<pre", "<script", "<style", 'class="chart"') if tag in shown]
        assert len(shown) < 20_000
    assert [output["output_type"] for output in pictures] == ["display_data"] * 3
    assert all("image/png" in output["data"] for output in pictures)


def _html(outputs: list[Any]) -> str:
    """Return the only output of a cell as HTML."""
    (output,) = outputs
    return str(output["data"]["text/html"])
