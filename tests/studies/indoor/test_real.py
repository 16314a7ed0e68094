"""The study of a real log: its claims about made-up results, and runs on a made-up log and the real one."""

import io
from pathlib import Path

import numpy as np
import pytest

from claims import synthetic
from data import real_log
from sandlot.errors import SandlotError
from sandlot.studies.indoor.real import LOGS, Real, _longest, alike_rays
from sandlot.studies.runner import run
from sandlot.surrogates.sensorgraph import Sensorgraph

WRONG = {"sectors": 1.3, "headings": 1.25, "local": 1.1, "scans": 1.55, "lookup": 1.5, "net": 1.4}
WRONG |= {"large net": 1.2, "map": 2.0}
NEAR = WRONG | {"map": 0.6}


def vary(wrong):
    """Errors of six segments that differ by method, cut and segment."""
    return lambda job: wrong[job["method"]] * (1.0 + 0.1 * job["cut"]) * np.linspace(0.8, 1.2, 6)


def made_up(study, **changes):
    outcomes = {name: (lambda _: np.full(6, 0.95)) for name in ("spearman", "near_spearman", "alike_spearman")}
    outcomes |= {name: vary(dict.fromkeys(WRONG, 1.6)) for name in ("guess", "near_guess")}
    outcomes |= {"error": vary(WRONG), "near_error": vary(NEAR), "near_share": lambda _: 0.4}
    outcomes |= {"alike_error": vary(WRONG), "alike_share": lambda _: 0.1}
    return synthetic(study, **outcomes | changes)


def failing(**changes):
    """Claims about one log that do not hold."""
    study = Real(logs=("a.log",))
    claims = study.claims(made_up(study, **changes))
    assert len(claims) == 11
    return [claim for claim in claims if not claim.holds]


def test_all_claims_hold_for_likely_results_except_that_a_map_predicts_new_rooms():
    (claim,) = failing()
    assert claim.text.startswith("a: over all later scans, ray casting")
    assert "Fails for: sectors" in claim.note


def test_a_map_may_be_the_most_accurate_everywhere():
    (claim,) = failing(error=vary(WRONG | {"map": 0.6}))
    assert "many small polynomials are more accurate than sectors" in claim.text
    assert "Fails for: map (p = 1, 0 of 4 cuts)" in claim.note


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"error": vary(WRONG | {"lookup": 1.0})}, ["than lookup.", "source's models", "than sectors", "a map"]),
        ({"near_error": vary(NEAR | {"lookup": 1.0})}, ["before, many small"]),
        ({"guess": vary(dict.fromkeys(WRONG, 1.2))}, ["scans, the lookup table", "all later scans, ray casting"]),
        ({"near_guess": vary(dict.fromkeys(WRONG, 1.0))}, ["before, the lookup table", "before, many small"]),
        ({"error": vary(WRONG | {"sectors": 1.6})}, ["source's models", "all later scans, ray casting"]),
        ({"error": vary(WRONG | {"large net": 1.1})}, ["than sectors", "all later scans, ray casting"]),
        ({"near_error": vary(NEAR | {"map": 1.3})}, ["before, ray casting", "all later scans, ray casting"]),
        ({"spearman": lambda _: np.array([0.95] * 5 + [0.3])}, ["all later scans, ray casting", "rank correlation"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    found = failing(**changes)
    missing = [word for word in words if not any(word in claim.text for claim in found)]
    assert not missing


def test_the_note_compares_the_rank_correlation_with_that_of_a_map():
    claim = failing(spearman=lambda _: np.full(6, 0.3), near_spearman=lambda job: np.full(6, len(job["method"]) / 10))[
        -1
    ]
    assert "0.50 to 0.50 for the 40% of later scans that are within 1 m" in claim.note
    assert "a map has 0.30 to 0.30" in claim.note


def test_a_smaller_error_at_most_cuts_is_not_enough():
    worse = WRONG | {"local": 1.61}
    claim = failing(error=lambda job: vary(worse if job["cut"] == 0.7 else WRONG)(job))[0]
    assert "3 of 4 cuts" in claim.note


def test_the_note_compares_local_and_lookup_where_both_have_seen_such_rays():
    claim = failing(error=vary(WRONG | {"lookup": 1.0}), alike_error=vary(WRONG | {"lookup": 1.1}))[0]
    assert (
        "For the 10% of later rays that are like an earlier one (within 0.25 m, or 7 degrees), local: 117" in claim.note
    )


def test_each_log_has_its_own_claims():
    study = Real()
    assert study.names == ("intel-corrected", "intel-graph")
    worse = WRONG | {"lookup": 1.0}
    claims = study.claims(made_up(study, error=lambda job: vary(worse if job["log"] == "intel-graph" else WRONG)(job)))
    assert len(claims) == 22
    first = [claim for claim in claims if "many small polynomials are more accurate than lookup" in claim.text]
    assert [claim.holds for claim in first] == [True, True, False, True]


def test_logs_of_the_same_name_are_refused():
    with pytest.raises(ValueError, match="the values must all differ"):
        Real(logs=("a/x.log", "b/x.log.gz"))


def test_a_ray_is_like_an_earlier_one_if_place_and_direction_are():
    bearings = np.radians(np.arange(-87.5, 90.0, 5.0))
    first = Sensorgraph(np.zeros((1, 3)), np.ones((1, 36)), bearings)
    poses = np.array([[0.1, 0.0, 0.05], [0.1, 0.0, np.pi], [0.5, 0.0, 0.0]])
    found = alike_rays(first, Sensorgraph(poses, np.ones((3, 36)), bearings))
    np.testing.assert_array_equal(found, [[True] * 6, [False] * 6, [False] * 6])


def test_claims_about_missing_methods_are_left_out():
    study = Real(methods=("sectors", "net"))
    assert study.claims(made_up(study)) == []


def test_a_missing_log_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SANDLOT_DATA", str(tmp_path))
    study = Real()
    assert study.paths == tuple(tmp_path / log for log in LOGS)
    with pytest.raises(SandlotError, match=r"there is no log .*Intel Research Lab.*set logs to") as caught:
        run(study, tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()
    assert list(study.scenes(made_up(study))) == []


def test_without_the_variable_logs_are_looked_for_here(monkeypatch):
    monkeypatch.delenv("SANDLOT_DATA", raising=False)
    assert Real().paths == Real().logs == LOGS
    assert Real(logs=("/a/x.log",)).paths == (Path("/a/x.log"),)


def made_log(path, laps=2.5, scans=120):
    """A CARMEN log of a robot that goes round and round a room of 8 m by 6 m."""
    lines = []
    for k, angle in enumerate(np.linspace(0.0, 2.0 * np.pi * laps, scans)):
        x, y, yaw = 2.5 * np.cos(angle), 1.5 * np.sin(angle), angle + 0.5 * np.pi
        beams = yaw + np.radians(np.arange(-90, 90, 5)) + 1e-4  # so that no beam is parallel to a wall
        away = [(np.sign(d) * half - at) / d for at, half, d in ((x, 4, np.cos(beams)), (y, 3, np.sin(beams)))]
        ranges = " ".join(f"{each:.3f}" for each in np.minimum(*away))
        pose = f"{x:.3f} {y:.3f} {yaw:.4f}"
        lines.append(f"FLASER {len(beams)} {ranges} {pose} {pose} {k} host {k}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    directory = tmp_path_factory.mktemp("real")
    small = Real(logs=(made_log(directory / "a.log"),), cuts=(0.5, 0.8), methods=("local", "lookup", "map"))
    return run(small, directory / "run", workers=1)


def test_a_small_run_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert len(outcome.claims) == 10
    pictures = list(study.scenes(results))
    assert len(pictures) == 2
    assert "100% of the later poses" in pictures[0].caption
    for figure in [study.figure(results), *(picture.figure for picture in pictures)]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_a_room_seen_before_is_predicted_well(outcome):
    results = outcome.results
    assert results["error"].shape == (6, 6)
    assert np.all(results["near_share"] == 1.0)
    np.testing.assert_array_equal(results["error"], results["near_error"])
    assert results["error"].values.mean(1).max() < 0.4


def test_without_near_scans_their_errors_are_nan(tmp_path):
    study = Real(logs=(made_log(tmp_path / "a.log", laps=0.9),), cuts=(0.5,), near=0.01, methods=("lookup",))
    found = study.run(next(study.jobs()))
    assert found["near_share"] == 0.0
    assert np.isnan(found["near_error"]).all()
    assert np.isnan(found["near_guess"]).all()
    assert np.isfinite(found["error"]).all()


def test_a_cut_that_leaves_too_few_scans_is_refused(tmp_path):
    study = Real(logs=(made_log(tmp_path / "a.log"),), cuts=(0.5, 0.9))
    with pytest.raises(SandlotError, match=r"make a part of 12 of the 120 scans .* each part needs 20"):
        study.check()


def test_longest_run_of_true_values():
    assert _longest(np.array([1, 0, 1, 1, 0, 1, 1, 1, 0], bool)) == slice(5, 8)
    assert _longest(np.zeros(3, bool)) == slice(0, 0)
    assert _longest(np.ones(3, bool)) == slice(0, 3)


@pytest.mark.parametrize("log", LOGS, ids=str)
def test_a_map_is_the_most_accurate_and_windows_improve_the_table_on_real_logs(log):
    study = Real(logs=(real_log(str(log)),), cuts=(0.6,), methods=("local", "scans", "lookup", "map"))
    study.check()
    local, scans, lookup, drawn = (study.run(job) for job in study.jobs())
    assert drawn["error"].mean() < min(local["error"].mean(), lookup["error"].mean())
    for quantity in ("error", "near_error"):
        assert local[quantity].mean() < scans[quantity].mean()
        assert lookup[quantity].mean() < scans[quantity].mean()
    assert 0.1 < local["near_share"] < 0.9
