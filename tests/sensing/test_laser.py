"""A laser has the errors that are set, and no others."""

import math

import numpy as np
import pytest
from numba import config

from sandlot.errors import SandlotError
from sandlot.places.plans import load_plan, make_plan
from sandlot.sensing.laser import Laser, incidence
from sandlot.settings import build
from twins import laser as twin

WALL = make_plan([(2.0, -50.0, 2.0, 50.0)])
HERE = [(0.0, 0.0, 0.0)]
SCANS = 30 if config.DISABLE_JIT else 300
"""More than the laser takes at a time, unless that takes too long without compilation."""
EXACT = Laser().exact()


def only(**faults):
    return EXACT.model_copy(update=faults)


def chance(seed=0):
    return np.random.default_rng(seed)


def test_an_exact_laser_measures_exactly():
    ranges = EXACT.scan(WALL, HERE, chance())
    seen = np.isfinite(ranges[0])
    assert np.allclose(ranges[0, seen], 2.0 / np.cos(EXACT.bearings[seen]))
    assert np.array_equal(seen, 2.0 / np.cos(EXACT.bearings) < EXACT.max_range)


def test_the_same_seed_gives_the_same_scans_with_any_number_of_threads():
    plan, poses = load_plan("office"), np.column_stack([chance(1).uniform(1.0, 11.0, (SCANS, 2)), np.zeros(SCANS)])
    laser = Laser(beams=20)
    one, other = (laser.scan(plan, poses, chance(), threads) for threads in (1, 3))
    assert one.shape == (SCANS, 20)
    assert np.array_equal(one, other, equal_nan=True)
    assert not np.array_equal(one, laser.scan(plan, poses, chance(1)), equal_nan=True)
    assert laser.scan(plan, [], chance()).shape == (0, 20)


FAULTS = {
    "all": {},
    "wide": {"divergence": 0.1, "missing": 0.2, "field_of_view": 6.0},
    "thin": {"divergence": 0.0, "noise_growth": 0.0},
    "shiny": {"specular": 1.5, "missing": 0.0, "mixed": 0.0},
    "none": dict.fromkeys(("noise", "noise_growth", "missing", "specular", "mixed"), 0.0),
}


@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("plan", ["arena", "flat"])
def test_kernel_equals_numpy_twin(plan, faults):
    drawn, laser = load_plan(plan), Laser(beams=60, **FAULTS[faults])
    low, high = drawn.bounds[:2], drawn.bounds[2:]
    poses = np.column_stack([chance(1).uniform(low, high, (40, 2)), chance(2).uniform(-3.0, 3.0, 40)])
    np.testing.assert_array_equal(laser.scan(drawn, poses, chance()), twin.scan(laser, drawn, poses, chance()))


@pytest.mark.parametrize("faults", FAULTS)
def test_scans_with_one_generator_each_do_not_depend_on_each_other(faults):
    plan, laser = load_plan("flat"), Laser(beams=12, **FAULTS[faults])
    poses = np.column_stack([chance(1).uniform(1.0, 7.0, (SCANS, 2)), np.zeros(SCANS)])
    together, alone = ([chance(seed) for seed in range(SCANS)] for _ in range(2))
    for _ in range(2):
        ranges = laser.scan(plan, poses, together)
        for k, pose in enumerate(poses):
            np.testing.assert_array_equal(ranges[k], laser.scan(plan, pose, alone[k])[0])


def test_noise_grows_with_the_range():
    for growth, wanted in ((0.0, 0.01), (0.02, 0.05)):
        laser = only(noise=0.01, noise_growth=growth, beams=1, field_of_view=0.1)
        errors = laser.scan(WALL, np.repeat(HERE, 4000, 0), chance()) - 2.0
        assert errors.std() == pytest.approx(wanted, rel=0.05)
        assert abs(errors.mean()) < 0.1 * wanted


def test_missing_returns():
    ranges = only(missing=0.1, field_of_view=1.0).scan(WALL, np.repeat(HERE, 50, 0), chance())
    assert np.isnan(ranges).mean() == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("shine", [0.0, 0.1, 0.5, 1.0])
def test_shiny_walls_return_nothing_at_grazing_angles(shine):
    wall = make_plan(WALL.segments, shine=shine)
    ranges = only(specular=1.2, max_range=1000.0).scan(wall, HERE, chance())[0]
    met = EXACT.model_copy(update={"max_range": 1000.0}).cast(wall, HERE).hits[0] >= 0
    grazing = 0.5 * math.pi - np.abs(EXACT.bearings)
    assert np.array_equal(np.isfinite(ranges), met & (grazing >= shine * 1.2))


def test_incidence_on_segments_and_circles():
    plan = make_plan([(2.0, -1.0, 4.0, 1.0)], [(-5.0, 0.0, 2.0)])
    poses = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, math.pi), (0.0, math.sqrt(2.0), math.pi), (0.0, 0.0, 1.5)])
    laser = only(beams=1, field_of_view=0.1)
    hits = laser.cast(plan, poses).hits
    assert hits[:, 0].tolist() == [0, 1, 1, -1]
    met = zip(hits[:3, 0].tolist(), poses[:3].tolist(), strict=True)
    cosines = [incidence(hit, *pose, plan.walls) for hit, pose in met]
    assert np.allclose(cosines, [math.sqrt(0.5), 1.0, math.sqrt(0.5)])
    assert np.allclose(twin.incidence(plan, poses, laser.bearings, hits)[:, 0], [*cosines, 1.0])


def test_a_beam_over_an_edge_returns_a_range_between_both_sides():
    # The edge of a near wall is straight ahead, and a far wall behind it.
    plan = make_plan([(2.0, 0.0, 2.0, 5.0), (4.0, -9.0, 4.0, 9.0)])
    laser = only(beams=1, field_of_view=0.1, mixed=0.5, divergence=0.01)
    ranges = laser.scan(plan, np.repeat(HERE, 1000, 0), chance())[:, 0]
    between = (ranges > 2.01) & (ranges < 3.99)
    assert between.mean() == pytest.approx(0.5, abs=0.06)
    assert np.ptp(ranges[between]) > 1.8
    beside = laser.scan(plan, [(0.0, 0.03, 0.0)], chance())
    assert beside[0, 0] == pytest.approx(2.0)


def test_ranges_are_never_negative():
    near = make_plan([(0.01, -50.0, 0.01, 50.0)])
    assert (only(noise=1.0, field_of_view=1.0).scan(near, HERE, chance()) >= 0.0).all()


def test_mistakes_are_explained():
    with pytest.raises(SandlotError, match=r"beams=0.*at least 1"):
        build(Laser, {"beams": 0})
    with pytest.raises(SandlotError, match=r"missing=2.*at most 1"):
        build(Laser, {"missing": 2})
