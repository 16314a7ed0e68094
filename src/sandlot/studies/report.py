"""One self-contained HTML page from finished runs: figures, claims, settings, and where the data is."""

import base64
import inspect
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
from matplotlib.figure import Figure

import sandlot
from sandlot.errors import RunError
from sandlot.settings import flatten
from sandlot.studies.base import Picture
from sandlot.studies.plots import save_figure
from sandlot.studies.runner import Outcome, changed, command
from sandlot.writing import drafted

PAGE, FIGURE = "index.html", "figure.png"


def write_report(outcome: Outcome) -> Path:
    """Write the page of one run into its directory; returns its path."""
    study = outcome.study
    return write_page(outcome.directory / PAGE, study.name, study.question(), [outcome])


def write_page(path: Path, title: str, lead: str, outcomes: Sequence[Outcome]) -> Path:
    """Write a page about one or more runs; returns its path.

    Raises:
        RunError: If it cannot be written.
    """
    environment = jinja2.Environment(loader=jinja2.PackageLoader("sandlot.studies"), autoescape=True)
    page = environment.get_template("page.html.j2").render(
        title=title,
        lead=lead,
        version=sandlot.__version__,
        sections=[_section(outcome, path.parent) for outcome in outcomes],
    )
    _write(path, page)
    return path


def _write(path: Path, text: str) -> None:
    with drafted(path, RunError, overwrite=True) as draft:
        draft.write_text(text, encoding="utf-8")


def _section(outcome: Outcome, base: Path) -> dict[str, Any]:
    study, run = outcome.study, outcome.directory
    figure = study.figure(outcome.results)
    save_figure(figure, run / FIGURE, error=RunError)
    kept = study.files(outcome.results)
    for name, text in kept.items():
        _write(run / name, text)
    return {
        "name": study.name,
        "page": os.path.relpath(run / PAGE, base),
        "question": study.question(),
        "about": study.about(),
        "source": study.source,
        "jobs": outcome.results.sizes["job"],
        "wall_time": f"{outcome.wall_time:.1f}",
        "figure": _inline(Picture(inspect.getdoc(study.figure) or "", figure)),
        "scenes": [_inline(picture) for picture in study.scenes(outcome.results)],
        "claims": outcome.claims,
        "comparisons": study.comparisons(outcome.results),
        "settings": flatten(study.model_dump(mode="json")).items(),
        "files": [os.path.relpath(run / name, base) for name in ("results.csv", "results.sqlite", FIGURE, *kept)],
        "digest": outcome.digest,
        "command": command(study),
        "changed": changed(study),
    }


def _inline(picture: Picture) -> dict[str, str]:
    return {"caption": picture.caption, "png": _png(picture.figure)}


def _png(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return base64.b64encode(buffer.getvalue()).decode()
