"""The reactive controller: its equations by hand, its table of commands, and climbs."""

import math

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.control.climbing.reactive import SAFETY, Reactive, aim, origin, steady
from sandlot.control.climbing.sight import distances, split, stuck
from sandlot.errors import SandlotError
from sandlot.robots.climber import NOMINAL_SPEED, load_climber
from sandlot.robots.climber_shape import outlines
from sandlot.robots.climbers import INTERVAL
from sandlot.sensing.panned_laser import MAP_ROWS, PAN_ANGLES
from sandlot.worlds import register
from sandlot.worlds.rollout import rollout

register()
CLIMBER = load_climber()
BETA = math.atan(0.05 / 0.32)
SEEDS = [np.random.SeedSequence(0)]


def observe(pitch=0.0, front=0.0, back=0.0, speed=0.0, ground=None, roll=0.0, rows=1):
    """One observation; level ground below the wheels unless told."""
    cells = np.full((rows, 201), -0.1) if ground is None else np.broadcast_to(ground, (rows, 201))
    return np.concatenate([[roll, pitch, speed, 0.0, 0.0, 0.0, 0.0, 0.0, front, back], cells.ravel()])[None]


def step_ahead(at, height):
    """Level ground, then a step up."""
    return np.where(distances(201) >= at - 1e-9, height, -0.1)


def homogeneous(roll, pitch, front):
    """Equation 24 as printed."""
    half, height = 0.5 * CLIMBER.axles.span, CLIMBER.axles.height
    ct, st_, cs, ss, d = math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll), pitch - front
    return np.array(
        [
            [math.cos(d), 0.0, math.sin(d), half * ct + height * st_],
            [ss * math.sin(d), cs, -ss * math.cos(-d), ss * (half * st_ - height * ct)],
            [cs * math.sin(-d), ss, cs * math.cos(-d), cs * (height * ct - half * st_)],
        ]
    )


@given(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5), st.floats(-3.0, 3.0))
def test_the_origin_is_that_of_equation_24(roll, pitch, front):
    found = origin(CLIMBER, split(observe(pitch, front, roll=roll), 1))[0]
    expected = homogeneous(roll, pitch, front) @ np.array([0.0, 0.0, -CLIMBER.track.wheel, 1.0])
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(st.floats(-1.5, 1.5), st.floats(-3.0, 3.0))
def test_the_origin_lies_on_the_big_wheel_as_drawn(pitch, front):
    """It is where the outline of the front track turns from the arc of the big wheel, within the belt's taper."""
    found = origin(CLIMBER, split(observe(pitch, front), 1))[0, [0, 2]]
    track = outlines(CLIMBER, np.zeros(2), pitch, np.array([front, 0.0]))[2]
    assert np.hypot(*(track - found).T).min() < 0.03


@given(st.integers(0, 999), st.sampled_from([1, 5, 19]))
def test_the_aim_is_the_steepest_point_by_equation_28(seed, rows):
    rng = np.random.default_rng(seed)
    ground = rng.uniform(-0.2, 0.3, (rows, 201))
    sight = split(
        observe(rng.uniform(-1, 1), rng.uniform(-1, 1), roll=rng.uniform(-0.3, 0.3), ground=ground, rows=rows), rows
    )
    base, reach = origin(CLIMBER, sight)[0], rng.uniform(0.3, 1.0)
    best = (-math.inf, 0.0)
    for j in range(rows):
        for i in range(201):
            x, y = 0.01 * i, 0.01 * i * math.tan(PAN_ANGLES[MAP_ROWS[rows]][j])
            if x <= reach:
                away = max(math.hypot(x - base[0], y - base[1]), 0.05)
                best = max(best, (math.atan((ground[j, i] - base[2]) / away), ground[j, i]))
    found = aim(CLIMBER, sight, np.array([reach]))
    assert (found.angle[0], found.height[0]) == pytest.approx(best)


def test_on_level_ground_the_bottom_of_the_track_lies_on_it():
    controller = Reactive(CLIMBER)
    controller.reset(SEEDS)
    np.testing.assert_allclose(controller.act(observe())[0], [-BETA, 0.0, NOMINAL_SPEED, NOMINAL_SPEED], atol=1e-12)


def test_the_track_points_at_a_step_within_reach():
    controller = Reactive(CLIMBER)
    controller.reset(SEEDS)
    near = controller.act(observe(ground=step_ahead(0.5, 0.1)))[0, 0]
    assert near == pytest.approx(math.atan(0.2 / 0.35) - BETA), "0.2 m above the base of the wheel, 0.35 m ahead of it"
    assert controller.aims.height[0] == pytest.approx(0.1)
    far = controller.act(observe(ground=step_ahead(CLIMBER.reach + SAFETY + 0.02, 0.1)))[0, 0]
    assert far == pytest.approx(-BETA)


def test_a_faster_robot_looks_further():
    ground = step_ahead(CLIMBER.reach + SAFETY + 0.02, 0.1)
    controller = Reactive(CLIMBER)
    controller.reset(SEEDS)
    controller.act(observe(speed=0.55))
    assert controller.act(observe(speed=0.55, ground=ground))[0, 0] > 0.0
    # Equation 26 with the last speed and the acceleration since then.
    controller.act(observe(speed=0.1))
    controller.act(
        observe(speed=0.5, ground=step_ahead(CLIMBER.reach + SAFETY + 0.5 * (0.1 + 0.5) * INTERVAL + 0.01, 0.1))
    )
    assert controller.aims.height[0] < 0.0


def test_pitch_is_added():
    """A robot with its nose up needs a smaller angle of the axle for the same direction of the track."""
    controller = Reactive(CLIMBER)
    controller.reset(SEEDS)
    sight = split(observe(pitch=-0.2, front=0.1, ground=step_ahead(0.5, 0.3)), 1)
    found = controller.act(observe(pitch=-0.2, front=0.1, ground=step_ahead(0.5, 0.3)))[0, 0]
    expected = aim(CLIMBER, sight, np.array([0.62])).angle[0]
    assert found == pytest.approx(expected - BETA - 0.2)


def test_the_rear_axle_does_the_opposite_after_the_time_of_an_axle_span():
    controller = Reactive(CLIMBER)
    controller.reset(SEEDS)
    assert controller.delay.length == 11, "0.3 m at 2 km/h, in commands of 0.05 s"
    acts = [controller.act(observe(ground=step_ahead(0.9 - 0.02 * k, 0.1)))[0] for k in range(40)]
    front, back, _, _ = np.array(acts).T
    assert (back[:11] == 0.0).all()
    np.testing.assert_allclose(back[11:], -front[:-11])
    assert np.ptp(back) > 0.3


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ((80.0, 0.0, -30.0), (60.0, 0.0)),  # nose up, front tracks beyond vertical
        ((-80.0, 0.0, 30.0), (-60.0, 0.0)),  # nose down, front tracks beyond vertical, downwards
        ((0.0, 80.0, 30.0), (0.0, 60.0)),  # nose down, rear tracks push
        ((0.0, 80.0, -30.0), (0.0, 60.0)),  # nose up, rear tracks below the body
        ((50.0, 50.0, -30.0), (50.0, 50.0)),
        ((120.0, 120.0, 0.0), (120.0, 120.0)),  # level: no rule
    ],
)
def test_stability_rules(given_, expected):
    front, back, pitch = (np.deg2rad([each]) for each in given_)
    np.testing.assert_allclose(np.rad2deg(np.concatenate(steady(front, back, pitch))), expected)


def test_stuck_is_slow_or_backwards():
    velocity = np.array([[0.0, 0.0, 0.0], [0.009, 0.0, 0.0], [0.011, 0.0, 0.0], [-0.1, 0.0, 0.5], [0.0, 0.0, 0.1]])
    assert stuck(velocity).tolist() == [True, True, False, True, False]


def test_members_are_independent():
    rng = np.random.default_rng(0)
    seen = np.concatenate([observe(*rng.uniform(-0.5, 0.5, 4), ground=rng.uniform(-0.1, 0.2, 201)) for _ in range(60)])
    both, alone = Reactive(CLIMBER), Reactive(CLIMBER)
    both.reset(SEEDS * 2)
    alone.reset(SEEDS)
    for k in range(15):
        both.act(seen[2 * k : 2 * k + 2])
    both.reset(SEEDS, [1])
    for k in range(15):
        (one,) = both.act(seen[30 + k : 31 + k], [1])
        np.testing.assert_array_equal(one, alone.act(seen[30 + k : 31 + k])[0])


def test_an_observation_with_other_rows_is_refused():
    with pytest.raises(SandlotError, match="no elevation map of 19 rows"):
        split(observe(), 19)


def outcomes(perception, **course):
    world = gymnasium.make("sandlot/Obstacles-v0", interface="units", course=course, perception=perception)
    for step in rollout(world, world.unwrapped.controller("reactive"), seed=1, steps=1200):
        if step.ended.all():
            break
    return world.unwrapped.outcomes()


@pytest.mark.parametrize("perception", ["exact", "laser"])
@pytest.mark.parametrize(
    "course",
    [{"kind": "box", "height": 0.2, "depth": 0.5}, {"kind": "stairs", "riser": 0.15, "tread": 0.3}],
    ids=["box", "stairs"],
)
def test_it_climbs(perception, course):
    assert outcomes(perception, **course)["passed"] == 1.0


def test_a_wall_stops_it():
    assert outcomes("exact", kind="box", height=1.0, depth=0.5)["passed"] == 0.0
