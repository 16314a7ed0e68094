"""A run gives the same numbers on any workers and backend, interrupted or not.

The kill tests start the real command, kill it when some but not all of its jobs are done, and start it again.
"""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from joblib.externals import loky

from sandlot.errors import SandlotError
from sandlot.recordings import Quantity
from sandlot.settings import build
from sandlot.studies import find
from sandlot.studies.base import STUDIES
from sandlot.studies.runner import load, run
from sandlot.studies.states import State, last_runs
from sandlot.studies.store import Store
from toy_study import Toy

SANDLOT = Path(sys.executable).with_name("sandlot")
# The last third of the jobs takes longest, so that a run which has just begun is far from its end.
CHANGES = {"world.shape": "[16, 16]", "probabilities": "[0.5, 0.3, 0.01]", "replicates": "30"}
SETTINGS = {"world": {"shape": [16, 16]}, "probabilities": [0.5, 0.3, 0.01], "replicates": 30}
JOBS = 90


def command(directory: Path, *options: str) -> list[str]:
    changes = [word for key, value in CHANGES.items() for word in ("--set", f"{key}={value}")]
    return [str(SANDLOT), "run", "leveling.probabilities", "--out", str(directory), *changes, *options]


def finish(directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
    done = subprocess.run(
        command(directory, *options), capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def query(directory: Path, sql: str) -> list[tuple]:
    """Read only: what a killed process left stays for the next one to clean up."""
    with contextlib.closing(sqlite3.connect(f"file:{directory / Store.FILE}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


@dataclass(frozen=True)
class Kept:
    """Everything by which two runs are compared."""

    table: bytes
    jobs: list[tuple]
    digest: str

    @classmethod
    def of(cls, directory: Path) -> "Kept":
        jobs = query(directory, "SELECT * FROM jobs ORDER BY job")
        with Store(directory) as store:
            return cls((directory / "results.csv").read_bytes(), jobs, store.digest())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Kept:
    """A run by one worker, in this process."""
    directory = tmp_path_factory.mktemp("undisturbed")
    run(build(find("leveling.probabilities"), SETTINGS), directory, workers=1)
    kept = Kept.of(directory)
    assert len(kept.jobs) == JOBS
    return kept


@pytest.fixture
def workers() -> Iterator[int]:
    """Two worker processes, stopped afterwards; they would otherwise wait minutes for more jobs."""
    yield 2
    loky.get_reusable_executor().shutdown(wait=True)


def test_two_workers_give_the_same(tmp_path, undisturbed, workers):
    run(build(find("leveling.probabilities"), SETTINGS), tmp_path, workers)
    assert Kept.of(tmp_path) == undisturbed


@pytest.mark.slow
def test_a_job_that_fails_in_a_worker_is_named(tmp_path, workers, recwarn):
    (tmp_path / "broken.png").write_text("not an image")
    wrong = build(find("leveling.probabilities"), SETTINGS | {"world": {"terrain": tmp_path / "broken.png"}})
    with pytest.raises(
        SandlotError, match=r"job \d+ of leveling.probabilities \(probability=.*\) failed: .*broken.png"
    ):
        run(wrong, tmp_path / "wrong", workers)
    assert not [str(each.message) for each in recwarn], "the error says it all"


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
@pytest.mark.slow
def test_ray_gives_the_same(tmp_path, undisturbed):
    done = finish(tmp_path, "--workers", "2", "--backend", "ray", "--json")
    assert Kept.of(tmp_path) == undisturbed
    assert json.loads(done.stdout)["digest"] == undisturbed.digest


def alive(group: int) -> list[int]:
    """Living processes of a group, without zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group, *_ = stat.read_text().rpartition(")")[2].split()
            if int(its_group) == group and state not in "ZX":
                found.append(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("victim", "resumed_by"), [("everything", 1), pytest.param("only the parent", 2, marks=pytest.mark.slow)]
)
def test_a_killed_run_goes_on_where_it_was(tmp_path, undisturbed, victim, resumed_by):
    with Store(tmp_path):
        pass
    with contextlib.closing(sqlite3.connect(tmp_path / Store.FILE)) as db:
        # Writes down every keeping of a job, also one that changes nothing.
        db.executescript(
            "CREATE TABLE log (job INTEGER);"
            "CREATE TRIGGER logger AFTER INSERT ON jobs BEGIN INSERT INTO log VALUES (new.job); END;"
        )
    process = subprocess.Popen(
        command(tmp_path, "--workers", "2"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        patience = time.monotonic() + 200.0
        while not query(tmp_path, "SELECT 1 FROM jobs LIMIT 1"):
            assert process.poll() is None, "it ended before it was killed"
            assert time.monotonic() < patience, "no job was done"
            time.sleep(0.01)
        assert len(alive(process.pid)) >= 3, "a parent and two workers"
        if victim == "everything":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        before = query(tmp_path, "SELECT * FROM jobs ORDER BY job")
        assert 0 < len(before) < JOBS, "not in the middle"
        assert set(before) < set(undisturbed.jobs)
        assert (tmp_path / f"{Store.FILE}-wal").exists(), "nobody has tidied up"
        assert not (tmp_path / "results.csv").exists()

        patience = time.monotonic() + 10.0
        while alive(process.pid) and time.monotonic() < patience:
            time.sleep(0.1)
        orphans = alive(process.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    finish(tmp_path, "--workers", str(resumed_by))
    assert Kept.of(tmp_path) == undisturbed
    assert sorted(query(tmp_path, "SELECT job FROM log")) == [(job,) for job in range(JOBS)], "some were done again"
    assert not orphans, "workers went on without their parent"


@pytest.fixture
def place(tmp_path) -> Iterator[Path]:
    """Where the jobs of the toy study log that they ran; the study is registered while the test runs."""
    STUDIES["toy"] = Toy
    (tmp_path / "place").mkdir()
    yield tmp_path / "place"
    del STUDIES["toy"]


def ran(place: Path) -> list[int]:
    return [int(line) for line in (place / "log").read_text().split()]


def fail_at(job: int, place: Path, directory: Path) -> str:
    trap = place / str(job)
    trap.touch()
    with pytest.raises(SandlotError) as caught:
        run(Toy(place=str(place)), directory)
    trap.unlink()
    return str(caught.value)


def test_a_run_keeps_and_labels_everything(place, tmp_path):
    outcome = run(Toy(place=str(place)), tmp_path / "run")
    results = outcome.results
    assert results.sizes == {"job": 6}
    assert results["a"].values.tolist() == [0, 0, 1, 1, 2, 2]
    assert results["b"].values.tolist() == [10, 20, 10, 20, 10, 20]
    assert results["sum"].values.tolist() == [10.0, 20.0, 11.0, 21.0, 12.0, 22.0]
    assert results["sum"].attrs == {"units": "m", "long_name": "sum of both"}
    assert results["chance"].attrs == {"units": "1", "long_name": "luck"}
    assert results.attrs == {"study": "toy", "source": "a test", "seed": 0}
    assert "ignored" not in results
    assert [claim.holds for claim in outcome.claims] == [True, False]
    with Store(tmp_path / "run") as store:
        assert outcome.digest == store.digest()
    lines = (tmp_path / "run" / "results.csv").read_text().splitlines()
    assert lines[0] == "job,a,b,sum,chance"
    assert len(lines) == 7


def test_what_is_loaded_is_what_was_run(place, tmp_path):
    outcome = run(Toy(place=str(place), seed=3), tmp_path / "run")
    again = load(tmp_path / "run")
    assert again.study == outcome.study
    assert again.results.identical(outcome.results)
    assert again.summary() == outcome.summary()


def test_the_seed_decides(place, tmp_path):
    digests = [run(Toy(place=str(place), seed=seed), tmp_path / f"{k}").digest for k, seed in enumerate([0, 1, 0])]
    assert digests[0] == digests[2] != digests[1]


def test_the_summary_is_plain_json(place, tmp_path):
    outcome = run(Toy(place=str(place)), tmp_path / "run")
    summary = json.loads(json.dumps(outcome.summary(), allow_nan=False))
    assert summary["study"] == "toy"
    assert summary["source"] == "a test"
    assert summary["settings"] == {"seed": 0, "place": str(place), "size": 3, "seconds": 0.02}
    assert summary["run_directory"] == str(tmp_path / "run")
    assert summary["jobs"] == 6
    assert summary["wall_time"] > 0.0
    first, second = summary["claims"]
    known = {"text": "The sum is 96.", "source": 96.0, "measured": 96.0, "holds": True, "note": ""}
    assert first == known | {"verdict": "holds", "undecided": ""}
    assert (second["source"], second["measured"], second["holds"]) == ("yes", "no", False)


def test_progress_counts_every_job(place, tmp_path):
    seen = []
    run(Toy(place=str(place)), tmp_path / "run", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 6) for done in range(7)]


def test_settings_are_checked_before_anything_runs(place, tmp_path):
    seen = []
    with pytest.raises(SandlotError) as caught:
        run(Toy(place=str(place), size=101), tmp_path / "run", progress=lambda *each: seen.append(each))
    assert str(caught.value) == "size=101 is too much for a toy"
    assert not seen
    assert not (tmp_path / "run").exists()
    assert not (place / "log").exists()


def test_a_failing_job_is_named_and_the_ones_before_it_kept(place, tmp_path):
    message = fail_at(3, place, tmp_path / "run")
    assert "job 3 of toy (a=1, b=20)" in message
    assert "stepped into the trap" in message
    assert len(message.splitlines()) == 1
    with Store(tmp_path / "run") as store:
        assert [row.job for row in store.rows()] == [0, 1, 2]

    seen = []
    again = run(Toy(place=str(place)), tmp_path / "run", progress=lambda done, total: seen.append(done))
    assert seen == [3, 4, 5, 6]
    assert ran(place) == [0, 1, 2, 3, 3, 4, 5]
    assert again.digest == run(Toy(place=str(place)), tmp_path / "other").digest
    assert (tmp_path / "run/results.csv").read_bytes() == (tmp_path / "other/results.csv").read_bytes()


def test_a_finished_run_is_not_run_again(place, tmp_path):
    outcome = run(Toy(place=str(place)), tmp_path / "run")
    again = run(Toy(place=str(place)), tmp_path / "run")
    assert ran(place) == [0, 1, 2, 3, 4, 5]
    assert again.summary() == outcome.summary()


def test_an_unfinished_run_cannot_be_loaded(place, tmp_path):
    fail_at(3, place, tmp_path / "run")
    resume = r"resume it with: sandlot run toy --set 'place=\S+' --out \S+run$"
    with pytest.raises(SandlotError, match=f"finished 3 of 6 jobs; {resume}"):
        load(tmp_path / "run")


def test_a_run_of_another_version_cannot_be_loaded(place, tmp_path, monkeypatch):
    run(Toy(place=str(place)), tmp_path / "run")
    monkeypatch.setattr(Toy, "outcomes", {**Toy.outcomes, "newer": Quantity("1", "not known then")})
    with pytest.raises(SandlotError, match="a version without newer, or is damaged; choose another --out"):
        load(tmp_path / "run")
    assert "toy" not in last_runs(tmp_path).states


def test_wall_time_adds_up(place, tmp_path):
    def noted() -> float:
        with Store(tmp_path / "run") as store:
            return store.about()["wall_time"]

    fail_at(3, place, tmp_path / "run")
    before = noted()
    assert before >= 3 * 0.02
    began = time.perf_counter()
    outcome = run(Toy(place=str(place)), tmp_path / "run")
    took = time.perf_counter() - began
    assert before + 3 * 0.02 <= outcome.wall_time <= before + took
    assert outcome.wall_time == noted()


@pytest.mark.parametrize(("changes", "words"), [({"size": 4}, ["size", "3", "4"]), ({"seed": 1}, ["seed", "0", "1"])])
def test_other_settings_need_another_directory(place, tmp_path, changes, words):
    outcome = run(Toy(place=str(place)), tmp_path / "run")
    with pytest.raises(SandlotError) as caught:
        run(Toy(place=str(place), **changes), tmp_path / "run")
    assert all(word in str(caught.value) for word in [str(tmp_path / "run"), *words])
    assert load(tmp_path / "run").summary() == outcome.summary()


def test_another_study_needs_another_directory(place, tmp_path):
    run(Toy(place=str(place)), tmp_path / "run")
    with pytest.raises(SandlotError, match="holds a run of toy"):
        run(find("leveling.probabilities")(), tmp_path / "run")


def test_another_version_needs_another_directory(place, tmp_path):
    fail_at(3, place, tmp_path / "run")
    with Store(tmp_path / "run") as store:
        store.note(version="0.0.0")
    with pytest.raises(SandlotError, match=r"0\.0\.0"):
        run(Toy(place=str(place)), tmp_path / "run")


def test_there_is_nothing_to_load(tmp_path):
    with pytest.raises(SandlotError, match="no run in"):
        load(tmp_path)
    assert not list(tmp_path.iterdir())
    with Store(tmp_path):
        pass
    with pytest.raises(SandlotError, match="not written by"):
        load(tmp_path)


def test_the_state_of_the_last_run(place, tmp_path):
    runs = tmp_path / "runs"
    assert last_runs(runs).states == {}
    fail_at(3, place, runs / "toy")
    assert last_runs(runs).states == {"toy": State("unfinished", str(runs / "toy"), 3, 6, usual=False)}
    run(Toy(place=str(place)), runs / "toy")
    assert last_runs(runs).states == {"toy": State("finished", str(runs / "toy"), 6, 6, 1, 0, 2, usual=False)}
    assert State().state == "never run"


def test_a_run_with_the_studys_own_settings_is_known(tmp_path):
    usual = find("leveling.probabilities")()
    for name, chosen in (("own", usual), ("other", usual.model_copy(update={"replicates": 2}))):
        with Store(tmp_path / name / "run") as store:
            store.note(study=chosen.name, settings=chosen.model_dump(mode="json"), version="", wall_time=0.0)
        assert last_runs(tmp_path / name).states[chosen.name].usual == (name == "own")


def test_the_newest_run_counts(place, tmp_path):
    run(Toy(place=str(place)), tmp_path / "runs/b")
    time.sleep(0.02)
    run(Toy(place=str(place), size=2), tmp_path / "runs/deep/a")
    load(tmp_path / "runs/b")  # To look at an old run does not make it new.
    assert last_runs(tmp_path / "runs").states["toy"].run_directory == str(tmp_path / "runs/deep/a")


def test_what_is_no_run_does_not_hide_those_that_are(place, tmp_path):
    run(Toy(place=str(place)), tmp_path / "runs/toy")
    for name in ("text", "foreign", "old", "empty"):
        (tmp_path / "runs" / name).mkdir()
    (tmp_path / "runs/text" / Store.FILE).write_text("these are no jobs")
    with contextlib.closing(sqlite3.connect(tmp_path / "runs/foreign" / Store.FILE)) as db:
        db.execute("CREATE TABLE jobs (name TEXT)")
    with Store(tmp_path / "runs/old") as store:
        store.note(study="toy", settings={"place": "", "gone": 3}, version="0", wall_time=0.0)
    with Store(tmp_path / "runs/empty"):
        pass
    assert {name: state.state for name, state in last_runs(tmp_path / "runs").states.items()} == {"toy": "finished"}
