"""Running a study: jobs to workers, results to the store, and a finished run read back from the store."""

import math
import shlex
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sandlot.errors import RunError, quote
from sandlot.settings import build, flatten
from sandlot.studies import find
from sandlot.studies.base import Claim, Job, Study
from sandlot.studies.store import Row, Store
from sandlot.studies.verdicts import judge
from sandlot.studies.workers import Backend, open_pool, work
from sandlot.version import __version__

RUNS = Path("runs")
"""Where runs are kept unless another directory is given."""


@dataclass(frozen=True)
class Outcome:
    """A finished run.

    Attributes:
        study: With the settings it ran with.
        directory: Where it is kept.
        results: Parameters and outcomes of every job, along ``job``.
        digest: SHA-256 over the results in job order.
        wall_time: Time spent running, over all resumptions [s].
        claims: What the source reports, beside what was measured.
    """

    study: Study
    directory: Path
    results: xr.Dataset = field(repr=False)
    digest: str
    wall_time: float
    claims: list[Claim]

    def summary(self) -> dict[str, Any]:
        """The run as one JSON object."""
        return {
            "study": self.study.name,
            "source": self.study.source,
            "settings": self.study.model_dump(mode="json"),
            "outcomes": list(self.study.outcomes),
            "seed": self.study.seed,
            "run_directory": str(self.directory),
            "jobs": self.results.sizes["job"],
            "wall_time": round(self.wall_time, 3),
            "digest": self.digest,
            "claims": [{"verdict": claim.verdict, **asdict(claim)} for claim in self.claims],
        }


def run(
    study: Study,
    directory: Path | None = None,
    workers: int | None = 1,
    backend: Backend = "processes",
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Outcome:
    """Run a study, or the rest of it; the results do not depend on workers, backend or interruptions.

    Args:
        study: What to run.
        directory: Where to keep it, by default ``runs/STUDY``; a run of the same study and settings there is resumed.
        workers: Jobs at a time; as many as there are processors if None.
        backend: ``processes`` of this machine, or a ``ray`` cluster.
        progress: Called with the number of finished jobs and of all jobs.

    Raises:
        SandlotError: If the settings cannot be run with.
        RunError: If the directory cannot be written or holds another run, or a job fails. Finished jobs are kept.
    """
    study.check()
    jobs = list(study.jobs())
    directory = RUNS / study.name if directory is None else directory
    with Store(directory) as store:
        spent, last = _begin(store, study, directory), time.perf_counter()
        done = {row.job for row in _checked(store.rows(), study, jobs, directory)}
        left = [job for job in jobs if job.index not in done]
        finished = len(done)
        with open_pool(study, len(left), workers, backend) as pool:
            progress(finished, len(jobs))
            for job, results in work(study, left, pool):
                now = time.perf_counter()
                spent, last = spent + now - last, now
                store.keep(job.index, job.parameters, results, spent)
                finished += 1
                progress(finished, len(jobs))
        if "digest" not in store.about():
            store.note(digest=store.digest())
        store.export(directory / "results.csv")
        store.finish()
    return load(directory)


def load(directory: Path) -> Outcome:
    """Read a finished run.

    Raises:
        RunError: If there is none, or it is unfinished or damaged, or another version made it.
    """
    if not _exists(directory / Store.FILE):
        again = f"`sandlot run STUDY --out {quote(directory)}` makes one"
        raise RunError(f"no run in {quote(directory)}; {again}")
    with Store(directory, read_only=True) as store:
        about, rows, digest = store.about(), store.rows(), store.digest()
    study, wall_time = _study(about, directory)
    jobs = list(study.jobs())
    _checked(rows, study, jobs, directory)
    if len(rows) < len(jobs):
        again = f"resume it with: {command(study)} --out {shlex.quote(str(directory))}"
        raise RunError(f"the run in {directory} has finished {len(rows)} of {len(jobs)} jobs; {again}")
    if about.get("digest", digest) != digest:
        raise RunError(f"{directory / Store.FILE} is damaged: its results are not those that were written")
    results = _dataset(study, rows, directory)
    return Outcome(study, directory, results, digest, wall_time, judge(study, study.claims(results)))


def changed(study: Study) -> dict[str, str]:
    """The settings that differ from their defaults."""
    usual = flatten(type(study)().model_dump(mode="json"))
    return {k: v for k, v in flatten(study.model_dump(mode="json")).items() if usual.get(k) != v}


def command(study: Study) -> str:
    """The command that repeats a run."""
    settings = [f"--set {shlex.quote(f'{k}={v}')}" for k, v in changed(study).items()]
    return " ".join(["sandlot run", study.name, *settings])


def progress_of(directory: Path) -> tuple[Study, int, int]:
    """The study of a run, its finished jobs, and all its jobs.

    Raises:
        RunError: If it cannot be read.
    """
    with Store(directory, read_only=True) as store:
        about, rows = store.about(), store.rows()
    study, _ = _study(about, directory)
    jobs = list(study.jobs())
    return study, len(_checked(rows, study, jobs, directory)), len(jobs)


def _exists(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # as for a name that is too long
        return False


def _begin(store: Store, study: Study, directory: Path) -> float:
    """Note what is being run, or make sure that it is the same as before; returns the time spent before [s].

    What was noted once is never replaced: another process may have read it.
    """
    mine: dict[str, Any] = {"study": study.name, "settings": study.model_dump(mode="json")}
    before = store.about()
    if not before and not store.rows():
        store.note(**mine, version=__version__, wall_time=0.0)
        return 0.0
    was, spent = _study(before, directory, known=study)
    other = f"choose another --out, or remove {quote(directory)}"
    if was.name != study.name:
        raise RunError(f"{quote(directory)} holds a run of {was.name}; {other}")
    old, new = flatten(before["settings"]), flatten(mine["settings"])
    for key in old | new:
        if old.get(key) != new.get(key):
            message = f"{quote(directory)} holds a run with {key}={quote(old.get(key))}, not {quote(new.get(key))}"
            raise RunError(f"{message}; {other}")
    if before.get("version") != __version__:
        raise RunError(f"{quote(directory)} holds a run of sandlot {quote(before.get('version'))}; {other}")
    return spent


def _study(about: dict[str, Any], directory: Path, known: Study | None = None) -> tuple[Study, float]:
    """The study that a run's facts describe, and the time spent on it [s]."""
    file = quote(directory / Store.FILE)
    name, settings, spent = (about.get(key) for key in ("study", "settings", "wall_time"))
    if not isinstance(name, str):
        raise RunError(f"{file} was not written by `sandlot run`: it names no study")
    if not isinstance(settings, dict) or not isinstance(spent, int | float) or not math.isfinite(spent):
        raise RunError(f"{file} is damaged: its settings or its time are missing or wrong")
    study = known if known is not None and known.name == name else build(find(name), settings)
    return study, float(spent)


def _checked(rows: list[Row], study: Study, jobs: list[Job], directory: Path) -> list[Row]:
    """Check that each row is a job of the study, with its parameters and all outcomes; returns the rows."""
    by_index = {job.index: job for job in jobs}
    for row in rows:
        job = by_index.get(row.job)
        if job is None or row.parameters != dict(job.parameters):
            what = f"it has a job {row.job} that {study.name} has not with these settings"
            raise RunError(f"{quote(directory / Store.FILE)} is damaged, or of another version: {what}")
        missing = study.outcomes.keys() - row.results.keys()
        if missing:
            what = f"was made by a version without {min(missing)}, or is damaged"
            raise RunError(f"{quote(directory)} {what}; choose another --out")
    return rows


def _dataset(study: Study, rows: list[Row], directory: Path) -> xr.Dataset:
    """Jobs as labelled data."""
    columns = {name: (("job",), [row.parameters[name] for row in rows]) for name in rows[0].parameters}
    results = xr.Dataset(columns)
    for name, quantity in study.outcomes.items():
        values = _column([row.results[name] for row in rows])
        if values is None or values.ndim != 1 + len(quantity.dims):
            raise RunError(f"{quote(directory / Store.FILE)} is damaged: {name} is not what the study returns")
        attributes = {"units": quantity.units, "long_name": quantity.long_name}
        results[name] = xr.Variable(("job", *quantity.dims), values, attributes)
    return results.assign_attrs(study=study.name, source=study.source, seed=study.seed)


def _column(values: list[Any]) -> np.ndarray[Any, np.dtype[Any]] | None:
    """Values of all jobs as one array of numbers or of text; None if they are neither, or of different shapes."""
    try:
        column = np.array(values)
    except (ValueError, OverflowError):
        return None
    if column.dtype.kind == "U":
        return column if all(isinstance(value, str) for value in np.array(values, object).flat) else None
    return column if column.dtype.kind in "biuf" else None
