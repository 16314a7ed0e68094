"""MuJoCo's memory: arrays are views of it, and its functions can be called by their addresses."""

import mujoco
import numpy as np
import pytest
from numba import config

from sandlot.kernels import kernel
from sandlot.physics.mujoco_bridge import (
    AppliedForces,
    Simulation,
    addresses,
    applied_forces,
    call,
    empty_simulation,
    keep_forces,
    restore_forces,
    simulation_arrays,
)

MODEL = """<mujoco><size nuserdata="3"/><worldbody>
<body mocap="true"><geom size="1"/></body>
<body pos="0 0 1"><freejoint/><geom size="0.1"/><body pos="1 0 0"><joint/><geom size="0.1"/></body></body>
</worldbody></mujoco>"""


@pytest.fixture
def data():
    return mujoco.MjData(mujoco.MjModel.from_xml_string(MODEL))


def test_arrays_are_views_and_empty_ones_have_the_same_columns(data):
    arrays, empty = simulation_arrays(data), empty_simulation()
    arrays.qvel[0] = 7.0
    assert data.qvel[0] == 7.0
    for name in Simulation._fields:
        assert getattr(arrays, name).shape[1:] == getattr(empty, name).shape[1:]
        assert len(getattr(empty, name)) == 0


def test_applied_forces_are_kept_and_restored(data):
    arrays, kept = simulation_arrays(data), applied_forces(data.model)
    rng = np.random.default_rng(0)
    data.xfrc_applied[:], data.qfrc_applied[:] = rng.random((data.model.nbody, 6)), rng.random(data.model.nv)
    before = AppliedForces(data.xfrc_applied.copy(), data.qfrc_applied.copy())
    keep_forces(arrays, kept)
    data.xfrc_applied[:], data.qfrc_applied[:] = 1.0, 2.0
    restore_forces(arrays, kept)
    assert np.array_equal(data.xfrc_applied, before.forces)
    assert np.array_equal(data.qfrc_applied, before.torques)


@kernel()
def both_halves(where):
    call(where.mj_step1, where.model, where.data)
    call(where.mj_step2, where.model, where.data)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="only compiled code calls C functions by their addresses")
def test_functions_called_by_address_step_the_simulation(data):
    other = mujoco.MjData(data.model)
    data.qvel[:] = other.qvel[:] = 0.1
    both_halves(addresses(data.model, data))
    mujoco.mj_step(data.model, other)
    assert data.time == data.model.opt.timestep
    assert np.array_equal(data.qpos, other.qpos)
