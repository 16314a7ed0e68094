"""The studies of leveling by driving alone: measures, bodies, each claim can hold and fail, and small runs."""

import io
import itertools

import numpy as np
import pytest

from claims import changed, failing, scaled
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model
from sandlot.settings import build
from sandlot.studies import find
from sandlot.studies.leveling.bodies import BLADE_MASS, KINDS, LOAD, make_body
from sandlot.studies.leveling.flatness import MEASURES, measure, smooth
from sandlot.studies.leveling.swarm import OUTCOMES, SAMPLES, lattice
from sandlot.studies.runner import run

SPACING = 0.01
TINY = {
    "leveling.passive": {"minutes": 0.01, "rovers": 1, "hills": {"nodes": 100}},
    "leveling.fleet": {
        "minutes": 0.02,
        "long_minutes": 0.02,
        "long_rovers": 2,
        "rovers": [1, 2],
        "hills": {"nodes": 100},
    },
    "leveling.bridge": {
        "minutes": 0.02,
        "rovers": 2,
        "replicates": 2,
        "grid": {"shape": [16, 16]},
        "hills": {"nodes": 100},
    },
}


def waves(length, height=0.01, nodes=200):
    """Waves of a length and an amplitude [m] along x."""
    x = SPACING * np.arange(nodes)
    return np.tile(height * np.cos(2.0 * np.pi * x / length), (nodes, 1))


def test_hills_and_ruts_are_told_apart():
    hills, ruts = waves(2.0, 0.03), waves(0.05, 0.004)
    np.testing.assert_allclose(smooth(hills + ruts, SPACING), hills, atol=1e-12)
    found = measure(hills, 0.8 * hills + ruts, SPACING)
    assert set(found) == set(MEASURES)
    assert found["left"] == pytest.approx(0.8)
    assert found["hill_sd"] == pytest.approx(0.8 * hills.std())
    assert found["rut_sd"] == pytest.approx(ruts.std())
    assert found["height_sd"] == pytest.approx(np.hypot(found["hill_sd"], found["rut_sd"]))
    assert found["peaks"] == pytest.approx(-found["valleys"], rel=1e-6)
    assert -0.2 * 0.03 < found["peaks"] < -0.19 * 0.03
    assert found["steepest_hill"] == pytest.approx(0.8 * 0.03 * np.pi, rel=0.01)
    assert found["steepest"] > 3.0 * found["steepest_hill"]


def test_untouched_ground_has_not_changed():
    found = measure(waves(1.0), waves(1.0), SPACING)
    assert (found["left"], found["driven"], found["driven_sd"], found["moved"]) == (pytest.approx(1.0), 0.0, 1.0, 0.0)


def test_driven_ground_is_compared_with_itself():
    before, after = waves(1.0), waves(1.0)
    after[:50] *= 2.0
    found = measure(before, after, SPACING)
    assert 0.15 < found["driven"] < 0.25
    assert found["driven_sd"] == pytest.approx(2.0)


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_have_their_mass_and_the_blade_reaches_the_ground(kind, tmp_path):
    model = build_model([load_rover(make_body(kind, tmp_path))], np.zeros((1, 6))).model
    assert model.body_mass.sum() == pytest.approx(2.0 + {"heavy": LOAD, "blade": BLADE_MASS}.get(kind, 0.0))
    plain = build_model([load_rover("wheeled")], np.zeros((1, 6))).model
    assert model.ngeom > plain.ngeom if kind == "blade" else model.ngeom == plain.ngeom


@pytest.mark.parametrize("count", [1, 2, 7, 32])
def test_rovers_start_spread_over_the_map(count):
    poses = np.array(lattice(count, 1.8, np.random.SeedSequence(0)))
    assert poses.shape == (count, 3)
    assert np.abs(poses[:, :2]).max() < 0.9
    assert count == 1 or min(np.hypot(*(a - b)[:2]) for a, b in itertools.combinations(poses, 2)) >= 0.29


@pytest.mark.parametrize("name", TINY)
def test_a_tiny_run_draws_and_claims(name, tmp_path):
    study = build(find(name), TINY[name])
    outcome = run(study, tmp_path)
    assert outcome.claims
    assert all(claim.text and claim.source and str(claim.measured) for claim in outcome.claims)
    study.figure(outcome.results).savefig(io.BytesIO(), format="png", dpi=30)
    job = list(study.jobs())[-1]
    for quantity, value in study.run(job).items():
        np.testing.assert_array_equal(value, outcome.results[quantity].values[job.index])
    if "time" in study.outcomes:
        assert (np.diff(outcome.results["time"].values, axis=1) > 0.0).all()
        assert (outcome.results["exploded"] == 0.0).all()


def series(end, start=1.0):
    """A quantity that changes from its start to its end."""
    return np.linspace(start, end, SAMPLES)


LOST = {"rest": 0.0, "walk": 0.01, "charge": 0.03, "spin": 0.06, "memory": 0.1}
"""Share that hills lose with each rule, if the source is right."""


def ideal_left(job):
    extra = 0.02 if job.get("part") == "change" else 0.0
    return series(1.0 - LOST[job["rule"]] - extra)


IDEAL = {
    "height_sd": lambda job: series(0.02 if LOST[job["rule"]] > 0.01 else 0.025, 0.025),
    "hill_sd": lambda job: series(0.0249, 0.025),
    "rut_sd": lambda job: series(0.005, 0.0),
    "steepest": lambda job: series(0.1, 0.2),
    "peaks": lambda job: series(-0.001, 0.0),
    "valleys": lambda job: series(0.001, 0.0),
    "left": ideal_left,
    "before": lambda job: waves(1.8, 0.03536, 180),
    "after": lambda job: np.zeros((180, 180)),
    "exploded": lambda job: 0.0,
    "slip": lambda job: 0.2,
    **{
        name: lambda job: series(1.0)
        for name in ("time", "steepest_hill", "flat_share", "driven", "driven_sd", "moved")
    },
}


def test_all_claims_about_driving_alone_can_hold():
    assert failing(find("leveling.passive")(), **IDEAL) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"height_sd": scaled(1.3)}, ["terrain, soft soil", "terrain, mid soil", "With one of these changes"]),
        ({"height_sd": scaled(1.3, soil="mid", part="main")}, ["levels a terrain, mid soil"]),
        ({"steepest": scaled(4.0, soil="soft")}, ["By the source's own measure"]),
        ({"peaks": scaled(-1.0, rule="spin", soil="mid", part="main")}, ["Soil moves from peaks"]),
        ({"rut_sd": scaled(0.1, rule="walk", soil="mid")}, ["Ruts add more"]),
        ({"left": scaled(0.9, rule="walk", soil="mid", fidelity="reference")}, ["Charging", "Hills in the learned"]),
        ({"left": scaled(1.1, body="blade", soil="soft")}, ["A rover with a blade"]),
        ({"left": scaled(1.1, body="heavy")}, ["A rover of three times"]),
        ({"left": scaled(1.1, soil="loose")}, ["Soil that slides"]),
        ({"left": scaled(0.99, rule="rest")}, ["Rovers that stand still"]),
        ({"rut_sd": scaled(2.0, fidelity="learned", rule="spin")}, ["Ruts in the learned"]),
        ({"slip": scaled(4.0, soil="soft")}, ["Rovers drive more than they slip"]),
    ],
)
def test_each_claim_about_driving_alone_can_fail(change, words):
    outcomes = changed(IDEAL, **{name: _end(f) for name, f in change.items()})
    texts = failing(find("leveling.passive")(), **outcomes)
    assert len(texts) == len(words)
    for word in words:
        assert any(word in text for text in texts)


def _end(change):
    """Change only the last value of a series, or a single one."""

    def at_the_end(job, values):
        values = np.atleast_1d(np.array(values))
        values[-1] = change(job, values[-1])
        return values if len(values) > 1 else values[0]

    return at_the_end


def fleet_left(job):
    return series(1.0 - LOST[job["rule"]] * (1.0 + 0.1 * (job["terrain"] % 3)))


def test_claims_about_swarms_hold_and_fail():
    fleet = find("leveling.fleet")()
    sized = changed(IDEAL, left=lambda job, _: fleet_left(job))
    assert failing(fleet, **sized) == []
    grown = changed(sized, left=_end(lambda job, left: left - 0.002 * job["rovers"]))
    texts = failing(fleet, **changed(grown, height_sd=lambda job, _: series(0.03, 0.025)))
    assert any("size of the swarm" in text for text in texts)
    assert any("Hours" in text for text in texts)
    same = changed(IDEAL, left=lambda job, _: series(0.9))
    assert sum("lowers hills more" in text for text in failing(fleet, **same)) == 3


def bridge(slower, thriftier):
    """Outcomes in which each memory changes pace and thrift by these factors in the terrain world."""

    def value(quantity, factors):
        grid = {"pace": {"own": 0.5, "shared": 0.3}, "thrift": {"own": 2.0, "shared": 1.5}}[quantity]
        return lambda job: (
            (grid if job["world"] == "grid" else factors).get(job["memory"], 1.0) * (1.0 + 0.01 * job["replicate"])
        )

    return {"pace": value("pace", slower), "thrift": value("thrift", thriftier), "flat": lambda job: 1.0}


def test_the_bridge_compares_orders():
    study = find("leveling.bridge")()
    assert failing(study, **bridge({"own": 0.6, "shared": 0.4}, {"own": 1.9, "shared": 1.4})) == []
    texts = failing(study, **bridge({"own": 1.2, "shared": 1.1}, {"own": 0.9, "shared": 0.8}))
    assert len(texts) == 4
    assert not any("grid world, agents" in text for text in texts)
    assert any("order of rules by pace" in text for text in texts)
    cut = bridge({"own": 0.6, "shared": 0.4}, {"own": 1.9, "shared": 1.4}) | {"flat": lambda job: 0.0}
    assert len(failing(study, **cut)) == 4


def test_every_measure_is_an_outcome():
    assert set(MEASURES) < set(OUTCOMES)
