"""A killed worker or a lost node loses its jobs, and they are tried again: on processes and on a Ray cluster."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from joblib.externals import loky

from sandlot.errors import RunError
from sandlot.studies.base import STUDIES
from sandlot.studies.runner import run
from sandlot.studies.store import Store
from toy_study import Toy

TESTS = Path(__file__).parents[1]
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setitem(STUDIES, "toy", Toy)
    (tmp_path / "place").mkdir()
    yield tmp_path / "place"
    loky.get_reusable_executor().shutdown(wait=True)


def stored(directory: Path) -> set[int]:
    with Store(directory, read_only=True) as store:
        return {row.job for row in store.rows()}


def test_a_job_whose_worker_was_killed_is_tried_again(place, tmp_path):
    quiet = run(Toy(place=str(place)), tmp_path / "quiet")
    (place / "kill-2").write_text("1")
    assert run(Toy(place=str(place)), tmp_path / "run", workers=2).digest == quiet.digest
    assert (place / "kill-2").read_text() == "0"


def test_a_job_that_kills_every_worker_is_named_and_finished_jobs_are_kept(place, tmp_path):
    (place / "kill-4").write_text("9")
    with pytest.raises(RunError) as caught:
        run(Toy(place=str(place)), tmp_path / "run", workers=2)
    assert str(caught.value) == (
        "job 4 of toy (a=2, b=10) lost its worker 3 times, as when memory runs out; finished jobs are kept; fewer "
        "--workers need less memory"
    )
    assert (place / "kill-4").read_text() == "6"
    finished = stored(tmp_path / "run")
    assert finished
    (place / "kill-4").unlink()
    (place / "log").unlink()
    outcome = run(Toy(place=str(place)), tmp_path / "run")
    assert {int(line) for line in (place / "log").read_text().split()} == set(range(6)) - finished
    assert outcome.digest == run(Toy(place=str(place)), tmp_path / "quiet").digest


CLUSTER = """
import os, sys, threading, time
from pathlib import Path
from ray.cluster_utils import Cluster
place, out, victim = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
second = cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
os.environ["RAY_ADDRESS"] = cluster.address
from sandlot.studies.base import STUDIES
from sandlot.studies.runner import run
from toy_study import Toy
STUDIES["toy"] = Toy
done = []
pid = str(second.all_processes["raylet"][0].process.pid)
def kill_node():
    while len(done) < 3 or pid not in [each.read_text() for each in place.glob("running-*") if each.exists()]:
        time.sleep(0.02)
    cluster.remove_node(second, allow_graceful=False)
    print("killed in the middle of a job, after", done[-1], "jobs", file=sys.stderr)
if victim == "node":
    thread = threading.Thread(target=kill_node)
    thread.start()
outcome = run(Toy(place=str(place), size=6, seconds=1.0), out, None, "ray", lambda n, total: done.append(n))
if victim == "node":
    thread.join()
print(outcome.digest)
cluster.shutdown()
"""


def on_cluster(place: Path, out: Path, victim: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(TESTS), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", CLUSTER, str(place), str(out), victim],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.slow
@needs_ray
def test_a_lost_node_loses_nothing(place, tmp_path):
    quiet = run(Toy(place=str(place), size=6, seconds=0.0), tmp_path / "quiet")
    (place / "log").unlink()
    done = on_cluster(place, tmp_path / "run", "node")
    assert done.returncode == 0, done.stderr
    assert "killed in the middle of a job" in done.stderr
    with Store(tmp_path / "run", read_only=True) as store:
        assert {row.job for row in store.rows()} == set(range(12))
    with Store(tmp_path / "quiet", read_only=True) as store:
        assert done.stdout.splitlines()[-1] == store.digest() == quiet.digest
    ran = [int(line) for line in (place / "log").read_text().split()]
    assert len(ran) > 12, "the job of the lost node ran again"


@needs_ray
@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_is_replaced(place, tmp_path):
    quiet = run(Toy(place=str(place), size=6, seconds=0.0), tmp_path / "quiet")
    (place / "kill-3").write_text("2")
    done = on_cluster(place, tmp_path / "run", "worker")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == quiet.digest
    (place / "kill-3").write_text("9")
    failed = on_cluster(place, tmp_path / "other", "worker")
    assert "RunError: job 3 of toy (a=1, b=20) lost its worker 3 times" in failed.stderr
    assert stored(tmp_path / "other")


@needs_ray
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1:1", "no Ray cluster at RAY_ADDRESS=127.0.0.1:1: "),
        ("ray://127.0.0.1:1", "no Ray cluster at RAY_ADDRESS=ray://127.0.0.1:1: "),
        ("not an address", "RAY_ADDRESS=not an address is not an address; write host:port"),
        ("localhost:99999", "is not an address"),
        ("http://localhost:6379", "is not an address"),
        ("x" * 5000, "is not an address"),
    ],
)
def test_an_address_without_a_cluster_fails_soon_in_one_line(place, tmp_path, monkeypatch, address, words):
    import ray  # noqa: F401  to load it takes seconds on a busy machine

    monkeypatch.setenv("RAY_ADDRESS", address)
    began = time.monotonic()
    with pytest.raises(RunError) as caught:
        run(Toy(place=str(place)), tmp_path / "run", 2, "ray")
    assert time.monotonic() - began < 10.0
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("answer", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n"])
@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_something_else_at_the_address_is_found_before_ray_is_loaded(place, tmp_path, monkeypatch, answer, scheme):
    """``answer`` is what it sends before it closes the connection; None keeps it open and silent."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept = []

        def serve():
            kept.append(server.accept()[0])
            if answer is not None:
                kept[0].sendall(answer)
                kept[0].close()

        thread = threading.Thread(target=serve)
        thread.start()
        address = f"{scheme}127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        monkeypatch.setattr("sandlot.studies.cluster.need", None)
        began = time.monotonic()
        with pytest.raises(RunError) as caught:
            run(Toy(place=str(place)), tmp_path / "run", 2, "ray")
        assert time.monotonic() - began < 10.0
        thread.join()
        kept[0].close()
    assert str(caught.value).startswith(f"no Ray cluster at RAY_ADDRESS={address}: ")
    assert str(caught.value).endswith(("something else listens there", "no answer within 2 s", "reset by peer"))


@needs_ray
@pytest.mark.slow
def test_nothing_but_json_is_printed_with_ray(place, tmp_path):
    code = (
        "import sys; from sandlot.studies.base import STUDIES; from toy_study import Toy; STUDIES['toy'] = Toy;"
        "from sandlot.cli import main; main()"
    )
    words = ["run", "toy", "--set", f"place={place}", "--out", str(tmp_path / "run"), "--backend", "ray"]
    environment = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "--workers", "2", "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**environment, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["digest"] == run(Toy(place=str(place)), tmp_path / "quiet").digest
