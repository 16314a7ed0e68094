"""Runs the notebooks of ``docs/notebooks`` and writes them as pages: text, code, what it prints, and its figures.

Each is a plain ``.ipynb`` file without results, which Jupyter opens as well. The cells run here, in order, in one
process, so that a build of the docs fails if one of them does.
"""

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

FOLDER = Path(__file__).parent / "notebooks"
NAMES = {"Soil": "soil", "Mapping": "mapping", "Learning": "learning"}


def cells(name: str) -> list[tuple[str, str]]:
    """Kind (``markdown`` or ``code``) and text of every cell of a notebook."""
    document = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return [(each["cell_type"], "".join(each["source"])) for each in document["cells"]]


def page(name: str, keep: Callable[[str, bytes], None]) -> str:
    """Run a notebook; returns its page in Markdown.

    Args:
        name: Of the file, without its suffix.
        keep: Called with the name and the bytes (PNG) of each figure.
    """
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    space: dict[str, Any] = {"__name__": "__main__"}
    parts, figures, home = [], 0, Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # what a notebook writes is not kept
        try:
            for kind, text in cells(name):
                if kind == "markdown":
                    parts.append(text)
                    continue
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    exec(compile(text, f"{name}.ipynb", "exec"), space)
                parts.append(f"```python\n{text}\n```")
                if said.getvalue().strip():
                    parts.append(f"```text\n{said.getvalue().strip()}\n```")
                for number in plt.get_fignums():
                    figures += 1
                    file = io.BytesIO()
                    plt.figure(number).savefig(file, format="png", dpi=90, bbox_inches="tight")
                    keep(f"{name}-{figures}.png", file.getvalue())
                    parts.append(f"![Figure {figures}]({name}-{figures}.png)")
                plt.close("all")
        finally:
            os.chdir(home)
    title, *others = parts
    where = f"Open it in Jupyter: `docs/notebooks/{name}.ipynb`. The results below are of the build of this page."
    return "\n\n".join([title, where, *others])
