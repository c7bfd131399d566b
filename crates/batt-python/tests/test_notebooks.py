"""The notebooks run from top to bottom, and are kept without outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")

FOLDER = Path(__file__).parents[3] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

# Libraries of the notebook kernel, not of this package, warn here.
pytestmark = pytest.mark.filterwarnings("default")


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs"), "clear the outputs before you commit a notebook"
    # A failing cell raises an error that shows it.
    nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": FOLDER}}
    ).execute()
    kinds = {
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        for kind in output.get("data", ())
    }
    assert "image/svg+xml" in kinds
    assert not any(
        output.output_type == "error"
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    )
