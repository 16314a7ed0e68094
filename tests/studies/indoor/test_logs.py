"""The study of maps of real logs: its claims about made-up results, and a run on a short real log."""

import math

import pytest

from claims import synthetic
from data import DATA, real_log
from sandlot.errors import SandlotError
from sandlot.studies.indoor.logs import FILES, Logs
from sandlot.studies.runner import run

GOOD = {"error": 0.04, "turn_error": 0.02, "relations": 1685.0, "position_error": 0.1, "loops": 9.0, "parts": 1.0}
GOOD |= {"refused": 0.0, "seconds": 12.0}


class Present(Logs):
    """The study as if all logs were there."""

    def present(self):
        return tuple(self.logs)


def failing(**changes):
    study = Present()
    thick = {"thickness": lambda job: 0.01 if job["method"] in ("odometry", "scans") else 0.012}
    plain = {name: value for name, value in (GOOD | changes).items() if not callable(value)}
    outcomes = {name: (lambda job, value=value: value) for name, value in plain.items()}
    outcomes |= {name: value for name, value in changes.items() if callable(value)}
    claims = study.claims(synthetic(study, **thick | outcomes))
    return [claim.text for claim in claims if not claim.holds]


def test_all_claims_hold_for_good_results():
    assert failing() == []


def test_claims_fail_where_results_are_bad():
    assert all("Cartographer" in text for text in failing(error=0.05))
    assert len(failing(error=0.05)) == 2
    assert len(failing(error=0.06)) == 4
    assert len(failing(seconds=61.0)) == 2
    assert len(failing(parts=2.0)) == 5
    assert len(failing(loops=0.0)) == 5
    assert len(failing(thickness=lambda job: 0.0)) == 0


def test_a_short_real_log_is_mapped(tmp_path):
    real_log(FILES["rover5-24jul14"])
    study = Logs(data=DATA, logs=("rover5-24jul14",), methods=("odometry", "scans"))
    results = run(study, tmp_path / "run", workers=1).results
    assert (results["refused"].values == 0.0).all()
    assert (results["parts"].values == 1.0).all()
    assert (results["thickness"].values < 0.03).all()
    assert len(study.figure(results).axes) == 2


def test_absent_logs_are_left_out_and_none_at_all_is_an_error(tmp_path):
    study = Logs(data=tmp_path, logs=["intel"], methods=["scans"])
    (job,) = study.jobs()
    assert all(math.isnan(value) for value in study.run(job).values())
    with pytest.raises(SandlotError, match="there is no log in"):
        Logs(data=tmp_path / "nowhere").check()


def test_without_a_folder_the_message_says_how_to_give_one(tmp_path, monkeypatch):
    monkeypatch.delenv("SANDLOT_DATA", raising=False)
    with pytest.raises(SandlotError, match="SANDLOT_DATA, which is not set; set data, or SANDLOT_DATA, to a folder"):
        Logs().check()
    monkeypatch.setenv("SANDLOT_DATA", str(tmp_path))
    (tmp_path / FILES["intel"]).parent.mkdir()
    (tmp_path / FILES["intel"]).touch()
    assert Logs().present() == ("intel",)
