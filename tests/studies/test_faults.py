"""Damaged files, full and read-only disks, two runs in one directory, signals: one line each, and nothing is lost."""

import contextlib
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandlot.errors import RunError, SandlotError
from sandlot.recordings.logs import import_log
from sandlot.studies.base import STUDIES
from sandlot.studies.runner import load, run
from sandlot.studies.states import last_runs
from sandlot.studies.store import Store
from sandlot.writing import DRAFTS
from toy_study import Toy

TESTS = Path(__file__).parents[1]
COMMAND = (
    "from sandlot.studies.base import STUDIES; from toy_study import Toy; STUDIES['toy'] = Toy;"
    "from sandlot.cli import main; main()"
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setitem(STUDIES, "toy", Toy)
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def start(*words: object, limit: int | None = None, **options) -> subprocess.Popen[str]:
    """The command, which knows the toy study; files may be no longer than ``limit`` [byte]."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    before = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=before,
        **options,
    )


def toy(place: Path, out: Path, *words: object) -> list[object]:
    return ["run", "toy", "--set", f"place={place}", "--out", out, "--workers", 1, *words]


DAMAGES = {
    "a key that is NULL": "CREATE TABLE r2 (key, value); INSERT INTO r2 SELECT * FROM run; DROP TABLE run;"
    "ALTER TABLE r2 RENAME TO run; INSERT INTO run VALUES (NULL, '1')",
    "settings that are NULL": "CREATE TABLE r2 (key, value); INSERT INTO r2 SELECT * FROM run; DROP TABLE run;"
    "ALTER TABLE r2 RENAME TO run; UPDATE run SET value = NULL WHERE key = 'settings'",
    "settings that are a number": "UPDATE run SET value = '3' WHERE key = 'settings'",
    "settings that are no UTF-8": "UPDATE run SET value = CAST(x'ff00fe' AS TEXT) WHERE key = 'settings'",
    "settings that are bytes": "UPDATE run SET value = x'ff00fe' WHERE key = 'settings'",
    "settings cut off": "UPDATE run SET value = substr(value, 1, 9) WHERE key = 'settings'",
    "settings of another study": "UPDATE run SET value = '{\"gone\": 1}' WHERE key = 'settings'",
    "deeply nested settings": f"UPDATE run SET value = '{'[' * 100_000}' WHERE key = 'settings'",
    "no settings": "DELETE FROM run WHERE key = 'settings'",
    "no study": "DELETE FROM run WHERE key = 'study'",
    "a study that is a list": "UPDATE run SET value = '[1]' WHERE key = 'study'",
    "a study nobody knows": "UPDATE run SET value = '\"gone\"' WHERE key = 'study'",
    "a time that is text": "UPDATE run SET value = '\"x\"' WHERE key = 'wall_time'",
    "a time that is NaN": "UPDATE run SET value = 'NaN' WHERE key = 'wall_time'",
    "no facts": "DELETE FROM run",
    "no table of facts": "DROP TABLE run",
    "parameters that are NULL": "CREATE TABLE j2 (job, parameters, results); INSERT INTO j2 SELECT * FROM jobs;"
    "DROP TABLE jobs; ALTER TABLE j2 RENAME TO jobs; UPDATE jobs SET parameters = NULL WHERE job = 2",
    "a job that is text": "CREATE TABLE j2 (job, parameters, results); INSERT INTO j2 SELECT * FROM jobs;"
    "DROP TABLE jobs; ALTER TABLE j2 RENAME TO jobs; UPDATE jobs SET job = 'x' WHERE job = 2",
    "a job of another study": "UPDATE jobs SET job = 77 WHERE job = 2",
    "other parameters": 'UPDATE jobs SET parameters = \'{"a": 9, "b": 9}\' WHERE job = 2',
    "parameters that are a list": "UPDATE jobs SET parameters = '[]' WHERE job = 2",
    "results that are no UTF-8": "UPDATE jobs SET results = CAST(x'c328' AS TEXT) WHERE job = 2",
    "results that are bytes": "UPDATE jobs SET results = x'c328' WHERE job = 2",
    "results that are a number": "UPDATE jobs SET results = 5 WHERE job = 2",
    "results cut off": "UPDATE jobs SET results = substr(results, 1, 9) WHERE job = 2",
    "results without an outcome": "UPDATE jobs SET results = '{\"sum\": 1}' WHERE job = 2",
    "a result that is text": 'UPDATE jobs SET results = \'{"sum": "x", "chance": 1}\' WHERE job = 2',
    "a result that is null": 'UPDATE jobs SET results = \'{"sum": null, "chance": 1}\' WHERE job = 2',
    "a result that is an array": 'UPDATE jobs SET results = \'{"sum": [1, 2], "chance": 1}\' WHERE job = 2',
    "a result that is an object": 'UPDATE jobs SET results = \'{"sum": {}, "chance": 1}\' WHERE job = 2',
    "too many digits": f'UPDATE jobs SET results = \'{{"sum": {"9" * 9999}, "chance": 1}}\' WHERE job = 2',
    "another number": "UPDATE jobs SET results = replace(results, '\"sum\": 11', '\"sum\": 12') WHERE job = 2",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_gives_one_line(place, tmp_path, damage):
    study = Toy(place=str(place))
    run(study, tmp_path / "runs/bad")
    with contextlib.closing(sqlite3.connect(tmp_path / "runs/bad" / Store.FILE)) as db:
        db.executescript(DAMAGES[damage])
        db.commit()
    run(study, tmp_path / "runs/good")
    for attempt in (lambda: load(tmp_path / "runs/bad"), lambda: run(study, tmp_path / "runs/bad")):
        with pytest.raises(SandlotError) as caught:
            attempt()
        assert len(str(caught.value)) < 700
    found = last_runs(tmp_path / "runs")
    assert found.states["toy"].run_directory == str(tmp_path / "runs/good")
    assert list(found.skipped) == [str(tmp_path / "runs/bad")]


@pytest.mark.parametrize("sql", ["DELETE FROM jobs WHERE job = 2", "DROP TABLE jobs"])
def test_missing_jobs_are_run_again(place, tmp_path, sql):
    outcome = run(Toy(place=str(place)), tmp_path / "run")
    with contextlib.closing(sqlite3.connect(tmp_path / "run" / Store.FILE)) as db:
        db.execute(sql)
        db.commit()
    with pytest.raises(RunError):
        load(tmp_path / "run")
    assert run(Toy(place=str(place)), tmp_path / "run").digest == outcome.digest


def test_bytes_overwritten_at_random_never_end_in_a_traceback(place, tmp_path):
    study = Toy(place=str(place), seconds=0.0)
    run(study, tmp_path / "runs/bad")
    file = tmp_path / "runs/bad" / Store.FILE
    whole, chance = file.read_bytes(), random.Random(0)
    digest = load(tmp_path / "runs/bad").digest
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 8, 64])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        file.write_bytes(damaged[: chance.choice([len(damaged), chance.randrange(len(damaged))])])
        with contextlib.suppress(SandlotError):
            assert load(tmp_path / "runs/bad").digest == digest, "wrong numbers without a word"
        last_runs(tmp_path / "runs")


def test_the_command_names_and_skips_a_damaged_run(place, tmp_path):
    run(Toy(place=str(place)), tmp_path / "runs/good")
    (tmp_path / "runs/bad").mkdir()
    (tmp_path / "runs/bad" / Store.FILE).write_bytes(b"no jobs")
    out, err = start("studies", "--runs", tmp_path / "runs").communicate(timeout=120)
    assert "1 of 2 claims hold*" in out
    assert [line.split(":")[0] for line in err.splitlines()] == [f"skipped {tmp_path / 'runs/bad'}"]


def test_two_runs_with_different_settings_do_not_mix(place, tmp_path):
    slow = start(*toy(place, tmp_path / "run", "--set", "seconds=0.5"))
    patience = time.monotonic() + 100.0
    while not (place / "running-0").exists():
        assert time.monotonic() < patience
        time.sleep(0.02)
    for study in (Toy(place=str(place), seconds=0.5), Toy(place=str(place), seed=1)):
        with pytest.raises(RunError, match=r"another process is running a study in .*; wait for it, or choose another"):
            run(study, tmp_path / "run")
    _, err = slow.communicate(timeout=100)
    assert slow.returncode == 0, err
    assert load(tmp_path / "run").study.seed == 0


def test_settings_are_never_replaced_even_if_no_job_has_finished(place, tmp_path):
    (place / "0").touch()
    with pytest.raises(RunError, match="stepped into the trap"):
        run(Toy(place=str(place)), tmp_path / "run")
    (place / "0").unlink()
    with pytest.raises(RunError, match=r"holds a run with seed=0, not 1; choose another --out, or remove"):
        run(Toy(place=str(place), seed=1), tmp_path / "run")
    assert run(Toy(place=str(place)), tmp_path / "run").study.seed == 0


def test_a_finished_run_can_be_read_from_a_read_only_medium(place, tmp_path):
    digest = run(Toy(place=str(place)), tmp_path / "run").digest
    file = tmp_path / "run" / Store.FILE
    assert file.read_bytes()[18:20] == b"\x01\x01", "no write-ahead log, which needs a writable directory"
    assert not list(file.parent.glob("*-wal"))
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)) as db:
        assert db.execute("SELECT count(*) FROM jobs").fetchone() == (6,)
    assert load(file.parent).digest == digest


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/sys").is_mount(), reason="root may write anywhere")
def test_a_read_only_place_is_told_from_damage(place, tmp_path):
    where = Path("/sys/sandlot") if os.geteuid() == 0 else tmp_path / "closed"
    if os.geteuid() != 0:
        where.mkdir(mode=0o500)
    with pytest.raises(RunError, match=r"cannot (keep a run in|write to) .*(ead-only|ermi)"):
        run(Toy(place=str(place)), where)


def test_an_error_of_a_full_disk_is_named(tmp_path, monkeypatch):
    with Store(tmp_path) as store:
        store.keep(0, {}, {"sum": 1.0})
        store._db.execute("PRAGMA max_page_count=4")  # SQLite then answers as on a full disk
        with pytest.raises(RunError, match=r"^no space left on the disk of .*; finished jobs are kept, and the same"):
            store.keep(1, {}, {"sum": "x" * 50_000})
        assert store.rows()[0].results == {"sum": 1.0}


def test_a_full_disk_keeps_what_was_finished_and_goes_on_when_there_is_room(place, tmp_path):
    quiet = run(Toy(place=str(place), size=100, seconds=0.0), tmp_path / "quiet")
    words = toy(place, tmp_path / "run", "--set", "size=100", "--set", "seconds=0")
    process = start(*words, limit=120_000)
    out, err = process.communicate(timeout=200)
    assert (process.returncode, out) == (2, ""), err
    line = err.splitlines()[-1]
    assert line.startswith("error: ")
    assert "damaged" not in line
    assert "finished jobs are kept, and the same command goes on when there is room" in line
    with Store(tmp_path / "run", read_only=True) as store:
        assert 0 < len(store.rows()) < 200
    assert run(Toy(place=str(place), size=100, seconds=0.0), tmp_path / "run").digest == quiet.digest


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_a_run_cleanly(place, tmp_path, number):
    process = start(*toy(place, tmp_path / "run", "--set", "seconds=0.4", "--workers", 2), start_new_session=True)
    patience = time.monotonic() + 100.0
    while not (place / "log").exists() or len((place / "log").read_text().split()) < 4:
        assert time.monotonic() < patience
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "Stopped. Finished jobs are kept; the same command goes on."
    assert "Traceback" not in err
    with Store(tmp_path / "run", read_only=True) as store:
        kept = len(store.rows())
    assert 0 < kept < 6
    (place / "log").unlink()
    run(Toy(place=str(place), seconds=0.4), tmp_path / "run")
    assert len((place / "log").read_text().split()) == 6 - kept


def test_a_command_that_cannot_go_on_does_not_say_so(tmp_path):
    process = start("record", "leveling", "--steps", 50_000_000, "--out", tmp_path / "a")
    patience = time.monotonic() + 100.0
    while not (tmp_path / "a").exists():
        assert time.monotonic() < patience
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "Stopped."


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_import_that_was_stopped_leaves_no_draft_after_the_next_one(tmp_path, number):
    line = "FLASER 2 1.5 2.5 {x} 2 0.5 {x} 2.5 0.4 {x} host {x}\n"
    (tmp_path / "small.log").write_text(line.format(x=1))
    (tmp_path / "large.log").write_text("".join(line.format(x=x) for x in range(400_000)))
    process = start("import", tmp_path / "large.log", "--out", tmp_path / "a")
    patience = time.monotonic() + 100.0
    while not list(tmp_path.glob(DRAFTS)):
        assert time.monotonic() < patience
        time.sleep(0.005)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    left = sorted(path.name for path in tmp_path.iterdir())
    if number == signal.SIGTERM:
        assert (process.returncode, err.splitlines()[-1]) == (130, "Stopped.")
        assert left == ["large.log", "small.log"]
    import_log(tmp_path / "small.log", tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "large.log", "small.log"]


def test_kills_at_random_moments_lose_nothing(place, tmp_path):
    study = Toy(place=str(place), size=12, seconds=0.05)
    quiet = run(study, tmp_path / "quiet")
    chance, words = random.Random(1), toy(place, tmp_path / "run", "--set", "size=12", "--set", "seconds=0.05")
    before: set[tuple] = set()
    for _ in range(4):
        for each in place.iterdir():
            each.unlink()
        process = start(*words)
        patience = time.monotonic() + 100.0
        while process.poll() is None and not (place / "log").exists():
            assert time.monotonic() < patience
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.5))
        process.kill()
        process.communicate()
        with Store(tmp_path / "run", read_only=True) as store:
            after = {(row.job, str(row.results)) for row in store.rows()}
        assert before <= after
        before = after
    assert run(study, tmp_path / "run").digest == quiet.digest


@pytest.mark.parametrize(
    "words", [["run", "toy", "--out"], ["report"], ["studies", "--runs"], ["record", "leveling", "--out"]]
)
def test_a_name_that_is_too_long_gets_one_line(tmp_path, words):
    process = start(*words, tmp_path / ("x" * 5000))
    out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (2, ""), err
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    assert len(err) < 400
