"""Results that the docs show: the summary and the figure of a full-size run, and whether they are still up to date."""

import json
import shutil
from pathlib import Path

import xarray as xr

from sandlot.errors import RunError, SandlotError
from sandlot.settings import build
from sandlot.studies.base import Claim, Study
from sandlot.studies.report import FIGURE, write_report
from sandlot.studies.runner import Outcome


def publish(outcome: Outcome, folder: Path) -> None:
    """Write the summary and the figure of a run to ``<study>.json`` and ``<study>.png``; the run gets its report."""
    write_report(outcome)
    name = outcome.study.name
    summary = {**outcome.summary(), "run_directory": f"runs/{name}"}
    shutil.copyfile(outcome.directory / FIGURE, folder / f"{name}.png")
    (folder / f"{name}.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")


def published(study: type[Study], folder: Path) -> Outcome | None:
    """The published run of a study, without the results of its jobs; None if it was never published.

    Raises:
        RunError: If it was made with other settings than the present defaults, or other jobs or outcomes. Paths may
            differ: where a log lies depends on the machine.
    """
    file = folder / f"{study.name}.json"
    if not file.exists():
        return None
    summary = json.loads(file.read_text(encoding="utf-8"))
    again = f'it is out of date; run: make docs-results STUDIES="{study.name}"'
    try:
        made_with = build(study, summary["settings"])
    except SandlotError as error:
        raise RunError(f"{file}: {error}; {again}") from None
    paths = {
        name: summary["settings"][name] for name in study.model_fields if isinstance(getattr(made_with, name), Path)
    }
    now = {
        "settings": study().model_dump(mode="json") | paths,
        "jobs": sum(1 for _ in made_with.jobs()),
        "outcomes": list(study.outcomes),
        "source": study.source,
    }
    for key, value in now.items():
        if summary[key] != value:
            raise RunError(f"{file}: its {key} are not those of {study.name}; {again}")
    jobs = xr.Dataset(coords={"job": range(summary["jobs"])})
    claims = [Claim(**claim) for claim in summary["claims"]]
    return Outcome(made_with, folder, jobs, summary["digest"], summary["wall_time"], claims)
