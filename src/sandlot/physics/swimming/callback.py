"""MuJoCo calls `forces.push` for the simulations of swimming bodies.

MuJoCo calls one callback for every simulation of the process. This one looks for a mark in a simulation's user data,
and leaves every other simulation alone.

User data of a swimming simulation are a record of `forces.SIMULATION`, then the plan of its joints (3, joints).
"""

from functools import cache
from typing import Any

from sandlot.kernels import c_callback
from sandlot.physics.mujoco_bridge import PASSIVE, passive_layout, passive_state, set_passive
from sandlot.physics.swimming.forces import MARK, SIMULATION, push

SIMULATION_WORDS = SIMULATION.itemsize // 8
"""User data before the plan."""


@cache
def install() -> Any:
    """Make MuJoCo call `push` for the swimming simulations of this process; calling it again has no effect."""
    layout = passive_layout()

    @c_callback(PASSIVE)
    def passive(model: Any, data: Any) -> None:
        state = passive_state(model, data, layout)
        if state.userdata.size < SIMULATION_WORDS or state.userdata[0] != MARK:
            return
        simulation = state.userdata[:SIMULATION_WORDS].view(SIMULATION)[0]
        plan = state.userdata[SIMULATION_WORDS:].reshape(3, simulation.body.links - 1)
        push(state.qpos, state.qvel, state.qfrc_passive, state.time, simulation, plan)

    set_passive(passive)
    return passive
