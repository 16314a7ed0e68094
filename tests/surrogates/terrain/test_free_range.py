"""Learned rovers stay within the physical range in every frame."""

from dataclasses import replace

import numpy as np
import pytest

from sandlot.physics.soil import PRESETS
from sandlot.places.terrains import TERRAINS
from sandlot.surrogates.terrain.contact import TILT
from sandlot.surrogates.terrain.free_range import AT_BOUND, BOUNDS, note_bounds, reached
from sandlot.surrogates.terrain.looking import STATE
from sandlot.surrogates.terrain.motion_model import SHIPPED, load_motion
from sandlot.surrogates.terrain.step import make_maps

MODEL = load_motion(SHIPPED / "wheeled")
SOILS = [PRESETS[name] for name in ("soft", "mid", "LETE sand")]
HILLS = TERRAINS["B"].heights((60, 60), 0.01)


def share(model, heights, steps, **how):
    """Share of rovers at each bound in any frame."""
    return dict(zip(BOUNDS, reached(model, heights, SOILS, 300, steps, 0, **how).mean(axis=0), strict=True))


@pytest.mark.parametrize("deforms", [False, True])
def test_random_starts_stay_within_the_range(deforms):
    assert set(share(MODEL, HILLS, 200, deforms=deforms).values()) == {0.0}


def test_a_rover_at_a_bound_counts_as_outside():
    slow = replace(MODEL, limits=MODEL.limits * [1e-3, 1.0, 1.0])
    found = share(slow, np.zeros((50, 50)), 100)
    assert found["speed ahead"] > 0.9
    assert found["turn rate"] < 0.1
    assert found["pose"] == 0.0


def test_bounds_are_those_of_plain_python():
    """The kernel's twin, for states far inside, at and beyond bounds, and NaN."""
    learned, rng, low, high = MODEL.learned(), np.random.default_rng(0), *MODEL.ranges.T
    flat = np.full((1, 20, 30), 0.5)
    maps = make_maps(flat, flat, -0.1, 0.2, 0.01, True)
    for _ in range(200):
        state, found = np.zeros(1, STATE)[0], np.zeros(len(BOUNDS), np.bool_)
        speeds = rng.choice([0.0, 1.0, -1.0, 1.1, np.nan], 3, p=[0.6, 0.1, 0.1, 0.1, 0.1]) * MODEL.limits
        rest = low + rng.choice([0.5, 0.0, 1.0, np.nan], 3, p=[0.7, 0.1, 0.1, 0.1]) * (high - low)
        state["motion"], state["rest"] = speeds, rest
        state["position"] = rng.choice([0.0, np.inf, np.nan], 3, p=[0.8, 0.1, 0.1])
        state["position"][2] += 0.5
        state["attitude"] = rng.choice([0.0, 1.1, -1.3, np.nan], 3, p=[0.7, 0.1, 0.1, 0.1])
        note_bounds(learned, state, maps, 0, found)
        expected = [not abs(speeds[m]) < MODEL.limits[m] - AT_BOUND for m in range(3)]
        expected += [not low[m] + AT_BOUND < rest[m] < high[m] - AT_BOUND for m in range(3)]
        upright = bool((np.abs(state["attitude"][:2]) < TILT).all())
        assert found.tolist() == [*expected, not (np.isfinite(state["position"]).all() and upright)]


@pytest.mark.parametrize(("above", "outside"), [(-0.2, True), (0.0, False), (0.2, False), (0.4, True)])
def test_a_rover_in_the_air_or_in_the_ground_is_outside(above, outside):
    heights = np.arange(600.0).reshape(1, 20, 30)
    maps, state = make_maps(heights, heights, -0.1, 0.2, 0.01, True), np.zeros(1, STATE)[0]
    state["position"] = -0.1 + 0.32, 0.2 - 0.02, heights[0, 18, 2] + above  # beyond two edges
    state["rest"] = MODEL.ranges.mean(axis=1)
    found = np.zeros(len(BOUNDS), np.bool_)
    note_bounds(MODEL.learned(), state, maps, 0, found)
    assert found.tolist() == [False] * 6 + [outside]


def test_a_bound_that_was_left_again_counts():
    """With a bound just below the fastest, longer drives touch it more often, and no rover is forgotten."""
    slow = replace(MODEL, limits=0.3 * MODEL.limits)
    few, many = (reached(slow, HILLS, SOILS, 300, steps, 0) for steps in (100, 300))
    assert (few <= many).all()
    assert few.sum() < many.sum()


def test_a_rover_whose_speeds_are_not_numbers_is_outside():
    broken = replace(MODEL, scales=np.full_like(MODEL.scales, np.nan))
    assert reached(broken, np.zeros((50, 50)), SOILS, 3, 1, 0).any(axis=1).all()


def test_no_rovers_reach_nothing():
    assert reached(MODEL, HILLS, SOILS, 0, 10, 0).shape == (0, len(BOUNDS))


def test_the_result_does_not_depend_on_threads():
    slow = replace(MODEL, limits=0.3 * MODEL.limits)
    one, three = (reached(slow, HILLS, SOILS, 600, 50, 0, threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one, three)
