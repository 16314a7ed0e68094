"""Steered wheels roll about one centre of turning, within their limits; joints that nothing drives are named."""

import warnings

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rover_bodies import ALL, FOUR, FRONT, TURTLEBOT, TWO, steered, suspended
from sandlot.errors import RobotWarning, SandlotError
from sandlot.robots.rover import Rover
from sandlot.robots.rover_layout import find_layout
from sandlot.robots.rover_model import build_model, drive
from sandlot.robots.rover_reader import read_state

FLOOR = '<worldbody><geom type="plane" size="9 9 1" friction="1 0.005 0.0001"/></worldbody>'


def rover(tmp_path, text, **settings):
    path = tmp_path / "r.urdf"
    path.write_text(text)
    return Rover(urdf=str(path), **{"top_speed": 20.0, "torque": 1.0, **FOUR, **settings})


def ride(car, speed, turn_rate, step=0.001, seconds=2.0):
    """Mean speed [m/s] and turn rate [rad/s], and the angles of all joints at the end."""
    made = build_model([car], [[0.0, 0.0, 0.056, 0.0, 0.0, 0.0]], step, FLOOR)
    data = mujoco.MjData(made.model)
    drive(made, data, [[speed, turn_rate]])
    track = []
    for k in range(round((1.0 + seconds) / step) + 1):
        if k * step >= 1.0 - 1e-9 and k % 100 == 0:
            state = read_state(made, data)
            track.append([*state.position[0, :2], state.yaw[0]])
        mujoco.mj_step(made.model, data)
    path, yaw = np.array(track), np.unwrap(np.array(track)[:, 2])
    time = 100 * step * (len(path) - 1)
    angles = {name: data.joint(f"rover0/{name}_steering").qpos[0] for name in ALL if _has(made, name)}
    return np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1).sum() / time, (yaw[-1] - yaw[0]) / time, angles


def _has(made, name):
    return mujoco.mj_name2id(made.model, mujoco.mjtObj.mjOBJ_JOINT, f"rover0/{name}_steering") >= 0


@pytest.mark.parametrize("step", [0.0005, 0.001, 0.002])
@pytest.mark.parametrize("steer", [FRONT, ALL])
def test_steered_robots_turn_as_commanded(tmp_path, steer, step):
    car = rover(tmp_path, steered(steer))
    assert ride(car, 0.5, 0.0, step)[:2] == pytest.approx((0.5, 0.0), abs=0.01)
    _, turn_rate, angles = ride(car, 0.5, 0.6, step)
    assert turn_rate == pytest.approx(0.6, rel=0.03), "nothing skids"
    assert angles["front_left"] > angles["front_right"] > 0.0, "the inner wheel turns further"
    assert ride(car, -0.5, 0.6, step)[1] == pytest.approx(0.6, rel=0.03)


def test_ackermann_angles_are_those_of_the_wheelbase(tmp_path):
    steering = find_layout(rover(tmp_path, steered(FRONT))).steering
    angles, speeds = steering.command(0.5, 0.5, 0.055, 20.0)
    assert np.tan(angles) == pytest.approx([0.36 / (1.0 - 0.15), 0.36 / (1.0 + 0.15)])
    around = np.array([np.hypot(0.36, 0.85), 0.85, np.hypot(0.36, 1.15), 1.15])
    assert speeds == pytest.approx(0.5 * around / 0.055)


def test_with_all_wheels_steered_front_and_rear_mirror_each_other(tmp_path):
    steering = find_layout(rover(tmp_path, steered(ALL))).steering
    angles, _ = steering.command(0.5, 0.5, 0.055, 20.0)
    assert angles == pytest.approx([-1, 1, -1, 1] * -np.arctan(np.repeat([0.18 / 0.85, 0.18 / 1.15], 2)))


def test_a_curve_that_is_too_narrow_becomes_the_narrowest(tmp_path):
    car = rover(tmp_path, steered(FRONT))
    narrowest = 1.0 / (0.36 / np.tan(0.6) + 0.15)
    angles, _ = find_layout(car).steering.command(0.3, 9.0, 0.055, 20.0)
    assert angles.max() == pytest.approx(0.6)
    for sign in (1.0, -1.0):
        assert ride(car, 0.3, sign * 9.0)[1] == pytest.approx(sign * 0.3 * narrowest, rel=0.05)
    assert ride(car, 0.0, 1.0)[1] == pytest.approx(0.0, abs=1e-3), "a car does not turn on the spot"


def test_four_steered_wheels_turn_on_the_spot_if_they_can(tmp_path):
    wide = 'lower="-1.2" upper="1.2" effort="3" velocity="5"'
    speed, turn_rate, angles = ride(rover(tmp_path, steered(ALL, limit=wide)), 0.0, 1.0)
    assert (speed, turn_rate) == pytest.approx((0.0, 1.0), abs=0.03)
    assert angles["front_left"] == pytest.approx(-np.arctan2(0.36, 0.3), abs=0.02)


def test_axes_that_point_down_steer_to_the_same_side(tmp_path):
    text = steered(FRONT).replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 -1"/>')
    _, turn_rate, angles = ride(rover(tmp_path, text), 0.5, 0.6)
    assert turn_rate == pytest.approx(0.6, rel=0.03)
    assert angles["front_left"] < 0.0


def test_wheels_are_never_too_fast(tmp_path):
    steering = find_layout(rover(tmp_path, steered(FRONT))).steering
    slow, fast = steering.command(0.5, 0.6, 0.055, 20.0), steering.command(5.0, 6.0, 0.055, 20.0)
    assert np.abs(fast[1]).max() == pytest.approx(20.0)
    assert fast[0] == pytest.approx(slow[0])


@given(st.floats(-3.0, 3.0), st.floats(-9.0, 9.0), st.sampled_from([FRONT, ALL]), st.floats(0.0, 1.5))
def test_wheels_roll_without_slip_within_their_limits(tmp_path_factory, speed, turn_rate, steer, high):
    limit = f'lower="-0.6" upper="{high}"'
    steering = find_layout(rover(tmp_path_factory.getbasetemp(), steered(steer, limit=limit))).steering
    angles, speeds = steering.command(speed, turn_rate, 0.055, 1000.0)
    assert (angles >= -0.6 - 1e-9).all()
    assert (angles <= high + 1e-9).all()
    # The motion of the chassis that fits the wheels best, and what is left.
    headings = np.append(angles, 0.0)[steering.steers]
    x = steering.wheels[:, 0] - (0.0 if steer is ALL else -0.18)
    along = 0.055 * speeds * np.array([np.cos(headings), np.sin(headings)])
    rows = np.block([[np.ones((4, 1)), -steering.wheels[:, 1:]], [np.zeros((4, 1)), x[:, None]]])
    (found, turned), *_ = np.linalg.lstsq(rows, along.ravel(), rcond=None)
    assert rows @ [found, turned] == pytest.approx(along.ravel(), abs=1e-6)
    assert found == pytest.approx(speed, abs=1e-6)
    assert abs(turned) <= abs(turn_rate) + 1e-6


def test_a_steered_wheel_that_nothing_drives_is_refused(tmp_path):
    car = rover(tmp_path, steered(FRONT), left=["rear_left_wheel"], right=["rear_right_wheel"])
    message = (
        r'^r.urdf: joint "front_left_steering" steers wheel "front_left_wheel", which is in neither left nor right, so '
        r'nothing holds it; add the wheel there, or hold it straight: freeze = \["front_left_steering"\]$'
    )
    with pytest.raises(SandlotError, match=message):
        find_layout(car)


def test_frozen_steering_skids(tmp_path):
    car = rover(tmp_path, steered(FRONT), freeze=[f"{name}_steering" for name in FRONT])
    assert find_layout(car).steering is None


def test_casters_are_named_unless_they_are_meant_to_turn(tmp_path):
    message = (
        r'^r.urdf: no motor drives joint "swivel", "caster_axle"; if it is to turn freely, as that of a caster, add to '
        r'the settings: free = \["swivel", "caster_axle"\]; to hold it, freeze = \["swivel", "caster_axle"\]$'
    )
    with pytest.warns(RobotWarning, match=message):
        find_layout(rover(tmp_path, TURTLEBOT, **TWO))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_layout(rover(tmp_path, TURTLEBOT, free=["swivel", "caster_axle"], **TWO))
        find_layout(rover(tmp_path, TURTLEBOT, freeze=["swivel", "caster_axle"], **TWO))
    with pytest.raises(SandlotError, match=r'^r.urdf: free: joint "swivle" does not turn; did you mean .swivel.'):
        find_layout(rover(tmp_path, TURTLEBOT, free=["swivle"], **TWO))


def test_a_suspension_that_slides_is_frozen_on_request(tmp_path):
    names = [f"{name}_slide" for name in ALL]
    with pytest.raises(
        SandlotError, match=r'^r.urdf: joint "front_left_slide" is prismatic, .* freeze = \["front_left'
    ):
        find_layout(rover(tmp_path, suspended()))
    layout = find_layout(rover(tmp_path, suspended(), freeze=names))
    assert len(layout.parts) == 5
    assert layout.parts[0].inertial.mass == pytest.approx(40.0)
