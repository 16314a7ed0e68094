"""The store gives back what was kept, whatever the order, and its digest stands for the numbers."""

import csv
import math
import random
import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.errors import SandlotError
from sandlot.studies.store import Store

numbers = st.floats(allow_nan=False, allow_infinity=False)
outcomes = st.lists(st.fixed_dictionaries({"cycles": numbers, "moved": numbers}), min_size=1, max_size=8)


def parameters(job: int) -> dict[str, object]:
    return {"rule": f"memetic, number {job // 2}", "share": 0.1 * job, "replicate": job % 2}


def fill(directory: Path, results: list[dict[str, float]], order: list[int] | None = None) -> str:
    with Store(directory) as store:
        for job in order or range(len(results)):
            store.keep(job, parameters(job), results[job])
        return store.digest()


def three(last: float = 3.0) -> list[dict[str, float]]:
    return [{"cycles": 1.0}, {"cycles": 2.0}, {"cycles": last}]


def test_gives_back_what_was_kept(tmp_path):
    with Store(tmp_path) as store:
        assert store.rows() == []
        store.keep(2, {"share": 0.3}, {"cycles": 7.0})
        store.keep(0, {"share": 0.1}, {"cycles": 5.0})
        assert store.rows() == [(0, {"share": 0.1}, {"cycles": 5.0}), (2, {"share": 0.3}, {"cycles": 7.0})]


@settings(max_examples=12)
@given(outcomes, st.randoms())
def test_nothing_depends_on_the_order_of_keeping(results, shuffled):
    order = list(range(len(results)))
    shuffled.shuffle(order)
    with tempfile.TemporaryDirectory() as directory:
        a, b = Path(directory, "a"), Path(directory, "b")
        assert fill(a, results) == fill(b, results, order)
        for each in (a, b):
            with Store(each) as store:
                store.export(each / "results.csv")
                assert store.rows() == [(job, parameters(job), result) for job, result in enumerate(results)]
        assert (a / "results.csv").read_bytes() == (b / "results.csv").read_bytes()


@settings(max_examples=12)
@given(outcomes, st.data())
def test_the_digest_sees_the_smallest_change_of_a_number(results, data):
    changed = [dict(result) for result in results]
    job = data.draw(st.integers(0, len(results) - 1))
    changed[job]["moved"] = math.nextafter(changed[job]["moved"], math.inf)
    with tempfile.TemporaryDirectory() as directory:
        assert fill(Path(directory, "a"), results) != fill(Path(directory, "b"), changed)


def test_the_digest_sees_jobs_and_parameters(tmp_path):
    digests = [fill(tmp_path / "a", three()), fill(tmp_path / "b", three()[:2]), fill(tmp_path / "c", three(), [0, 2])]
    with Store(tmp_path / "d") as store:
        for job, result in enumerate(three()):
            store.keep(job, {**parameters(job), "replicate": 9}, result)
        digests.append(store.digest())
    assert len(set(digests)) == 4
    assert all(len(digest) == 64 for digest in digests)


def test_a_store_opened_again_goes_on(tmp_path):
    whole = fill(tmp_path / "whole", three())
    with Store(tmp_path / "parts") as store:
        store.note(study="toy", wall_time=1.5)
    fill(tmp_path / "parts", three(), [1])
    with Store(tmp_path / "parts") as store:
        assert [row.job for row in store.rows()] == [1]
        assert store.about() == {"study": "toy", "wall_time": 1.5}
        assert store.digest() != whole
    assert fill(tmp_path / "parts", three(), [2, 0]) == whole


def test_a_job_kept_twice_is_there_once(tmp_path):
    once = fill(tmp_path / "once", three())
    assert fill(tmp_path / "twice", three(), [0, 1, 0, 2, 2]) == once


def test_what_was_kept_is_on_disk_at_once(tmp_path):
    with Store(tmp_path) as writer, Store(tmp_path, read_only=True) as reader:
        writer.keep(0, {}, {"cycles": 1.0})
        assert [row.job for row in reader.rows()] == [0]


def test_notes_are_replaced(tmp_path):
    with Store(tmp_path) as store:
        store.note(wall_time=1.0, settings={"world": {"shape": [16, 16]}})
        store.note(wall_time=2.0)
        assert store.about() == {"wall_time": 2.0, "settings": {"world": {"shape": [16, 16]}}}


def test_facts_are_noted_all_or_none(tmp_path):
    with Store(tmp_path) as store:
        with pytest.raises(TypeError):
            store.note(study="toy", settings=object())
        assert store.about() == {}


def test_the_table_reads_back_exactly(tmp_path):
    generator = random.Random(0)
    results = [{"cycles": generator.random() * 10.0**k, "moved": float(k)} for k in range(-9, 12)]
    fill(tmp_path, results)
    with Store(tmp_path) as store:
        store.export(tmp_path / "results.csv")
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["job", "rule", "share", "replicate", "cycles", "moved"]
    assert [int(row["job"]) for row in rows] == list(range(len(results)))
    assert [row["rule"] for row in rows] == [parameters(job)["rule"] for job in range(len(results))]
    assert [float(row["share"]) for row in rows] == [parameters(job)["share"] for job in range(len(results))]
    assert [{name: float(row[name]) for name in ("cycles", "moved")} for row in rows] == results


@pytest.mark.parametrize("content", [b"these are no jobs", b"SQLite format 3\0" + bytes(100)])
def test_a_file_that_is_no_database_is_left_alone(tmp_path, content):
    (tmp_path / Store.FILE).write_bytes(content)
    with pytest.raises(SandlotError) as caught:
        Store(tmp_path)
    assert f"{tmp_path.name}/{Store.FILE}" in str(caught.value)
    assert (tmp_path / Store.FILE).read_bytes() == content


def test_a_file_in_place_of_the_directory_is_named(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(SandlotError, match="taken"):
        Store(tmp_path / "taken")


def test_the_file_is_plain_sqlite(tmp_path):
    fill(tmp_path, three())
    db = sqlite3.connect(tmp_path / Store.FILE)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("SELECT json_extract(results, '$.cycles') FROM jobs ORDER BY job").fetchall() == [
        (1.0,),
        (2.0,),
        (3.0,),
    ]
    db.close()
