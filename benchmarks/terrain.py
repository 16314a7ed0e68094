"""Ground that gives way: what a step of it costs, beside Project Chrono's soil contact model.

Chrono does not install from PyPI, so its times are those measured beforehand, on one thread of a machine like the one
this was written on: the least of those given. All others are measured in this run, as processor time.
"""

import time
from collections.abc import Callable

import mujoco
import numpy as np

from _side_by_side import Comparison, main
from sandlot.physics.soil import Soil
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive

CHRONO = {0.02: 0.38e-3, 0.01: 1.7e-3}
"""Least time of its soil step, for the wheel below, by spacing of the ground [m]: [s]."""
REPETITIONS = 7
WHEEL = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body>
      <joint type="slide" axis="1 0 0" armature="1e9"/>
      <joint type="slide" axis="0 0 1"/>
      <joint type="hinge" axis="0 1 0" armature="1e9"/>
      <geom type="cylinder" size="0.25 0.1" euler="90 0 0" mass="50.97"/>
    </body>
  </worldbody>
</mujoco>"""
SPEED, SLIP, RADIUS = 0.4, 0.3, 0.25
SIDES = (18.0, 36.0, 72.0)
"""Of the source's three terrains, in units of its rover: these are scaled to ours, 600 nodes for the smallest."""


def least(work: Callable[[], object]) -> float:
    """Least processor time of several tries [s]."""
    times = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def wheel(spacing: float, steps: int = 1000) -> float:
    """Time of a step of the soil under a wheel of 500 N that slips by 30% [s], without MuJoCo's own."""
    model = mujoco.MjModel.from_xml_string(WHEEL)
    data = mujoco.MjData(model)
    soil = Soil(np.zeros((round(0.8 / spacing), round(6.0 / spacing))), spacing, "soft").attach(model)
    data.qpos[:2], data.qvel[:] = (-2.5, RADIUS), (SPEED, 0.0, SPEED / (1.0 - SLIP) / RADIUS)
    soil.step(data, 1000)
    with_soil = least(lambda: soil.step(data, steps))
    alone = least(lambda: mujoco.mj_step(model, data, steps))
    return (with_soil - alone) / steps


def rover(name: str, side: int = 300, seconds: float = 2.0) -> float:
    """How many times faster than real time a rover drives over soil, in steps of 1 ms."""
    made = build_model([load_rover(name)], [[0.0, 0.0, 0.06, 0.0, 0.0, 0.0]])
    parts, data = made.rovers[0], mujoco.MjData(made.model)
    soil = Soil(np.zeros((side, side)), 0.01, "mid", wrap=True).attach(made.model, parts.ground, parts.tracks)
    soil.step(data, 500)
    drive(made, data, [[0.2, 0.3]])
    return seconds / least(lambda: soil.step(data, round(seconds * 1000)))


def compare() -> list[Comparison]:
    """Time the soil under a wheel, and a whole rover on it."""
    soils = [
        Comparison(f"soil step under a wheel, {1000 * spacing:g} mm", wheel(spacing), "s", chrono, at_most=0.05)
        for spacing, chrono in CHRONO.items()
    ]
    rovers = [
        Comparison(f"{name} rover on soil, 1 ms steps", rover(name), "x real time", at_least=20.0)
        for name in ("wheeled", "tracked")
    ]
    small, *others = (rover("wheeled", round(600 * side / SIDES[0])) for side in SIDES)
    flat = Comparison("frame time, largest terrain against smallest", small / min(others), "times", at_most=1.3)
    return [*soils, *rovers, flat]


if __name__ == "__main__":
    main(compare)
