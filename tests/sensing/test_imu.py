"""An IMU on a rover in MuJoCo: signs and sizes, and noise and bias of the size that is set."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.geometry.rotations import roll_pitch_yaw, rotation_matrix
from sandlot.robots.rover import Rover
from sandlot.robots.rover_model import build_model, drive
from sandlot.robots.rover_reader import read_state
from sandlot.sensing.imu import Imu

TILT = np.radians(20.0)
GRAVITY = 9.81
INTERVAL = 0.04
"""Between readings [s]."""


def stand(roll=0.0, pitch=0.0, yaw=0.0, count=1):
    """Rovers at rest on a plane that is tilted like them."""
    rotation = rotation_matrix(roll, pitch, yaw)
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, rotation.ravel())
    words = " ".join(map(str, quaternion))
    floor = f'<worldbody><geom type="plane" size="9 9 1" quat="{words}" friction="2 0.1 0.1"/></worldbody>'
    places = [[*(rotation @ [0.0, 0.5 * k, 0.051]), roll, pitch, yaw] for k in range(count)]
    rovers = build_model([Rover()] * count, places, extra_xml=floor)
    data = mujoco.MjData(rovers.model)
    mujoco.mj_step(rovers.model, data, 1000)
    return rovers, data


def read(imu, rovers, data, seed=0):
    rng = np.random.default_rng(seed)
    return imu.read(read_state(rovers, data), imu.draw_bias(len(rovers.rovers), rng), INTERVAL, rng)


class TestReadings:
    def test_level_at_rest(self):
        reading = read(Imu(), *stand(yaw=1.0, count=2))
        assert reading.orientation == pytest.approx(np.array([[0.0, 0.0, 1.0]] * 2), abs=2e-3)
        assert reading.rates == pytest.approx(np.zeros((2, 3)), abs=1e-3)
        assert reading.force == pytest.approx(np.array([[0.0, 0.0, GRAVITY]] * 2), abs=0.02)

    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_pitch_is_positive_with_the_nose_down(self, sign):
        reading = read(Imu(), *stand(pitch=sign * TILT))
        assert rotation_matrix(0.0, sign * TILT, 0.0)[2, 0] * sign < 0.0, "the nose, x, is down"
        assert reading.orientation[0] == pytest.approx([0.0, sign * TILT, 0.0], abs=5e-3)
        expected = GRAVITY * np.array([-sign * np.sin(TILT), 0.0, np.cos(TILT)])
        assert reading.force[0] == pytest.approx(expected, abs=0.05)

    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_roll_is_positive_with_the_left_side_up(self, sign):
        reading = read(Imu(), *stand(roll=sign * TILT))
        assert rotation_matrix(sign * TILT, 0.0, 0.0)[2, 1] * sign > 0.0, "the left side, y, is up"
        assert reading.orientation[0] == pytest.approx([sign * TILT, 0.0, 0.0], abs=5e-3)
        expected = GRAVITY * np.array([0.0, sign * np.sin(TILT), np.cos(TILT)])
        assert reading.force[0] == pytest.approx(expected, abs=0.05)

    def test_specific_force_is_zero_in_free_fall(self):
        rovers = build_model([Rover()], [[0.0, 0.0, 0.0, 1.0, 0.5, 0.2]])
        data = mujoco.MjData(rovers.model)
        mujoco.mj_step(rovers.model, data, 10)
        assert read(Imu(), rovers, data).force == pytest.approx(np.zeros((1, 3)), abs=1e-6)

    def test_rates_are_about_its_own_axes(self):
        """A rover on its side that rotates about the vertical, which is then not its z axis."""
        rovers = build_model([Rover()], [[0.0, 0.0, 0.0, -np.pi / 2, 0.0, 0.0]])
        data = mujoco.MjData(rovers.model)
        spin = np.zeros(3)
        mujoco.mju_rotVecQuat(spin, np.array([0.0, 0.0, 2.0]), np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]))
        data.qvel[3:6] = spin
        start = read(Imu(), rovers, data)
        assert start.rates[0] == pytest.approx([0.0, -2.0, 0.0], abs=1e-9)
        mujoco.mj_step(rovers.model, data, 20)
        yaw = read(Imu(), rovers, data).orientation[0, 2] - start.orientation[0, 2]
        assert yaw == pytest.approx(0.04, rel=0.05), "the world sees it turn to the left"

    @given(st.integers(0, 1000))
    def test_force_is_that_of_mujoco_anywhere_on_the_chassis(self, seed):
        """A pushed, tumbling rover with running motors; the unit is at the position of a leg's geom."""
        rng = np.random.default_rng(seed)
        rovers = build_model([Rover()], [rng.normal(size=6)])
        model, data = rovers.model, mujoco.MjData(rovers.model)
        data.qvel[:] = rng.normal(size=model.nv)
        data.xfrc_applied[1] = rng.normal(size=6)
        drive(rovers, data, rng.normal(size=(1, 2)))
        mujoco.mj_forward(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        leg, expected = rovers.rovers[0].ground[1], np.empty(6)
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_GEOM, leg, expected, 1)
        position = tuple(model.geom_pos[leg].tolist())
        assert np.linalg.norm(position) > 0.05
        assert read(Imu(position=position), rovers, data).force[0] == pytest.approx(expected[3:], abs=1e-6)

    def test_noise_has_the_set_size(self):
        rovers, data = stand(count=2)
        exact = read(Imu(), rovers, data)
        imu = Imu(rate_noise=0.01, force_noise=0.1, orientation_noise=0.02)
        rng = np.random.default_rng(1)
        bias = imu.draw_bias(2, rng)
        many = [imu.read(read_state(rovers, data), bias, INTERVAL, rng) for _ in range(2000)]
        for name, expected in (("rates", 0.05), ("force", 0.5), ("orientation", 0.02)):
            off = np.array([getattr(reading, name) for reading in many]) - getattr(exact, name)
            assert off.std(axis=0) == pytest.approx(expected, rel=0.08)
            assert off.mean(axis=0) == pytest.approx(0.0, abs=0.1 * expected)

    def test_a_bias_stays_for_a_run_and_differs_between_runs(self):
        rovers, data = stand()
        exact, imu = read(Imu(), rovers, data), Imu(rate_bias=0.1, force_bias=1.0)
        rng = np.random.default_rng(2)
        runs = []
        for _ in range(300):
            bias = imu.draw_bias(1, rng)
            first, second = (imu.read(read_state(rovers, data), bias, INTERVAL, rng) for _ in range(2))
            assert np.array_equal(first.rates, second.rates)
            assert np.array_equal(first.force, second.force)
            runs.append([first.rates - exact.rates, first.force - exact.force])
        assert np.std(runs, axis=0)[0] == pytest.approx(0.1, rel=0.2)
        assert np.std(runs, axis=0)[1] == pytest.approx(1.0, rel=0.2)

    def test_same_seed_same_reading(self):
        rovers, data = stand()
        imu = Imu(rate_noise=0.1, force_noise=0.1, orientation_noise=0.1, rate_bias=0.1, force_bias=0.1)
        one, two, other = (read(imu, rovers, data, seed) for seed in (3, 3, 4))
        for name in ("orientation", "rates", "force"):
            assert np.array_equal(getattr(one, name), getattr(two, name))
            assert not np.array_equal(getattr(one, name), getattr(other, name))


@given(st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))
def test_roll_pitch_yaw_inverts_rotation_matrix(roll, pitch, yaw):
    assert roll_pitch_yaw(rotation_matrix(roll, pitch, yaw)) == pytest.approx([roll, pitch, yaw], abs=1e-9)
