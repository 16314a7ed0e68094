"""How a rover lies on the ground, and what carries it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rover_contacts import CLEARANCE, TRACKED, WHEELED, Scene, hills, stress_at, values_of
from sandlot.surrogates.terrain.contact import (
    AHEAD,
    DRAGGED,
    ENTRY,
    LEAST_ENTRY,
    LEFT,
    LEVER,
    LOAD,
    NEAR,
    QUARTERS,
    REACH,
    RUT,
    SEEN,
    SHIFT,
    TILT,
    UNDER,
    look,
)
from sandlot.surrogates.terrain.springs import POINTS, PRECISION


@pytest.mark.parametrize("soil", ["soft", "mid"])
@settings(max_examples=10)
@given(seed=st.integers(0, 99), rows=st.integers(-14, 15), columns=st.integers(-17, 17), yaw=st.floats(-3.1, 3.1))
def test_ground_goes_on_beyond_the_edges_of_a_map_that_wraps(soil, seed, rows, columns, yaw):
    shift = 2 * rows, 2 * columns  # of the cells below the underside, every second one is searched
    initial = hills(seed)
    heights = initial - 0.002 * np.random.default_rng(seed).random(initial.shape)
    expected = Scene(heights, initial, soil=soil, wrap=True).look((0.003, -0.002), yaw)
    moved = Scene(np.roll(heights, shift, (0, 1)), np.roll(initial, shift, (0, 1)), soil=soil, wrap=True)
    seen = moved.look((0.003 + 0.01 * shift[1], -0.002 + 0.01 * shift[0]), yaw)
    np.testing.assert_allclose(seen, expected, atol=1e-6)


@pytest.mark.parametrize("shape", [WHEELED, TRACKED], ids=["wheeled", "tracked"])
@pytest.mark.parametrize("soil", ["mid", "LETE sand", "rigid"])
def test_on_level_ground_each_quarter_carries_a_quarter(shape, soil):
    seen = Scene(np.zeros((61, 61)), shape=shape, soil=soil).look()
    np.testing.assert_allclose(seen[LOAD : LOAD + QUARTERS], 1.0, atol=0.02)
    np.testing.assert_allclose(seen[AHEAD:NEAR], 0.0, atol=1e-9)
    np.testing.assert_allclose(seen[-2:], 0.0, atol=1e-6)


@pytest.mark.parametrize("soil", ["soft", "mid", "LETE sand", "rigid"])
@pytest.mark.parametrize("shape", [WHEELED, TRACKED], ids=["wheeled", "tracked"])
@pytest.mark.parametrize("seed", range(4))
def test_at_rest_the_ground_carries_the_weight(soil, shape, seed):
    scene = Scene(hills(seed), shape=shape, soil=soil)
    seen = scene.look((0.02, -0.03), 0.7 * seed)
    assert scene.unbalanced().max() < 0.02
    assert seen[LOAD : LOAD + QUARTERS].sum() + seen[UNDER : UNDER + QUARTERS].sum() == pytest.approx(4.0, abs=0.08)


def test_a_slope_is_seen_from_any_direction():
    y, x = np.mgrid[-40:41, -40:41] * 0.01
    yaw = 0.5
    seen = Scene(0.1 * x - 0.05 * y).look((0.05, -0.02), yaw)
    ahead, left = 0.1 * np.cos(yaw) - 0.05 * np.sin(yaw), -0.1 * np.sin(yaw) - 0.05 * np.cos(yaw)
    assert seen[-2:] == pytest.approx([ahead, left], abs=0.02)
    loads = seen[LOAD : LOAD + QUARTERS]
    np.testing.assert_allclose(seen[AHEAD : AHEAD + QUARTERS], loads * ahead, atol=1e-9)
    np.testing.assert_allclose(seen[LEFT : LEFT + QUARTERS], loads * left, atol=1e-9)
    assert loads[[1, 3]].sum() > loads[[0, 2]].sum()  # uphill is ahead: the rear carries more


@pytest.mark.parametrize("higher", [-0.02, -0.005, 0.005, 0.05, 0.3])
@pytest.mark.parametrize("soil", ["soft", "LETE sand"])
def test_the_rest_does_not_depend_on_where_the_search_begins(higher, soil):
    scene = Scene(hills(3), soil=soil)
    expected, rest = scene.look((0.02, 0.01), 0.4), scene.springs.rest.copy()
    scene.look((0.02, 0.01), 0.4, higher, looks=1)
    assert np.abs(scene.springs.rest - rest).max() < 10.0 * PRECISION  # 10 cm ahead of the middle
    again = scene.seen_again()
    np.testing.assert_allclose(again, expected, atol=0.02)


@pytest.mark.parametrize("shape", [WHEELED, TRACKED], ids=["wheeled", "tracked"])
@pytest.mark.parametrize("soil", ["soft", "LETE sand", "rigid"])
def test_on_rough_ground_a_second_look_changes_little(shape, soil):
    """Of a rover that was put down anywhere; on steep bumps of hard ground, a few still rock."""
    away = []
    for seed in range(40):
        scene = Scene(hills(seed, 0.06), shape=shape, soil=soil, wrap=True)
        scene.look((0.0, 0.0), 0.3 * seed, looks=1)
        rest = scene.springs.rest.copy()
        look(scene.body, scene.ground, *scene.at, scene.wheels, scene.give, scene.springs, np.zeros(SEEN))
        up, pitch, roll = np.abs(scene.springs.rest - rest)
        away.append(up + 0.1 * (pitch + roll))
        assert abs(rest[1:]).max() <= TILT
    assert np.quantile(away, 0.95) < REACH


def test_wheels_near_the_centre_of_mass_carry_more():
    scene = Scene(np.zeros((61, 61)), soil="rigid")
    scene.body = scene.body._replace(centre=np.array([0.03, -0.02, -0.01]))
    loads = scene.look()[LOAD : LOAD + QUARTERS]
    assert loads.sum() == pytest.approx(4.0, abs=0.02)
    assert loads[[0, 2]].sum() / 4.0 == pytest.approx(0.5 * (1.0 + 0.03 / WHEELED.corner[0]), abs=0.02)
    assert loads[[2, 3]].sum() / 4.0 == pytest.approx(0.5 * (1.0 + 0.02 / WHEELED.corner[1]), abs=0.02)


def test_a_twisted_ground_loads_two_wheels():
    y, x = np.mgrid[-40:41, -40:41] * 0.01
    loads = Scene(0.5 * x * y, soil="rigid").look()[LOAD : LOAD + QUARTERS]
    assert loads[[0, 3]].min() > 1.9  # front left and rear right
    assert loads[[1, 2]].max() < 0.1


def test_a_rover_on_a_bump_lies_on_its_underside():
    y, x = np.mgrid[-40:41, -40:41] * 0.01
    flat = Scene(np.zeros(x.shape)).look()
    assert flat[UNDER : UNDER + QUARTERS].sum() == 0.0
    bump = Scene(0.06 * ((np.abs(x) < 0.06) & (np.abs(y) < 0.05))).look()
    assert bump[UNDER : UNDER + QUARTERS].sum() > 2.0
    assert bump[NEAR : NEAR + QUARTERS].min() > flat[NEAR : NEAR + QUARTERS].max()


def test_ground_that_was_pressed_does_not_yield_again():
    """A rover rests in its own ruts as deep as it made them, not deeper."""
    fresh = Scene(np.zeros((61, 61)))
    fresh.look()
    depth = CLEARANCE - fresh.springs.rest[0]
    rutted = np.zeros((61, 61))
    for y in (-0.0955, 0.0955):
        rows = np.abs(np.arange(-30, 31) * 0.01 - y) < 0.03
        rutted[rows] = -depth
    scene = Scene(rutted, np.zeros((61, 61)))
    seen = scene.look()
    assert CLEARANCE - scene.springs.rest[0] == pytest.approx(depth, rel=0.3)
    np.testing.assert_allclose(seen[RUT : RUT + QUARTERS], depth, rtol=0.05)
    assert np.abs(seen[SHIFT : SHIFT + QUARTERS]).max() < 0.1


def test_quarters_that_carry_nothing_have_lengths():
    y, x = np.mgrid[-40:41, -40:41] * 0.01
    seen = Scene(0.5 * x * y, soil="rigid").look()
    assert seen[LOAD : LOAD + QUARTERS].min() == 0.0
    assert np.isfinite(seen).all()
    assert seen[ENTRY : ENTRY + QUARTERS].min() >= LEAST_ENTRY
    assert seen[DRAGGED : DRAGGED + QUARTERS].min() > 0.0
    assert seen[LEVER : LEVER + QUARTERS].min() > 0.0


def test_a_wheel_near_the_middle_counts_for_its_own_side():
    feet = WHEELED.feet.copy()
    wheels = feet["radius"] > 0.0
    feet["y"][wheels] = np.copysign(0.02, feet["y"][wheels])
    feet["half_width"][wheels] = 0.03
    scene = Scene(np.zeros((61, 61)), shape=replace(WHEELED, feet=feet), soil="soft")
    scene.wheels[:] = 4.0
    seen = scene.look()
    loads = seen[LOAD : LOAD + QUARTERS]
    np.testing.assert_allclose(loads[:2], loads[2:], rtol=1e-6)
    assert seen[LEVER : LEVER + QUARTERS].min() > 0.5 * WHEELED.radius


@pytest.mark.parametrize(("left", "right"), [(1, 1), (-1, -1), (1, -1), (-1, 1)])
def test_the_underside_has_gone_over_the_soil_from_its_foremost_part_on(left, right):
    """Each half of it from where the wheels of its side drive to."""
    scene = Scene(np.zeros((61, 61)), soil="soft")
    scene.heights[:] = 0.03 * (np.abs(np.arange(-30, 31)) < 7)[:, None] * (np.abs(np.arange(-30, 31)) < 7)
    scene.ground.initial[:] = scene.heights
    scene.wheels[:] = 3.0 * left, 3.0 * right
    seen = scene.look()
    assert seen[UNDER : UNDER + QUARTERS].min() > 0.0
    for side, sign in zip(seen[DRAGGED : DRAGGED + QUARTERS].reshape(2, 2), (left, right), strict=True):
        front, rear = side[::sign]
        assert 0.0 < front < rear < 0.2


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("shape", [WHEELED, TRACKED], ids=["wheeled", "tracked"])
def test_lengths_travelled_over_the_soil_are_those_of_a_plain_twin(shape, sign):
    """Soil comes below a wheel at the first spring that carries, and is as far below its centre as the rim there is."""
    scene = Scene(hills(5), shape=shape, soil="soft")
    scene.wheels[:] = 5.0 * sign, 3.0 * sign
    seen = scene.look((0.01, 0.02), 0.6)
    _, found = scene.gathered(*scene.at, scene.springs.rest.copy())
    gap, depth, drag, size, x, y = values_of(found)
    elastic, first = -scene.give.ratio * gap, 0
    loads = size * np.clip(np.minimum(elastic, stress_at(scene.give, -depth)), 0.0, None)
    loads += size * np.clip(np.minimum(elastic, drag), 0.0, None)
    sums = np.zeros((3, QUARTERS))
    round_feet = shape.feet["radius"] > 0.0
    for foot, last in zip(shape.feet[round_feet], scene.springs.ends[round_feet], strict=True):
        part = [k for k in range(first, last) if loads[k] > 0.0]
        begins = min(
            max(sign * scene.springs.along[k] for k in part) + 0.5 * 0.01 / POINTS, foot["straight"] + foot["radius"]
        )
        for k in part:
            quarter = (0 if x[k] >= 0.0 else 1) + (0 if y[k] >= 0.0 else 2)
            places = np.linspace(sign * scene.springs.along[k], begins, 400)
            over = np.clip(np.abs(places) - foot["straight"], 0.0, foot["radius"])
            below = np.sqrt(foot["radius"] ** 2 - over**2)
            sums[:, quarter] += loads[k] * np.array([1.0, places[-1] - places[0], np.trapezoid(below, places)])
        first = last
    travelled = sums[1] / sums[0]
    np.testing.assert_allclose(seen[ENTRY : ENTRY + QUARTERS], travelled, rtol=0.03)
    np.testing.assert_allclose(seen[LEVER : LEVER + QUARTERS], sums[2] / sums[1], rtol=0.03)


def test_wheels_that_turn_rest_higher_and_carry_ahead():
    """The soil damps the front of a wheel that presses into it, and the rear has left it."""
    for sign in (1.0, -1.0):
        still, turning = Scene(np.zeros((61, 61)), soil="soft"), Scene(np.zeros((61, 61)), soil="soft")
        turning.wheels[:] = 8.0 * sign
        before, after = still.look(), turning.look()
        assert sign * (after - before)[SHIFT : SHIFT + QUARTERS].min() > 0.05
        assert turning.springs.rest[0] > still.springs.rest[0]
        assert turning.unbalanced().max() < 0.02


def test_a_rover_rests_on_the_firm_soil_below_loose_soil():
    scene = Scene(np.zeros((61, 61)))
    scene.look()
    rest = scene.springs.rest[0]
    scene.heights += 0.01
    scene.look()
    assert scene.springs.rest[0] == pytest.approx(rest, abs=PRECISION)
