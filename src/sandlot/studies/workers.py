"""Doing the jobs of a study: in this process, in processes of this machine, or on a Ray cluster.

A worker that is killed, as when memory runs out, loses its job; the job is tried again a few times.
"""

import functools
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from typing import Any, Literal, Self

import joblib
import numpy as np
from joblib.externals import loky

from sandlot.errors import RunError, SandlotError
from sandlot.studies.base import Job, Study

Backend = Literal["processes", "ray"]
TRIES = 3
"""A job is given up after this many workers died while running it."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Environment variables that limit the threads of a worker, so that all workers together use each core once."""


@dataclass(frozen=True, eq=False)
class Done:
    """What a worker returns: results, or why the job failed."""

    results: dict[str, Any]
    failure: str


class Pool(ABC):
    """Workers that take one job each.

    Attributes:
        size: Jobs at a time.
        shared: Whether one killed worker ends the jobs of all others too.
    """

    size: int
    shared: bool

    @abstractmethod
    def submit(self, job: Job) -> Any:
        """Start a job; returns a handle."""

    @abstractmethod
    def collect(self, handles: Iterable[Any]) -> Iterator[tuple[Any, Done | None]]:
        """Wait for at least one job; yields the handles of those that ended, with None if its worker was lost."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Give up jobs that still run, and let the workers go."""


def open_pool(study: Study, jobs: int, workers: int | None, backend: Backend) -> Pool:
    """Workers for a study.

    Args:
        study: Whose jobs these are.
        jobs: How many there are.
        workers: Jobs at a time; as many as there are processors if None.
        backend: ``processes`` of this machine, or a ``ray`` cluster. One worker of this machine is this process.
    """
    if backend == "ray" and jobs:
        from sandlot.studies.cluster import Cluster

        return Cluster(study, workers)
    size = min(workers or joblib.cpu_count(), jobs)
    return Processes(study, size) if size > 1 else ThisProcess(study)


def work(study: Study, jobs: list[Job], pool: Pool) -> Iterator[tuple[Job, Mapping[str, Any]]]:
    """Do jobs; yields each with its results as it finishes, in any order.

    Raises:
        RunError: If a job fails, or its workers are killed again and again.
    """
    queue, running = deque(jobs), dict[Any, Job]()
    lost: Counter[int] = Counter()
    while queue or running:
        while queue and len(running) < pool.size:
            # After a crash it is unknown which job caused it. Each suspect runs alone, with all the memory to itself.
            suspect = pool.shared and any(lost[job.index] for job in (queue[0], *running.values()))
            if suspect and running:
                break
            job = queue.popleft()
            running[pool.submit(job)] = job
        for handle, done in pool.collect(list(running)):
            job = running.pop(handle)
            if done is None:
                lost[job.index] += 1
                if lost[job.index] == TRIES:
                    why = f"lost its worker {TRIES} times, as when memory runs out; finished jobs are kept"
                    raise RunError(f"{named(study, job)} {why}; fewer --workers need less memory")
                queue.appendleft(job)
            elif done.failure:
                raise RunError(f"{named(study, job)} failed: {done.failure}")
            else:
                yield job, done.results


def named(study: Study, job: Job) -> str:
    """A job in a message: its index, study and parameters."""
    parameters = ", ".join(f"{key}={value}" for key, value in job.parameters.items())
    return f"job {job.index} of {study.name} ({parameters})"


def do(study: Study, job: Job) -> Done:
    """Do one job. A failure is returned: if it were raised, each backend would wrap it in its own way."""
    try:
        results = study.run(job)
        return Done({name: np.asarray(results[name]).tolist() for name in study.outcomes}, "")
    except SandlotError as error:
        return Done({}, str(error))
    except Exception as error:
        return Done({}, repr(error))


def _do_with_parent(study: Study, job: Job, parent: int) -> Done:
    _end_with(parent)
    return do(study, job)


@functools.cache
def _end_with(parent: int) -> None:
    """Make this worker end with its parent even if that is killed, and leave Ctrl-C to the parent."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


class ThisProcess(Pool):
    """No worker but this process: it does each job when it is submitted."""

    size = 1
    shared = False

    def __init__(self, study: Study) -> None:
        self._study = study

    def submit(self, job: Job) -> Done:
        """Do a job."""
        return do(self._study, job)

    def collect(self, handles: Iterable[Done]) -> Iterator[tuple[Done, Done | None]]:
        """What has been done."""
        return ((done, done) for done in handles)

    def __exit__(self, *_: object) -> None:
        return


class Processes(Pool):
    """Processes of this machine, by joblib's loky; they stay for the next study."""

    shared = True

    def __init__(self, study: Study, size: int) -> None:
        self.size, self._study = size, study
        threads = str(max(joblib.cpu_count() // size, 1))
        self._environment = {name: os.environ.get(name, threads) for name in THREADS}
        self._start()

    def _start(self) -> None:
        self._executor = loky.get_reusable_executor(self.size, timeout=300, env=self._environment)

    def submit(self, job: Job) -> "Future[Done]":
        """Start a job."""
        try:
            return self._executor.submit(_do_with_parent, self._study, job, os.getpid())
        except BrokenExecutor:
            self._start()
            return self._executor.submit(_do_with_parent, self._study, job, os.getpid())

    def collect(self, handles: Iterable["Future[Done]"]) -> Iterator[tuple["Future[Done]", Done | None]]:
        """Wait for at least one job; a killed worker ends all of them."""
        finished, _ = wait(handles, return_when=FIRST_COMPLETED)
        for future in finished:
            try:
                yield future, future.result()
            except BrokenExecutor:
                yield future, None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stop the workers if something went wrong; jobs that run are given up."""
        if kind is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
