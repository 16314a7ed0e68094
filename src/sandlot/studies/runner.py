"""Running a study: jobs to workers, results to the store, and everything again from the store."""

import functools
import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import joblib
import numpy as np
import xarray as xr

import sandlot
from sandlot.errors import SandlotError
from sandlot.settings import build, flatten
from sandlot.studies import all_studies, find
from sandlot.studies.base import Claim, Job, Study
from sandlot.studies.store import Store

Backend = Literal["processes", "ray"]
BLOCK = 8
"""Jobs for each worker between two moments at which a Ray cluster's results are kept."""


@dataclass(frozen=True)
class Outcome:
    """A finished run.

    Attributes:
        study: With the settings it ran with.
        directory: Where it is kept.
        results: Parameters and outcomes of every job, along ``job``.
        digest: SHA-256 over the results in job order.
        wall_time: Time spent running, over all resumptions [s].
        claims: The source's, beside what was measured.
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
            "seed": self.study.seed,
            "run_directory": str(self.directory),
            "jobs": self.results.sizes["job"],
            "wall_time": round(self.wall_time, 3),
            "digest": self.digest,
            "claims": [asdict(claim) for claim in self.claims],
        }


def run(
    study: Study,
    directory: Path,
    workers: int = 1,
    backend: Backend = "processes",
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Outcome:
    """Run a study, or what is left of it; the results do not depend on workers, backend or interruptions.

    Args:
        study: What to run.
        directory: Where to keep it; a run of the same study and settings there is resumed.
        workers: How many jobs at a time.
        backend: ``processes`` of this machine, or a ``ray`` cluster.
        progress: Called with the number of finished jobs and of all jobs.

    Raises:
        SandlotError: If the settings cannot be run with, the directory holds another run, or a job fails. Finished
            jobs are kept.
    """
    study.check()
    jobs = list(study.jobs())
    with Store(directory) as store:
        _begin(store, study, directory)
        done = store.done()
        left = [job for job in jobs if job.index not in done]
        spent, last = float(store.about().get("wall_time", 0.0)), time.perf_counter()
        finished = len(jobs) - len(left)
        progress(finished, len(jobs))
        for job, results in _work(study, left, workers, backend):
            store.keep(job.index, job.parameters, results)
            finished += 1
            now = time.perf_counter()
            spent, last = spent + now - last, now
            store.note(wall_time=spent)
            progress(finished, len(jobs))
        store.export(directory / "results.csv")
    return load(directory)


def load(directory: Path) -> Outcome:
    """Read a finished run.

    Raises:
        SandlotError: If there is none, or it is not finished, or another version made it.
    """
    if not (directory / Store.FILE).is_file():
        raise SandlotError(f"no run in {directory}; `sandlot run STUDY --out {directory}` makes one")
    with Store(directory, read_only=True) as store:
        about = store.about()
        if "study" not in about:
            raise SandlotError(f"{directory / Store.FILE} was not written by `sandlot run`")
        study = build(find(about["study"]), about["settings"])
        total, rows = len(list(study.jobs())), store.rows()
        if len(rows) < total:
            again = f"`sandlot run {study.name} --out {directory}` with the same settings resumes it"
            raise SandlotError(f"the run in {directory} has finished {len(rows)} of {total} jobs; {again}")
        missing = study.outcomes.keys() - rows[0].keys()
        if missing:
            raise SandlotError(f"{directory} was made by a version without {min(missing)}; choose another --out")
        results = _dataset(study, rows)
        digest, wall_time = store.digest(), float(about["wall_time"])
    return Outcome(study, directory, results, digest, wall_time, study.claims(results))


def _begin(store: Store, study: Study, directory: Path) -> None:
    """Note what is being run, or make sure that it is the same as before."""
    mine: dict[str, Any] = {"study": study.name, "settings": study.model_dump(mode="json")}
    before = store.about()
    if not before or not store.done():
        store.note(**mine, version=sandlot.__version__, wall_time=0.0)
        return
    if before.get("study") != study.name:
        raise SandlotError(f"{directory} holds a run of {before.get('study')}; choose another --out")
    was = flatten(before["settings"])
    for key, value in flatten(mine["settings"]).items():
        if was.get(key) != value:
            raise SandlotError(f"{directory} holds a run with {key}={was.get(key)}, not {value}; choose another --out")
    if before["version"] != sandlot.__version__:
        raise SandlotError(f"{directory} holds a run of sandlot {before['version']}; choose another --out")


def _work(study: Study, jobs: list[Job], workers: int, backend: Backend) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Give jobs to workers; yields them as they finish, in any order."""
    if not jobs:
        return
    by_index = {job.index: job for job in jobs}
    stream = (_on_ray if backend == "ray" else _on_processes)(study, jobs, workers)
    try:
        for index, results, failure in stream:
            if failure:
                what = ", ".join(f"{key}={value}" for key, value in by_index[index].parameters.items())
                raise SandlotError(f"job {index} of {study.name} ({what}) failed: {failure}")
            yield by_index[index], results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns of jobs that are given up; the error says why
            stream.close()


Done = tuple[int, dict[str, Any], str]
"""Index, results, and if it failed, why."""


def _do(study: Study, job: Job, parent: int) -> Done:
    """One job, in a worker. A failure is returned: raised, each backend would wrap it in its own way."""
    _leave_with(parent)
    try:
        results = study.run(job)
        return job.index, {name: np.asarray(results[name]).tolist() for name in study.outcomes}, ""
    except SandlotError as error:
        return job.index, {}, str(error)
    except Exception as error:
        return job.index, {}, repr(error)


NOBODY = 0
"""For a worker that belongs to a cluster rather than to this process."""


@functools.cache
def _leave_with(parent: int) -> None:
    """Make sure that a worker ends with the process that gave it work, even if that is killed, and not by Ctrl-C."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    if parent not in (NOBODY, os.getpid()):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=watch, daemon=True).start()


def _on_processes(study: Study, jobs: list[Job], workers: int) -> Generator[Done]:
    parallel = joblib.Parallel(min(workers, len(jobs)), return_as="generator_unordered")
    yield from parallel(joblib.delayed(_do)(study, job, os.getpid()) for job in jobs)


def _on_ray(study: Study, jobs: list[Job], workers: int) -> Generator[Done]:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        raise SandlotError("--backend ray needs Ray; install it with: pip install ray") from None
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if "RAY_ADDRESS" not in os.environ:
        # A cluster of this machine alone, which listens to nobody else.
        quiet |= {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    ray.init(**quiet)
    register_ray()
    try:
        # Ray's backend only returns when all is done, so jobs go there in blocks, each kept when it has finished.
        with joblib.parallel_config("ray", n_jobs=workers), joblib.Parallel() as parallel:
            for start in range(0, len(jobs), BLOCK * workers):
                block = jobs[start : start + BLOCK * workers]
                yield from parallel(joblib.delayed(_do)(study, job, NOBODY) for job in block)
    finally:
        ray.shutdown()


def _dataset(study: Study, rows: list[dict[str, Any]]) -> xr.Dataset:
    """Jobs as labelled data."""
    dims = {name: quantity.dims for name, quantity in study.outcomes.items()}
    results = xr.Dataset({name: (("job", *dims.get(name, ())), [row[name] for row in rows]) for name in rows[0]})
    for name, quantity in study.outcomes.items():
        results[name].attrs = {"units": quantity.units, "long_name": quantity.long_name}
    return results.assign_attrs(study=study.name, source=study.source, seed=study.seed)


@dataclass(frozen=True)
class State:
    """How far the last run of a study has come.

    Attributes:
        state: ``never run``, ``unfinished`` or ``finished``.
        run_directory: Where it is, if anywhere.
        done: Finished jobs.
        jobs: All jobs.
        holding: Claims that hold, if finished.
        claims: All claims, if finished.
        usual: Whether it was run with the study's own settings.
    """

    state: str = "never run"
    run_directory: str | None = None
    done: int = 0
    jobs: int = 0
    holding: int = 0
    claims: int = 0
    usual: bool = True


def _changed(file: Path) -> float:
    """When a run was last written to; while it goes on, that is its log."""
    log = file.with_name(f"{file.name}-wal")
    return max(path.stat().st_mtime for path in (file, log) if path.exists())


def last_runs(root: Path) -> dict[str, State]:
    """The state of the newest run of each study in or below ``root``."""
    states: dict[str, State] = {}
    for file in sorted(root.rglob(Store.FILE), key=_changed):
        try:
            with Store(file.parent, read_only=True) as store:
                about, done = store.about(), len(store.done())
            if about.get("study") not in all_studies():
                continue
            study = build(find(about["study"]), about["settings"])
            jobs = len(list(study.jobs()))
            claims = load(file.parent).claims if done >= jobs else []
        except SandlotError:
            continue  # Not a run, or made by a version with other settings.
        state = "finished" if done >= jobs else "unfinished"
        holding = sum(claim.holds for claim in claims)
        usual = not study.model_dump(exclude_defaults=True)
        states[study.name] = State(state, str(file.parent), done, jobs, holding, len(claims), usual)
    return states
