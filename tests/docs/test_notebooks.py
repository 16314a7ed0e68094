"""Notebooks of the docs: plain, and they run."""

import json
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = runpy.run_path(str(DOCS / "notebooks.py"))


@pytest.mark.parametrize("name", NOTEBOOKS["NAMES"].values())
def test_notebooks_are_kept_without_results(name):
    document = json.loads((DOCS / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    for cell in document["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"] == [] and cell["execution_count"] is None)


@pytest.mark.parametrize("name", NOTEBOOKS["NAMES"].values())
def test_notebooks_run_and_give_a_page_with_figures(name):
    figures = {}
    text = NOTEBOOKS["page"](name, figures.__setitem__)
    assert text.startswith("# ")
    assert figures
    assert all(f"]({each})" in text and data.startswith(b"\x89PNG") for each, data in figures.items())


def test_no_notebook_is_forgotten():
    assert {path.stem for path in (DOCS / "notebooks").glob("*.ipynb")} == set(NOTEBOOKS["NAMES"].values())
