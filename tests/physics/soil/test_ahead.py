"""The process that helps to compile the step on soil compiles it for what robots need."""

import os
import subprocess
import sys

import pytest
from numba.core.registry import cpu_target

from sandlot.kernels.helper import signature
from sandlot.physics.mujoco_bridge import applied_forces, prepare
from sandlot.physics.soil.ahead import examples
from sandlot.physics.soil.step import advance
from soil_scenes import BODIES, compiled, field, loose_body

RUN = """
import mujoco, numpy as np
from sandlot.physics.soil import Soil
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><body pos="0 0 .09"><freejoint/>'
    '<geom type="box" size=".1 .1 .1" mass="9" euler="5 3 0"/></body></worldbody></mujoco>')
data = mujoco.MjData(model)
Soil(np.zeros((41, 41)), 0.02).attach(model).step(data, 300)
print(data.qpos.tobytes().hex())
"""


@compiled
@pytest.mark.parametrize("body", ["box", "mesh"])
def test_its_examples_are_of_the_kinds_that_robots_need(body):
    model, data = loose_body(BODIES[body])
    soil, made = field().attach(model), prepare(model, data)
    given = (soil._ground, soil._soils, soil._contacts, made.simulation, made.dynamics, applied_forces(model))
    wanted = signature((*given, made.addresses, model.opt.timestep, 3, False))
    names = [advance._cache.name(signature(each), cpu_target.target_context) for each in examples()]
    assert advance._cache.name(wanted, cpu_target.target_context) == names[body == "mesh"]


@compiled
@pytest.mark.slow
def test_a_step_that_was_just_compiled_gives_the_same_bits_as_one_from_disk(tmp_path):
    environment = {**os.environ, "SANDLOT_CACHE": str(tmp_path)}
    found = [
        subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert list(tmp_path.glob("balance-*/balance-*inner-*.nbc"))
