"""The state of rovers, read from MuJoCo after a step."""

import mujoco
import numpy as np
import pytest

from rover_scenes import BOTH, on_floor, run
from sandlot.robots.rover import Rover, load_rover
from sandlot.robots.rover_model import build_model
from sandlot.robots.rover_reader import read_state


@BOTH
def test_state_is_that_of_mujoco_after_the_step(name):
    rovers = on_floor(load_rover(name), load_rover("wheeled"))
    data = run(rovers, 0.5, [[0.2, 0.5], [-0.1, 0.0]])
    state = read_state(rovers, data)
    mujoco.mj_kinematics(rovers.model, data)
    for k, parts in enumerate(rovers.rovers):
        assert np.array_equal(state.position[k], data.xpos[parts.chassis])
        assert state.rotation[k] == pytest.approx(data.xmat[parts.chassis].reshape(3, 3), abs=1e-12)
        assert np.array_equal(state.rates[k], data.qvel[parts.dof + 3 : parts.dof + 6])
        assert np.array_equal(state.angular_acceleration[k], data.qacc[parts.dof + 3 : parts.dof + 6])
        acceleration = data.qacc[parts.dof : parts.dof + 3] - rovers.model.opt.gravity
        assert state.specific_force[k] == pytest.approx(state.rotation[k].T @ acceleration, abs=1e-12)
        left, right = parts.first
        assert state.wheel_angles[k].tolist() == [data.qpos[left.qpos], data.qpos[right.qpos]]
        assert state.wheel_speeds[k].tolist() == [data.qvel[left.dof], data.qvel[right.dof]]
    assert state.yaw[0] > 0.02
    assert not state.exploded.any()
    assert not state.overturned.any()


@pytest.mark.parametrize(
    ("address", "value"), [(0, np.nan), (2, 21.0), (3, -301.0), (7, np.inf), (6, np.nan), (9, -np.inf)]
)
def test_each_rover_explodes_by_itself(address, value):
    rovers = build_model([Rover(), Rover()], np.eye(2, 6))
    data = mujoco.MjData(rovers.model)
    data.qvel[:] = 19.0
    data.qvel[rovers.rovers[1].dof + address] = value
    assert read_state(rovers, data).exploded.tolist() == [False, True]


def test_a_rover_on_its_back_is_overturned():
    rovers = build_model([Rover(), Rover()], [[0, 0, 0, 1.5, 0, 0], [0, 1, 0, 1.6, 0, 0]])
    assert read_state(rovers, mujoco.MjData(rovers.model)).overturned.tolist() == [False, True]
