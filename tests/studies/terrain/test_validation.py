"""The study of the ground: what it claims of made-up results, and that it runs."""

import io

import numpy as np
import pytest
import xarray as xr
from numba import config

from sandlot.physics.soil import PRESETS
from sandlot.studies.runner import run
from sandlot.studies.terrain import heaps, keeping, plate, slope, steps, turning, wheel
from sandlot.studies.terrain.plate import AGAIN, DOWN, SPRING, Plate, bekker
from sandlot.studies.terrain.scenes import Scenes
from sandlot.studies.terrain.trial import Case
from sandlot.studies.terrain.validation import TRIALS, Validation
from sandlot.studies.terrain.wheel import CHRONO, Wheel, limit

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
SMALL = {
    "plate": {"spacings": [0.05]},
    "wheel": {"spacings": [0.05, 0.04], "slips": [0.0, 0.3], "seconds": 0.2},
    "turning": {"seconds": 0.2},
    "slope": {"angles": [0.0, 10.0], "seconds": 0.1},
    "heaps": {"frictions": [0.2, 0.9], "length": 14, "width": 4, "layers": 4},
    "volume": {"steps": 200},
    "grains": {"steps": 100},
    "halving": {"seconds": 0.2},
    "energy": {"seconds": 0.5},
    "scenes_of": {"seconds": 0.2, "side": 0.8, "bed": [0.4, 0.3, 0.04], "grain": 0.02, "way": 0.1},
}


def ideal(study, trial, case):
    """What a job finds if all is as it should be."""
    grounds = {"detail": case.detail, "ground": case.ground}
    soil = PRESETS.get(grounds["ground"])
    if trial == "plate":
        load = bekker(case.ground, DOWN)[-1]
        again = np.where(AGAIN - DOWN[-1] < -1e-9, 0.0, bekker(case.ground, AGAIN))
        line = load * (1.0 - SPRING)
        return {"plate_down": bekker(case.ground, DOWN), "plate_up": line, "plate_back": line, "plate_again": again}
    if trial == "wheel":
        slips = np.array(study.wheel.slips)
        known = sorted((slip, *found) for (ground, slip), found in CHRONO.items() if ground == case.ground) or [
            (0.0, 0.003, -5.0),
            (0.7, 0.003, 290.0),
        ]
        at, depth, pull = np.array(known).T
        sinkage = np.interp(slips, at, depth)
        ends = [(-1.0, pull[0] - 100.0), *zip(at, pull, strict=True), (slips[-1], limit(case.ground, sinkage[-1]))]
        return {"wheel_sinkage": sinkage, "wheel_pull": np.interp(slips, *np.array(ends).T)}
    if trial == "turning":
        linear, angular = np.array(turning.COMMANDS).T
        return {"turning_speed": linear, "turning_rate": turning.EXPECTED[case.body] * angular}
    if trial == "slope":
        angles = np.array(study.slope.angles)
        depth = 0.02 if case.ground == "soft" else 0.01
        return {"slope_slip": angles / 28.0, "slope_sinkage": np.full(len(angles), depth)}
    if trial == "heaps":
        return {"heaps_angle": np.radians(20.5 + 20.0 * case.detail if case.body == "cliff" else case.detail)}
    if trial == "volume":
        return {"volume_change": np.full(keeping.CHECKS, 1e-16), "volume_moved": 1e-3}
    if trial == "grains":
        return {"grains_count": 100.0, "grains_lost": 0.0, "grains_low": 0.9}
    if trial == "halving":
        return {"halving_away": np.linspace(0.0, 0.01, 100), "halving_length": 1.5}
    course = np.linspace(2.0, 1.0, study.energy.lengths()["energy_time"])
    assert soil is not None
    return {"energy": np.tile(course, (3, 1))}


def made_up(study, changes=None):
    """Results that are ideal, but for what ``changes`` make of outcomes: functions of a case and a value."""
    table = []
    for job in study.jobs():
        trial = str(job.parameters["trial"])
        case = Case(*(job.parameters[name] for name in Case._fields))
        row = {name: value for each in study.trials().values() for name, value in each.nothing().items()}
        mine = ideal(study, trial, case)
        assert mine.keys() == study.trials()[trial].outcomes.keys()
        for name, change in (changes or {}).items():
            if name in mine:
                mine[name] = change(case, mine[name])
        table.append({**job.parameters, **row, **mine})
    dims = {name: ("job", *study.outcomes[name].dims) if name in study.outcomes else ("job",) for name in table[0]}
    return xr.Dataset({name: (dims[name], np.array([row[name] for row in table])) for name in table[0]})


def failing(changes=None):
    study = Validation()
    claims = study.claims(made_up(study, changes))
    assert all(type(claim.holds) is bool and claim.text and claim.source and claim.measured for claim in claims)
    return {claim.text for claim in claims if not claim.holds}


TURNS = "Rovers turn as the equations of differential drive say."


def test_all_claims_but_one_hold_if_all_is_as_expected():
    """Rovers that turn as they should do not turn as the equations of differential drive say."""
    assert failing() == {TURNS}
    assert TURNS not in failing({"turning_rate": lambda case, x: x / turning.EXPECTED[case.body]})


@pytest.mark.parametrize("far", [0.2, 4.0])
def test_no_line_runs_behind_the_legend_of_half_the_step(far):
    study = Validation()
    figure = study.figure(made_up(study, {"halving_away": scaled(far)}))
    figure.savefig(io.BytesIO(), format="png")
    (axes,) = (axes for axes in figure.axes if axes.get_title() == "half the step")
    legend = axes.get_legend().get_window_extent().transformed(axes.transData.inverted())
    lines = [line for line in axes.lines if len(line.get_ydata())]
    assert len(lines) == 9
    assert legend.y0 > max(np.max(line.get_ydata()) for line in lines)


def scaled(factor, **only):
    """Multiply where the case is as ``only`` says."""
    return lambda case, x: x * (factor if all(getattr(case, k) == v for k, v in only.items()) else 1.0)


def bump(at, size):
    """Add to the value of one index."""

    def change(case, x):
        x = np.array(x, float)
        x[..., at] += size
        return x

    return change


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"plate_down": bump(20, 400.0)}, ["sinks as Bekker"]),
        ({"plate_up": bump(5, 5e3)}, ["elastic line", "the same line"]),
        ({"plate_back": bump(5, 5e3)}, ["the same line"]),
        ({"plate_again": bump(2, 5e3)}, ["before the old depth"]),
        ({"plate_again": bump(30, 5e4)}, ["Bekker's curve again"]),
        ({"plate_down": bump(20, np.nan)}, ["sinks as Bekker"]),
        ({"wheel_pull": lambda case, x: np.abs(x)}, ["crosses zero once", "all the way", "pulls as much"]),
        ({"wheel_pull": bump(12, -200.0)}, ["all the way"]),
        ({"wheel_pull": bump(-1, 40.0)}, ["Mohr and Coulomb"]),
        ({"wheel_sinkage": scaled(0.8, ground="soft")}, ["as deep as in Project Chrono"]),
        ({"wheel_pull": bump(7, -60.0)}, ["pulls as much", "all the way"]),
        ({"wheel_sinkage": scaled(1.11, ground="LETE sand", detail=0.01)}, ["Halving the grid"]),
        ({"wheel_sinkage": scaled(np.nan, detail=0.005)}, ["Halving the grid"]),
        ({"turning_speed": scaled(0.96, body="tracked")}, ["as fast as their wheels"]),
        ({"turning_rate": scaled(0.96, body="axle")}, ["on one axle"]),
        ({"turning_rate": scaled(0.8, body="wheeled")}, ["slips along and across"]),
        ({"slope_sinkage": scaled(0.4, ground="soft")}, ["sink in"]),
        ({"slope_slip": bump(2, -0.9)}, ["slip more"]),
        ({"slope_slip": scaled(1.4)}, ["stall"]),
        ({"slope_slip": scaled(0.5)}, ["stall"]),
        ({"heaps_angle": scaled(0.7, body="cliff")}, ["between 20 and 40"]),
        ({"heaps_angle": scaled(0.7, detail=0.9)}, ["grows with friction"]),
        ({"heaps_angle": scaled(1.1, body="cone")}, ["angle of repose"]),
        ({"volume_change": scaled(1e8)}, ["keeps its volume"]),
        ({"volume_moved": scaled(0.0)}, ["keeps its volume"]),
        ({"grains_lost": lambda case, x: 1.0}, ["no particle is lost"]),
        ({"grains_low": lambda case, x: -0.1}, ["no particle is lost"]),
        ({"halving_away": scaled(4.0, body="tracked", ground="mid")}, ["Half the step"]),
        ({"energy": bump(100, 1.5)}, ["more energy", "grow later"]),
        ({"energy": bump(300, 0.3)}, ["grow later"]),
        ({"energy": scaled(np.nan, ground="rigid")}, ["more energy", "grow later"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    texts = failing(changes) - {TURNS}
    assert len(texts) == len(words)
    assert all(any(word in text for text in texts) for word in words)


def test_where_nothing_is_known_of_chrono_nothing_is_claimed():
    study = Validation(wheel=Wheel(slips=(0.05, 0.95)))
    assert not any("Chrono" in claim.text for claim in study.claims(made_up(study)))


def test_one_grid_says_nothing_of_the_grid():
    study = Validation(wheel=Wheel(spacings=(0.02,)), plate=Plate(spacings=(0.02,)))
    (claim,) = (claim for claim in study.claims(made_up(study)) if "Halving the grid" in claim.text)
    assert not claim.holds


def test_trials_do_not_share_names():
    names = [name for trial in TRIALS for name in (*trial.outcomes, trial.name)]
    assert len(set(names) - {"energy"}) == len(names) - 2, "energy is a trial and its outcome"
    dims = [dim for trial in TRIALS for dim in {d for quantity in trial.outcomes.values() for d in quantity.dims}]
    assert len(set(dims)) == len(dims)


def test_jobs_are_numbered_and_seeded_by_their_number():
    jobs = list(Validation().jobs())
    assert [job.index for job in jobs] == list(range(len(jobs)))
    assert len({job.seed.spawn_key for job in jobs}) == len(jobs)
    assert {job.parameters["trial"] for job in jobs} == {trial.name for trial in TRIALS}


def test_the_limit_of_friction_counts_cohesion():
    assert limit("soft", 0.05) == pytest.approx(500.0 * np.tan(np.radians(30.0)))
    patch = 0.2 * np.sqrt(0.25**2 - 0.24**2)
    assert limit("LETE sand", 0.01) == pytest.approx(1300.0 * patch + 500.0 * np.tan(np.radians(31.1)))


def test_a_stall_is_found_between_slopes():
    trial = slope.Slope(angles=(0.0, 10.0, 20.0))
    assert trial.stall(np.array([0.1, 0.5, 1.5])) == pytest.approx(15.0)
    assert trial.stall(np.array([0.1, 0.5, 40.0])) == pytest.approx(15.0), "how fast it slides down does not matter"
    assert trial.stall(np.array([0.1, 0.2, 0.3])) == np.inf
    assert trial.stall(np.array([1.1, 1.2, 1.3])) == 0.0


def test_an_angle_is_that_of_the_slope_and_not_of_its_ends():
    x = np.linspace(0.0, 10.0, 101)
    assert heaps._angle(x, np.clip(6.0 - x, 0.0, 4.0)) == pytest.approx(45.0)
    assert heaps._angle(x, np.zeros(101)) == 0.0


def test_peaks_are_of_quarters_of_a_second():
    course = np.zeros(76)
    course[[1, 25, 26, 75]] = 1.0, 2.0, 5.0, 3.0
    assert steps.peaks(course).tolist() == [2.0, 5.0, 3.0]


def test_hard_plates_feel_bekkers_law():
    assert bekker("LETE sand", np.array(0.05)) == pytest.approx(0.08 * (1.02e5 / 0.2 + 5.301e6) * 0.05**0.793)
    assert plate.CHRONO[0.05] / bekker("soft", np.array(0.05)) == pytest.approx(1.16, abs=0.01)
    assert wheel.CHRONO["mid", 0.3] == (0.02558, 226.527)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run(Validation(**SMALL), tmp_path_factory.mktemp("validation"), workers=1)


@compiled
def test_a_small_run_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert outcome.claims
    assert all(type(claim.holds) is bool and str(claim.measured) for claim in outcome.claims)
    for figure in [study.figure(results), *(picture.figure for picture in study.scenes(results))]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


@compiled
@pytest.mark.parametrize("trial", ["plate", "wheel", "slope", "heaps", "volume", "grains", "energy"])
def test_a_job_done_again_is_the_same(outcome, trial):
    study, results = outcome.study, outcome.results
    job = [each for each in study.jobs() if each.parameters["trial"] == trial][-1]
    found = study.run(job)
    for name in study.outcomes:
        assert np.array_equal(found[name], results[name].values[job.index], equal_nan=True)
    assert all(np.isfinite(found[name]).all() for name in study.trials()[trial].outcomes)


@compiled
def test_a_plate_follows_bekkers_curve():
    found = Plate().measure(Case("plate", "mid", 0.03), np.random.SeedSequence(0))
    assert found["plate_down"] == pytest.approx(bekker("mid", DOWN), rel=0.02)
    assert found["plate_back"] == pytest.approx(found["plate_up"], rel=1e-6)


@compiled
def test_a_wheel_that_slips_pulls():
    small = Wheel(slips=(0.0, 0.5), seconds=1.0)
    pull = small.measure(Case("wheel", "mid", 0.02), np.random.SeedSequence(0))["wheel_pull"]
    assert pull[0] < 0.0 < pull[1]


@compiled
def test_scenes_can_be_small():
    captions = [picture.caption for picture in Scenes(**SMALL["scenes_of"]).pictures()]
    assert len(captions) == 2
