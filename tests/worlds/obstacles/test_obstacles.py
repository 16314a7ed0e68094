"""The obstacles world: how episodes start and end, what is rewarded, and what the robot sees."""

import numpy as np
import pytest

from sandlot import recordings
from sandlot.control.climbing.scripts import CLIMB_BOX
from sandlot.errors import SandlotError
from sandlot.physics.climbing.elevation import elevations
from sandlot.places.course_kinds import Mixed, Ramp, Stairs, Trench
from sandlot.robots.climber import load_climber
from sandlot.robots.climbers import INTERVAL
from sandlot.robots.fast_climbers import FastClimbers
from sandlot.worlds.obstacles.task import BEYOND, FELL
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.obstacles.world import Obstacles
from sandlot.worlds.record import record_world
from sandlot.worlds.rollout import rollout

BOX = {"kind": "box", "height": 0.3, "distance": CLIMB_BOX.distance}
WALL = {"kind": "box", "height": 2.9, "distance": 1.0}


def climb(world, steps=400):
    return list(rollout(world, CLIMB_BOX.controller(), 0, steps))


def test_a_robot_that_gets_past_the_box_is_done():
    world = Obstacles(course=BOX, start=(0.0, 0.0))
    steps = climb(world)
    said = world.outcomes()
    assert (said["passed"], said["overturned"], said["stuck"]) == (1.0, 0.0, 0.0)
    assert steps[-1].terminated[0]
    assert said["pass_time"] == pytest.approx((len(steps) - 1) * INTERVAL)
    assert said["advance"] == pytest.approx(0.8 + 0.5 + BEYOND)
    assert 0.3 < said["steepest"] < np.pi / 2


def test_rewards_add_up_to_the_advance():
    world = Obstacles(course=BOX, start=(-0.05, -0.05))
    total = sum(step.rewards[0] for step in climb(world) if not step.began[0])
    assert total == pytest.approx(world.outcomes()["advance"] + 0.05)


def test_a_robot_that_overturns_is_done_and_loses():
    """It drives up a wall until it falls on its back."""
    world = Obstacles(course=WALL, start=(0.0, 0.0))
    world.reset(seed=0)
    total = 0.0
    for _ in range(400):
        _, reward, terminated, _, info = world.step(np.array([0.5, 0.0, 0.5, 0.5]))
        total += reward
        if terminated:
            break
    assert info["overturned"]
    assert world.outcomes()["passed"] == 0.0
    assert total == pytest.approx(world.task.x[0] - FELL)


def test_a_robot_on_its_side_past_the_finish_has_not_passed():
    world = Obstacles(fidelity="reference", course=BOX, start=(0.0, 0.0))
    world.reset(seed=0)
    data = world.climbers._simulations[0].data
    data.qpos[0] = world.task.finish[0] + 0.3
    data.qpos[3:7] = np.cos(0.75), np.sin(0.75), 0.0, 0.0  # rolled by 86 degrees
    data.qpos[2] = 0.3
    for _ in range(20):
        *_, terminated, _, info = world.step(np.zeros(4))
        assert not info["passed"]
        assert not info["overturned"]
        assert not terminated


def test_courses_of_a_reset_must_lie_ahead_of_the_start():
    worlds = ObstaclesVector(2)
    said = r"^courses of a reset: start=\[-0.1, 0.1\]: allowed are two ascending numbers from -20 to -0.12"
    with pytest.raises(SandlotError, match=said):
        worlds.reset(options={"courses": [Stairs(distance=1.0), Stairs(distance=0.4)]})


def test_a_robot_that_stays_where_it_is_is_stuck():
    world = Obstacles(course=BOX, patience=1.0)
    world.reset(seed=0)
    ends = [world.step(np.zeros(4))[2] for _ in range(20)]
    assert ends == [False] * 19 + [True]
    assert world.outcomes()["stuck"] == 1.0


def test_time_runs_out():
    world = Obstacles(course=BOX, seconds=0.5)
    world.reset(seed=0)
    ends = [world.step(np.zeros(4))[2:4] for _ in range(10)]
    assert ends == [(False, False)] * 9 + [(False, True)]


def test_the_observation_is_the_states_of_the_source_and_the_elevation_ahead():
    world = Obstacles(course={"kind": "stairs", "distance": 1.0, "riser": 0.2, "tread": 0.3}, start=(0.0, 0.0))
    seen, _ = world.reset(seed=0)
    assert seen.shape == (211,)
    ahead = seen[10:] + 0.1  # the middle of the body is 0.1 m above the ground
    np.testing.assert_allclose(ahead[[0, 98]], 0.0, atol=1e-9)
    np.testing.assert_allclose(ahead[[101, 129, 131, 159, 161]], [0.2, 0.2, 0.4, 0.4, 0.6], atol=1e-9)
    for _ in range(30):
        seen, *_ = world.step(np.array([0.5, -0.2, 0.5, 0.5]))
    frame = world.frame()
    names = ("roll", "pitch", "velocity_forward", "velocity_left", "velocity_up")
    rates = ("roll_rate", "pitch_rate", "yaw_rate")
    states = [*(frame[name] for name in (*names, *rates)), *frame["axle_angles"]]
    np.testing.assert_array_equal(seen[:10], states)
    np.testing.assert_array_equal(seen[10:], frame["elevation"])


@pytest.mark.parametrize("scale", [1.0, 0.9, -0.8])
def test_the_elevation_is_the_highest_point_of_each_cell(scale):
    rng = np.random.default_rng(0)
    kinds = [*[Mixed()] * 20, Stairs(risers=False), Ramp(), Trench()]
    climbers = FastClimbers(load_climber(), [kind.draw(rng) for kind in kinds])
    number, found = climbers.count, np.empty((climbers.count, 50))
    starts = np.column_stack([rng.uniform(-1.0, 5.0, number), rng.uniform(-1.0, 1.0, number)])
    elevations(climbers.ground, np.arange(number), starts, np.full(number, scale), 0.02, found)
    within = np.linspace(-0.01, 0.01, 41)
    for row, course, (x, zero) in zip(found, climbers.courses, starts, strict=True):
        ahead = (0.02 * np.arange(50)[:, None] + within) * scale
        expected = course.heights((x + ahead).ravel()).reshape(50, -1).max(axis=1) - zero
        np.testing.assert_allclose(row, expected, atol=2e-3)  # slanted blocks, sampled every half a millimetre


def test_another_elevation_can_be_put_in_its_place():
    class Blind:
        def __init__(self):
            self.restarted, self.looked = [], []

        def restart(self, which):
            self.restarted.append(which.tolist())

        def read(self, climbers, which, generators):
            assert len(generators) == len(which)
            self.looked.append(which.tolist())
            return np.zeros((len(which), 1, 201))

    worlds = ObstaclesVector(3, patience=0.2)
    worlds.task.elevation = blind = Blind()
    worlds.reset(seed=0)
    for _ in range(5):
        seen, *_ = worlds.step(np.zeros((3, 4)))
    assert not seen[:, 10:].any()
    assert blind.restarted == [[0, 1, 2]] * 2  # at the reset, and when all were stuck
    assert blind.looked == [[0, 1, 2]] * 6  # once after the reset, and once a step


def test_the_reference_starts_at_a_random_yaw():
    world = Obstacles(fidelity="reference", course=BOX, yaw=0.3)
    yaws = []
    for seed in range(3):
        world.reset(seed=seed)
        yaws.append(world.frame()["yaw"])
    assert len(set(yaws)) == 3
    assert max(map(abs, yaws)) <= 0.3


def test_a_reset_may_give_each_robot_its_yaw():
    worlds = ObstaclesVector(2, fidelity="reference", course=BOX)
    worlds.reset(seed=0, options={"yaws": [0.2, -0.3]})
    np.testing.assert_allclose(worlds.task.attitude[:, 2], [0.2, -0.3])
    worlds.reset(seed=0)
    np.testing.assert_allclose(worlds.task.attitude[:, 2], 0.0)
    with pytest.raises(SandlotError, match=r"^yaws of a reset must be 2 numbers \[rad\], one for each world$"):
        worlds.reset(seed=0, options={"yaws": [0.2]})
    with pytest.raises(SandlotError, match=r"^yaws of a reset are only for fidelity=reference"):
        ObstaclesVector(2, course=BOX).reset(seed=0, options={"yaws": [0.2, 0.1]})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"course": {"kind": "stairs", "riser": 4.0}}, r"^course.riser=4.0 is not possible; allowed: a number above 0"),
        (
            {"course": {"kind": "stairs", "tread": 0.0}},
            r"^course.tread=0.0 is not possible; allowed: a number at least",
        ),
        ({"course": {"kind": "star"}}, r"allowed: a table whose kind is one of box, flat, mixed, ramp"),
        ({"course": {"kind": "box", "hight": 1.0}}, r"^no setting 'course.hight'; did you mean 'course.height'"),
        ({"robot": "climbr"}, r"no such climbing robot, and no such file; did you mean 'climber'"),
        ({"robot": "nowhere/x.toml"}, r"^cannot read nowhere/x.toml"),
        ({"yaw": 0.2}, r"^yaw=0.2 is only for fidelity=reference, not fast; leave it out"),
        ({"friction": (0.9, 0.5)}, r"^friction=\(0.9, 0.5\) is only for fidelity=reference, not fast; leave it out"),
        (
            {"start": (0.0, 5.0)},
            r"^start=\[0.0, 5.0\]: allowed are two ascending numbers from -20 to 0.48, where the robot reaches",
        ),
    ],
)
def test_mistakes_are_explained_in_one_line(given, said):
    with pytest.raises(SandlotError, match=said):
        Obstacles(**given)


@pytest.mark.parametrize("fidelity", ["fast", "reference"])
def test_the_settings_and_actions_of_a_recording_give_the_same_frames_again(fidelity, tmp_path):
    steps = 20
    record_world("obstacles", tmp_path / "a", steps, seed=5, settings={"fidelity": fidelity}, controller="trained")
    with recordings.open(tmp_path / "a") as recorded:
        world = Obstacles(**recordings.settings(recorded))
        world.reset(seed=5)
        for number in range(steps):
            if number:
                world.step(recorded["action"].values[number])
            for name, value in world.frame().items():
                np.testing.assert_array_equal(value, recorded[name].values[number], err_msg=name)
