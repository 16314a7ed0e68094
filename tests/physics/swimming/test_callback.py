"""MuJoCo's callback for swimming bodies: other simulations are left alone, and explosions print nothing."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest
from numba import config

from sandlot.physics.swimming import callback
from sandlot.robots.reference_swimmers import ReferenceSwimmers
from swimming_bodies import SNAKE, swim

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo can only call compiled code")


def pendulum():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint axis='0 1 0' damping='0.1'/><geom size='0.1' pos='0.5 0 0'/></body>"
        "</worldbody></mujoco>"
    )
    return model, mujoco.MjData(model)


def fall():
    model, data = pendulum()
    mujoco.mj_step(model, data, 500)
    return data.qpos.copy(), data.qvel.copy()


def test_other_simulations_are_left_alone():
    mine = mujoco.get_mjcb_passive()
    mujoco.set_mjcb_passive(None)
    try:
        without = fall()
    finally:
        mujoco.set_mjcb_passive(mine)
    callback.install()
    swimmers = swim(ReferenceSwimmers(SNAKE, 1), 0.2)
    assert np.array_equal(fall(), without)
    assert swimmers.velocity.any()


def test_simulations_with_other_user_data_are_left_alone():
    callback.install()
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><size nuserdata='{callback.SIMULATION_WORDS + 6}'/><worldbody>"
        "<body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.userdata[:] = given = np.arange(1.0, data.userdata.size + 1.0)
    mujoco.mj_step(model, data, 10)
    assert data.qfrc_passive.tolist() == [0.0]
    assert data.userdata.tolist() == given.tolist()


def test_installing_twice_has_no_effect():
    one = swim(ReferenceSwimmers(SNAKE, 1), 0.5).centre.copy()
    callback.install()
    callback.install()
    assert np.array_equal(swim(ReferenceSwimmers(SNAKE, 1), 0.5).centre, one)


def test_mujoco_prints_and_logs_nothing_about_an_explosion(tmp_path):
    program = (
        "import numpy as np\n"
        "from sandlot.robots.snake import Snake\n"
        "from sandlot.robots.reference_swimmers import ReferenceSwimmers\n"
        "swimmers = ReferenceSwimmers(Snake(links=4), 2, threads=2)\n"
        "swimmers.command(np.zeros((2, 3)))\n"
        "never = {'__or__': lambda s, o: s, '__invert__': lambda s: np.ones(2, bool)}\n"
        "swimmers._lost = type('Never', (), never)()\n"
        "swimmers._velocity[1] = 1e12\n"
        "swimmers.command(np.zeros((2, 3)))\n"
        "assert not np.isfinite(swimmers.centre[1]).all()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == done.stderr == ""
    assert not list(tmp_path.iterdir()), "as MUJOCO_LOG.TXT would be"


def test_warnings_of_other_simulations_are_kept():
    warnings = []
    mujoco.set_mju_user_warning(warnings.append)
    try:
        swim(ReferenceSwimmers(SNAKE, 1), 0.1)
        model, data = pendulum()
        data.qvel[0] = 1e12
        mujoco.mj_step(model, data)
    finally:
        mujoco.set_mju_user_warning(None)
    assert warnings
