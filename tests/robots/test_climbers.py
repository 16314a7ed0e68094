"""Climbing robots at both fidelities: the same questions, and the same answers."""

import mujoco
import numpy as np
import pytest

from sandlot.control.climbing.scripts import CLIMB_BOX, CLIMB_STAIRS
from sandlot.errors import SettingError
from sandlot.physics.climbing.robot import CONTACTS, MISSED, PENETRATION
from sandlot.places.course_kinds import Box, Flat, Ramp, Rubble, Stairs, Trench
from sandlot.robots.climber import load_climber
from sandlot.robots.climber_model import climber_model
from sandlot.robots.climber_models import make_climbers
from sandlot.robots.climbers import INTERVAL, Start
from sandlot.robots.fast_climbers import FastClimbers
from sandlot.robots.reference_climbers import ReferenceClimbers
from sandlot.studies.obstacles.fidelity import passes

CLIMBER = load_climber()
FIDELITIES = ("fast", "reference")
both = pytest.mark.parametrize("fidelity", FIDELITIES)
DRIVE = np.array([[0.4, 0.0, 0.5, 0.5]])
WALL = Box(height=2.9, depth=1.0, distance=0.6)


def courses(*kinds):
    return [kind.draw(np.random.default_rng(0)) for kind in kinds]


@both
def test_a_robot_on_level_ground_stands_still_and_then_drives(fidelity):
    climbers = make_climbers(fidelity, CLIMBER, courses(Flat()))
    for _ in range(10):
        climbers.command(np.zeros((1, 4)))
    np.testing.assert_allclose(climbers.position[0], [0.0, 0.0, CLIMBER.track.wheel], atol=2e-3)
    assert np.abs(climbers.velocity).max() < 2e-3
    for _ in range(40):
        climbers.command(DRIVE)
    np.testing.assert_allclose(climbers.velocity[0], [0.5, 0.0, 0.0], atol=0.01)
    np.testing.assert_allclose(climbers.axles[0], [0.4, 0.0], atol=0.02)
    np.testing.assert_allclose(climbers.belts[0], 0.5, atol=0.01)
    assert climbers.time[0] == pytest.approx(50 * INTERVAL)


def test_the_reference_is_as_wide_as_its_tracks():
    """Over all geoms: from the outside of the left rear track to that of the right one."""
    model = climber_model(CLIMBER, *courses(Flat()), 0.001, (0.9, 0.9)).model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    robot = model.geom_bodyid > 0
    across = data.geom_xmat[robot, 3:6]
    middles = data.geom_xpos[robot, 1] + (across * model.geom_aabb[robot, :3]).sum(axis=1)
    halves = (np.abs(across) * model.geom_aabb[robot, 3:]).sum(axis=1)
    width = (middles + halves).max() - (middles - halves).min()
    assert width == pytest.approx(2.0 * CLIMBER.axles.back_offset + CLIMBER.track.width, abs=1e-9)


def test_the_reference_climbs_stairs_without_rolling():
    """A contact that jumps along the edge of a step would roll the robot."""
    climbers = ReferenceClimbers(CLIMBER, courses(Stairs(riser=0.16, tread=0.3, steps=4, distance=0.8)))
    for k in range(100):
        climbers.command(CLIMB_STAIRS.at(k * INTERVAL)[None])
        assert np.abs(climbers.attitude[0, [0, 2]]).max() < 0.05
    assert climbers.position[0, 2] > 0.4


@both
def test_thrust_on_a_wall_is_limited_by_the_motors(fidelity):
    """Tracks that grip perfectly push against a wall: the push is what the motors give and no more."""
    track = CLIMBER.track.model_copy(update={"friction": 5.0})
    strong = CLIMBER.model_copy(update={"track": track, "body": CLIMBER.body.model_copy(update={"friction": 0.0})})
    climbers = make_climbers(fidelity, strong, courses(WALL))
    most, belts = 0.0, CLIMBER.belts
    # The limit is that of the speed before a step, in which the belt gets faster.
    faster = 0.005 * CLIMBER.thrust / belts.inertia
    for _ in range(60):
        climbers.command(np.array([[0.0, 0.0, 1.2, 1.2]]))
        most = max(most, np.abs(climbers.thrusts).max())
        limit = CLIMBER.thrust * (1.0 - (climbers.belts - faster) / belts.speed)
        assert (climbers.thrusts <= limit).all()
    assert 0.5 * CLIMBER.thrust < most <= CLIMBER.thrust + 1e-6


def test_the_reference_conserves_momentum_between_belts_and_body():
    """Without motors, spinning belts set down on level ground push the robot with the momentum that they lose."""
    climbers = ReferenceClimbers(CLIMBER, courses(Flat()))
    simulation = climbers._simulations[0]
    simulation.model.actuator_forcerange[:] = 0.0
    simulation.data.qvel[8:12] = 1.0
    inertia = CLIMBER.belts.inertia
    before = inertia * simulation.data.qvel[8:12].sum()
    line = CLIMBER.model_copy(update={"belts": CLIMBER.belts.model_copy(update={"torque": 1e-9})})
    simulation._climber = line
    climbers.command(np.zeros((1, 4)))
    after = CLIMBER.mass * climbers.velocity[0, 0] + inertia * climbers.belts[0].sum()
    assert climbers.velocity[0, 0] > 0.3
    assert after == pytest.approx(before, rel=0.01)


@pytest.mark.parametrize(
    "kind",
    [Box(height=0.2, distance=0.6), Stairs(distance=0.6), Ramp(distance=0.6), WALL, Trench(distance=0.6)],
    ids=lambda kind: kind.kind,
)
def test_both_move_alike_at_first_contact(kind):
    """Over 2 s, in which the robot meets its obstacle."""
    fast, reference = (make_climbers(each, CLIMBER, courses(kind)) for each in FIDELITIES)
    for _ in range(40):
        for climbers in (fast, reference):
            climbers.command(DRIVE)
    np.testing.assert_allclose(fast.position, reference.position, atol=0.02)
    np.testing.assert_allclose(fast.attitude, reference.attitude, atol=0.04)
    np.testing.assert_allclose(fast.axles, reference.axles, atol=0.02)
    np.testing.assert_allclose(fast.mass_centre, reference.mass_centre, atol=0.005)


@both
def test_scripts_climb_a_box_and_stairs(fidelity):
    ground = courses(Box(height=0.3, depth=0.5, distance=0.8), Stairs(riser=0.16, tread=0.3, steps=4, distance=0.8))
    climbers = make_climbers(fidelity, CLIMBER, ground, threads=2)
    np.testing.assert_array_equal(passes(climbers, [CLIMB_BOX, CLIMB_STAIRS], 16.0), [True, True])


@both
def test_a_restart_changes_only_the_chosen_robots(fidelity):
    climbers = make_climbers(fidelity, CLIMBER, courses(Flat(), Box(), Flat()))
    for _ in range(5):
        climbers.command(np.repeat(DRIVE, 3, axis=0))
    before = climbers.position
    climbers.restart(np.array([1]), courses(Stairs()), [Start(x=0.3, axles=(0.5, -0.2))])
    np.testing.assert_array_equal(climbers.position[[0, 2]], before[[0, 2]])
    np.testing.assert_array_equal(climbers.time, [5 * INTERVAL, 0.0, 5 * INTERVAL])
    assert climbers.position[1, 0] == 0.3
    np.testing.assert_allclose(climbers.axles[1], [0.5, -0.2])
    assert climbers.courses[1].height(2.1) == pytest.approx(0.19)
    twin = make_climbers(fidelity, CLIMBER, courses(Stairs()))
    twin.restart(np.array([0]), None, [Start(x=0.3, axles=(0.5, -0.2))])
    for _ in range(20):
        climbers.command(np.repeat(DRIVE, 3, axis=0))
        twin.command(DRIVE)
    np.testing.assert_array_equal(climbers.position[1], twin.position[0])


@both
def test_robots_that_are_not_running_stay_as_they_are(fidelity):
    climbers = make_climbers(fidelity, CLIMBER, courses(Flat(), Flat()))
    for _ in range(10):
        climbers.command(np.repeat(DRIVE, 2, axis=0), np.array([True, False]))
    assert climbers.position[0, 0] > 0.05
    assert climbers.position[1, 0] == 0.0
    np.testing.assert_array_equal(climbers.time, [10 * INTERVAL, 0.0])


@both
def test_a_robot_starts_on_the_ground_in_any_shape(fidelity):
    for axles in ((0.0, 0.0), (-1.0, 1.0), (1.0, -1.0), (-0.5, 0.0)):
        climbers = make_climbers(fidelity, CLIMBER, courses(Flat()))
        climbers.restart(np.array([0]), None, [Start(axles=axles)])
        before = climbers.position[0, 2]
        climbers.command(np.array([[*axles, 0.0, 0.0]]))
        assert abs(climbers.position[0, 2] - before) < 0.02


@both
def test_a_command_with_nan_is_refused(fidelity):
    climbers = make_climbers(fidelity, CLIMBER, courses(Flat(), Flat()))
    with pytest.raises(SettingError, match="command of robot 1 is NaN or infinite"):
        climbers.command(np.array([[0.0] * 4, [np.nan] * 4]))


def test_the_fast_model_refuses_to_start_turned():
    with pytest.raises(SettingError, match=r"yaw=0\.2 is only for fidelity=reference"):
        FastClimbers(CLIMBER, courses(Flat())).restart(np.array([0]), None, [Start(yaw=0.2)])


def test_the_reference_steers_and_starts_turned():
    climbers = ReferenceClimbers(CLIMBER, courses(Flat(), Flat()))
    climbers.restart(np.array([0, 1]), None, [Start(yaw=0.2), Start()])
    np.testing.assert_allclose(climbers.attitude[:, 2], [0.2, 0.0], atol=1e-9)
    for _ in range(30):
        climbers.command(np.array([[0.0, 0.0, 0.4, 0.4], [0.0, 0.0, 0.1, 0.5]]))
    assert climbers.position[0, 1] > 0.05
    assert climbers.attitude[1, 2] > 0.3  # the right belts are faster: it turns to the left
    np.testing.assert_allclose(climbers.velocity[0, :2], [0.4, 0.0], atol=0.02)


def test_friction_that_differs_left_and_right_turns_the_robot():
    even, uneven = (
        ReferenceClimbers(CLIMBER, courses(Ramp(distance=0.6)), friction=friction) for friction in (None, (0.9, 0.1))
    )
    for _ in range(60):
        for climbers in (even, uneven):
            climbers.command(DRIVE)
    assert abs(even.attitude[0, 2]) < 1e-3
    assert uneven.attitude[0, 2] < -0.05  # the left belts push, the right ones slip


@pytest.mark.slow
def test_both_agree_on_which_obstacles_a_script_passes():
    """On a grid of boxes and stairs, where the reference does not change with half its step."""
    boxes = [(h, d) for h in np.arange(0.06, 0.47, 0.04) for d in (0.15, 0.3, 0.5, 0.8)]
    stairs = [(r, t) for r in (0.1, 0.13, 0.16, 0.19, 0.22, 0.25) for t in (0.2, 0.25, 0.3, 0.35)]
    ground = courses(
        *(Box(height=h, depth=d, distance=0.8) for h, d in boxes),
        *(Stairs(riser=r, tread=t, steps=4, way="up", distance=0.8) for r, t in stairs),
    )
    scripts = [CLIMB_BOX] * len(boxes) + [CLIMB_STAIRS] * len(stairs)
    fast = passes(FastClimbers(CLIMBER, ground), scripts, 12.0)
    reference, half = (
        passes(ReferenceClimbers(CLIMBER, ground, step=step, threads=2), scripts, 12.0) for step in (0.001, 0.0005)
    )
    converged = reference == half
    assert converged.mean() >= 0.9
    assert (fast == reference)[converged].mean() >= 0.95
    assert 0.2 < reference.mean() < 0.8


def test_robots_of_other_sizes_start_on_the_ground():
    climbers = FastClimbers(CLIMBER, courses(*[Flat()] * 3))
    climbers.robots.wheel[1], climbers.robots.reach[2] = 0.12, 0.4
    climbers.restart(np.arange(3), None, [Start(axles=(-0.5, 0.0))] * 3)
    tips = np.sin(0.5) * np.array([0.32, 0.32, 0.4]) + 0.05
    np.testing.assert_allclose(climbers.position[:, 2], np.maximum([0.1, 0.12, 0.1], tips))
    climbers.command(np.tile([-0.5, 0.0, 0.0, 0.0], (3, 1)))
    assert (climbers.state[:, PENETRATION] < 1e-3).all()


def test_a_comb_of_the_shortest_blocks_has_room_for_its_contacts():
    (comb,) = courses(Rubble(block=(0.01, 0.01), height=0.0005, distance=0.7, slanted=0.0))
    climbers = FastClimbers(CLIMBER, [comb])
    most, flat = 0, CLIMBER.track.taper
    for _ in range(60):
        climbers.command(np.array([[-flat, flat, 0.5, 0.5]]))
        most = max(most, np.cumprod(climbers._labels[0] >= 0).sum())
    assert 40 < most < CONTACTS
    assert not climbers.exploded[0]


def test_a_robot_without_room_for_a_contact_has_exploded_until_it_starts_again():
    climbers = FastClimbers(CLIMBER, courses(Flat(), Flat()))
    climbers.state[1, MISSED] = 1.0
    np.testing.assert_array_equal(climbers.exploded, [False, True])
    climbers.restart(np.array([1]))
    assert not climbers.exploded.any()


def test_random_robots_differ_from_each_other():
    """Masses, friction and motors of each robot may be changed."""
    climbers = FastClimbers(CLIMBER, courses(*[Rubble(seed=1, distance=0.5)] * 3))
    climbers.robots.grip[1] = 0.3
    climbers.robots.body_mass[2] = 30.0
    for _ in range(60):
        climbers.command(np.repeat(DRIVE, 3, axis=0))
    assert len(np.unique(climbers.position[:, 0].round(6))) == 3
