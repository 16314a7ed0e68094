"""Results that the docs show: the summary and the figure of a full-size run, and whether they are still up to date."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from sandlot.errors import RunError, SandlotError
from sandlot.settings import build
from sandlot.studies.base import Claim, Study
from sandlot.studies.pictures import FIGURE
from sandlot.studies.report import write_report
from sandlot.studies.runner import Outcome


def publish(outcome: Outcome, folder: Path) -> None:
    """Write the summary and the figure of a run to ``<study>.json`` and ``<study>.png``; the run gets its report."""
    write_report(outcome)
    name = outcome.study.name
    summary, figure = {**outcome.summary(), "run_directory": f"runs/{name}"}, folder / f"{name}.png"
    shutil.copyfile(outcome.directory / FIGURE, figure)
    summary["checksum"] = checksum(summary, figure)
    (folder / f"{name}.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")


def checksum(summary: Mapping[str, Any], figure: Path) -> str:
    """SHA-256 over a summary and its figure, by which later edits are found."""
    sha = hashlib.sha256(json.dumps(summary, sort_keys=True).encode())
    sha.update(figure.read_bytes())
    return sha.hexdigest()


def published(study: type[Study], folder: Path) -> Outcome | None:
    """The published run of a study, without the results of its jobs; None if it was never published.

    Raises:
        RunError: If it was made with other settings than the present defaults, or other jobs or outcomes, or if it or
            its figure was edited since. Paths may differ: where a log lies depends on the machine.
    """
    file = folder / f"{study.name}.json"
    if not file.exists():
        return None
    summary = json.loads(file.read_text(encoding="utf-8"))
    sealed = summary.pop("checksum", None)
    again = f'it is out of date; run: make docs-results STUDIES="{study.name}"'
    try:
        made_with = build(study, summary["settings"])
    except SandlotError as error:
        raise RunError(f"{file}: {error}; {again}") from None
    paths = {name: summary["settings"][name] for name in study.model_fields if _paths(getattr(made_with, name))}
    now = {
        "settings": study().model_dump(mode="json") | paths,
        "jobs": sum(1 for _ in made_with.jobs()),
        "outcomes": list(study.outcomes),
        "source": study.source,
    }
    for key, value in now.items():
        if summary[key] != value:
            raise RunError(f"{file}: its {key} are not those of {study.name}; {again}")
    figure = file.with_suffix(".png")
    if not figure.exists() or sealed != checksum(summary, figure):
        raise RunError(f"{file}: it or its figure was edited after the run; {again}")
    jobs = xr.Dataset(coords={"job": range(summary["jobs"])})
    claims = [Claim(**{k: v for k, v in claim.items() if k != "verdict"}) for claim in summary["claims"]]
    return Outcome(made_with, folder, jobs, summary["digest"], summary["wall_time"], claims)


def _paths(value: object) -> bool:
    """Whether a setting is a path, or several."""
    return isinstance(value, Path) or (isinstance(value, tuple) and all(isinstance(each, Path) for each in value))
