"""examples/python/look.ipynb runs, and shows what its text says."""

import pathlib

import pytest

pytest.importorskip("jax", reason="skip: no JAX")
nbclient = pytest.importorskip("nbclient", reason="skip: no nbclient")
nbformat = pytest.importorskip("nbformat", reason="skip: no nbformat")
pytest.importorskip("ipykernel", reason="skip: no ipykernel")
pytest.importorskip("matplotlib", reason="skip: no matplotlib")


def test_notebook():
    path = pathlib.Path(__file__).parents[2] / "examples" / "python" / "look.ipynb"
    notebook = nbformat.read(path, 4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    text = "".join(o.get("text", "") for o in outputs)
    assert text.count("reduce at ") == 3 and "log of stablehlo.log at " in text, text
    assert any("image/png" in o.get("data", {}) for o in outputs), "no curve"
    tables = [o["data"]["text/html"] for o in outputs if "text/html" in o.get("data", {})]
    assert len(tables) == 1 and tables[0].count("<tr>") == 1 + 3, tables
