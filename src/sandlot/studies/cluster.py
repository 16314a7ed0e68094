"""The workers of a Ray cluster: each job is a Ray task, so a node can be lost in the middle of a run."""

import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import joblib

from sandlot.errors import RunError, quote
from sandlot.extras import need
from sandlot.studies.base import Job, Study
from sandlot.studies.workers import Done, Pool, do

ADDRESS = "RAY_ADDRESS"
QUIET: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
PATIENCE = 4.0
"""How long to wait for a cluster to answer [s]."""
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""How an HTTP/2 connection begins, which Ray's gRPC uses: a fixed text, and a frame of settings without any."""


class Cluster(Pool):
    """The cluster at the address in ``RAY_ADDRESS``, or one of this machine alone if that is not set.

    Raises:
        MissingExtraError: If Ray is not installed.
        RunError: If no cluster answers there.
    """

    shared = False

    def __init__(self, study: Study, workers: int | None) -> None:
        self._address = os.environ.get(ADDRESS)
        if self._address:
            _check_address(self._address)  # before Ray is loaded, which takes seconds
        self._ray = need("ray", "cluster")
        self._study, self._workers = study, workers
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Connect, and send the study to the cluster once."""
        with self._stack as stack:
            stack.enter_context(_redirected(1, 2))  # on standard output, programs expect JSON
            if self._address:
                _connect(self._ray, self._address)
            else:
                _start(self._ray, self._workers or joblib.cpu_count())
            stack.callback(self._ray.shutdown)
            self.size = self._workers or max(int(self._ray.cluster_resources().get("CPU", 1)), 1)
            # Lost jobs are submitted again by the caller, who counts them; Ray's own retries would hide them.
            self._do = self._ray.remote(do).options(max_retries=0, num_cpus=1)
            self._shared_study = self._ray.put(self._study)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Leave the cluster; tasks that run there are cancelled."""
        self._stack.close()

    def submit(self, job: Job) -> Any:
        """Start a job."""
        return self._do.remote(self._shared_study, job)

    def collect(self, handles: Iterable[Any]) -> Iterator[tuple[Any, Done | None]]:
        """Wait for one job; a lost node, a killed worker or a lost result gives None."""
        problems = self._ray.exceptions
        lost = problems.WorkerCrashedError, problems.NodeDiedError, problems.OutOfMemoryError, problems.ObjectLostError
        finished, _ = self._ray.wait(list(handles), num_returns=1)
        for handle in finished:
            try:
                yield handle, self._ray.get(handle)
            except lost:
                yield handle, None
            except problems.RayError as error:
                yield handle, Done({}, str(error).strip().rpartition("\n")[2])


def _start(ray: Any, cpus: int) -> None:
    """Start a cluster of this machine alone, which listens to nobody else."""
    handler = signal.getsignal(signal.SIGTERM)  # Ray would replace it
    try:
        ray.init("local", num_cpus=cpus, include_dashboard=False, _node_ip_address="127.0.0.1", **QUIET)
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def _check_address(address: str) -> None:
    """Check that something which may be a Ray cluster listens at an address.

    Raises:
        RunError: If the address is malformed, nothing answers there, or something that does not use HTTP/2.
    """
    if address in ("auto", "local"):
        return
    match = re.fullmatch(r"(?:ray://)?(\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):(\d{1,5})", address)
    if match is None or not 0 < int(match[2]) < 2**16:
        raise RunError(f"{ADDRESS}={quote(address)} is not an address; write host:port or ray://host:port")
    reason = _within(PATIENCE / 2, lambda: _greet(match[1].strip("[]"), int(match[2])))
    if reason:
        raise RunError(f"no Ray cluster at {ADDRESS}={quote(address)}: {reason}")


def _greet(host: str, port: int) -> None:
    """Raise ``OSError`` unless something that uses HTTP/2, as Ray does, answers there."""
    with socket.create_connection((host, port), PATIENCE) as connection:
        if os.environ.get("RAY_USE_TLS", "0") == "0":
            connection.sendall(HELLO)
            answer = connection.makefile("rb").read(9)
            if len(answer) < 9 or answer[3] != 4:  # the first frame of a server holds its settings too
                raise OSError("something else listens there")


def _connect(ray: Any, address: str) -> None:
    """Connect to a cluster within `PATIENCE`, by a thread of its own: Ray itself would try for a minute.

    Raises:
        RunError: If no cluster answers there.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "error")  # else its core warns later, below our message
    with Path(os.devnull).open("wb") as nowhere, _redirected(2, nowhere.fileno()):
        reason = _within(PATIENCE, lambda: ray.init(**QUIET))
    if reason:
        raise RunError(f"no Ray cluster at {ADDRESS}={quote(address)}: {reason}")


def _within(seconds: float, work: Callable[[], Any]) -> str:
    """Call a function by a thread of its own; why it failed, or did not return in time, or an empty text."""
    failure: list[BaseException] = []

    def call() -> None:
        try:
            work()
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    if not failure and not thread.is_alive():
        return ""
    return quote(getattr(failure[0], "strerror", None) or failure[0]) if failure else f"no answer within {seconds:g} s"


@contextmanager
def _redirected(descriptor: int, target: int) -> Iterator[None]:
    """Send all output to a file descriptor to another one, also that of Ray's C++ core."""
    sys.stdout.flush()
    kept = os.dup(descriptor)
    os.dup2(target, descriptor)
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)
