"""Compiles the last kernels of a step on soil: run as a second process while a first one compiles `advance`.

See `sandlot.kernels.helper`.
"""

import sys
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from numba.core.registry import cpu_target

from sandlot.kernels.helper import compile_inner, signature
from sandlot.physics.mujoco_bridge import applied_forces, prepare
from sandlot.physics.soil.balance import balance
from sandlot.physics.soil.soil import Soil
from sandlot.physics.soil.step import advance, leave_traces

GEOMS = {"sphere": 'type="sphere" size="0.1"', "mesh": 'type="mesh" mesh="wedge"'}
MODEL = """<mujoco><asset><mesh name="wedge" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset>
<worldbody><body><freejoint/><geom {geom} mass="1"/></body></worldbody></mujoco>"""


def examples() -> Iterator[tuple[Any, ...]]:
    """Arguments of `advance`, of every kind that there is."""
    for geom in GEOMS.values():
        model = mujoco.MjModel.from_xml_string(MODEL.format(geom=geom))
        soil, made = Soil(np.zeros((9, 9)), 0.02).attach(model), prepare(model, mujoco.MjData(model))
        given = (soil._ground, soil._soils, soil._contacts, made.simulation, made.dynamics)
        yield (*given, applied_forces(model), made.addresses, 0.001, 1, False)


def main(wanted: str) -> None:
    """Compile for the kinds of arguments that `advance` is compiled for, whose file has this name."""
    kernel: Any = advance
    for arguments in examples():
        if kernel._cache.name(signature(arguments), cpu_target.target_context) == wanted:
            ground, soils, contacts, simulation, dynamics, *_ = arguments
            joints, touched, dt = contacts.joints, contacts.touched[:1], 0.001
            compile_inner(leave_traces, (ground, soils, contacts, simulation, 1, dt))
            loaded = (joints, joints.trees[0], touched, contacts.shapes, contacts.loads, contacts.batches, soils)
            compile_inner(balance, (*loaded, simulation.qvel, dynamics, dt, ground.spacing))


if __name__ == "__main__":
    main(sys.argv[1])
