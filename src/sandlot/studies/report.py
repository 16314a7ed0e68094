"""One self-contained HTML page from finished runs: figures, claims, settings, and where the data is."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from sandlot.errors import RunError
from sandlot.settings import flatten
from sandlot.studies.base import VERDICTS, in_number
from sandlot.studies.catalogue import in_words
from sandlot.studies.pictures import FIGURE, draw
from sandlot.studies.runner import Outcome, changed, command
from sandlot.version import __version__
from sandlot.writing import drafted

PAGE = "index.html"


def write_report(outcome: Outcome) -> Path:
    """Write the page of one run into its directory; returns its path."""
    study = outcome.study
    return write_page(outcome.directory / PAGE, study.name, study.question(), [outcome])


def write_page(path: Path, title: str, lead: str, outcomes: Sequence[Outcome]) -> Path:
    """Write a page about one or more runs; returns its path. One about several begins with a table of them.

    Raises:
        RunError: If it cannot be written.
    """
    environment = jinja2.Environment(loader=jinja2.PackageLoader("sandlot.studies"), autoescape=True)
    page = environment.get_template("page.html.j2").render(
        title=title,
        lead=lead,
        version=__version__,
        verdicts=VERDICTS,
        in_number=in_number,
        sections=[_section(outcome, path.parent) for outcome in outcomes],
        together=_counts(outcomes),
        time=in_words(sum(each.wall_time for each in outcomes)),
    )
    _write(path, page)
    return path


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many claims of some runs hold, do not hold, and are undecided."""
    found = Counter(claim.verdict for outcome in outcomes for claim in outcome.claims)
    return {verdict: found[verdict] for verdict in VERDICTS}


def _write(path: Path, text: str) -> None:
    with drafted(path, RunError, overwrite=True) as draft:
        draft.write_text(text, encoding="utf-8")


def _section(outcome: Outcome, base: Path) -> dict[str, Any]:
    study, run = outcome.study, outcome.directory
    figure, *scenes = draw(outcome)
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
        "wall_time": in_words(outcome.wall_time),
        "figure": figure,
        "scenes": scenes,
        "claims": outcome.claims,
        "counts": _counts([outcome]),
        "comparisons": study.comparisons(outcome.results),
        "settings": flatten(study.model_dump(mode="json")).items(),
        "files": [os.path.relpath(run / name, base) for name in ("results.csv", "results.sqlite", FIGURE, *kept)],
        "digest": outcome.digest,
        "command": command(study),
        "changed": changed(study),
    }
