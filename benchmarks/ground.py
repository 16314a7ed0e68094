"""Robots with legs that stand on soil: time of a step, compared with MuJoCo's plane under the same robot in this run.

``Soil(...).attach(model, replaces=True)`` puts soil under all geoms of a robot. Each robot is put down, settles, and
goes on standing while its steps are timed, in turns with those of the plane; the minimum of all turns counts. Times are
processor time, and include MuJoCo's own.

Robots are those of `sandlot.robots.legged`, of which the humanoid consists of meshes. With a folder such as a clone of
the MuJoCo Menagerie on the command line, all ``scene.xml`` in it follow, each in the pose of its first keyframe.
"""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import mujoco
import numpy as np

from _side_by_side import Comparison, best_rates, main
from sandlot.errors import RobotWarning
from sandlot.physics.soil import Soil
from sandlot.robots.legged import ROBOTS, legged_spec

NAMES = ("large quadruped", "humanoid")
GROUNDS = ("rigid", "LETE sand", "mid")
SIDE, SPACING = 2.4, 0.01
"""Of the ground, and of its nodes [m]."""
SETTLING = 1.0
"""Time that robots have to settle [s]."""
STEPS, REPETITIONS = 100, 15
"""Steps that are timed at once, and how often."""
UPRIGHT = 0.7
"""A root that ends lower than this fraction of its height at the start has fallen."""
BAR = 3.0


def put_down(model: mujoco.MjModel, ground: str | None) -> tuple[mujoco.MjData, Callable[[int], object]]:
    """A robot that has settled on a soil, or on the plane of its model, and what steps it on."""
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    steps = round(SETTLING / model.opt.timestep)
    if ground is None:
        mujoco.mj_step(model, data, steps)
        return data, lambda count: mujoco.mj_step(model, data, count)
    side = round(SIDE / SPACING) + 1
    soil = Soil(np.zeros((side, side)), SPACING, ground)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # of geoms that are too small for the spacing
        soil.attach(model, replaces=True)
    soil.step(data, steps)
    return data, lambda count: soil.step(data, count)


def standing(name: str, make: Callable[[], mujoco.MjModel]) -> list[Comparison]:
    """Time a step of a robot on each soil, in turns with the plane."""
    # A model of its own for each: attaching soil changes it.
    robots = [put_down(make(), ground) for ground in (None, *GROUNDS)]
    heights = [float(data.qpos[2]) for data, _ in robots]

    def timed(step: Callable[[int], object]) -> Callable[[], float]:
        def work() -> float:
            step(STEPS)
            return STEPS

        return work

    plane, *rates = best_rates(REPETITIONS, *(timed(step) for _, step in robots))
    fallen = [float(data.qpos[2]) < UPRIGHT * height for (data, _), height in zip(robots, heights, strict=True)]
    return [
        Comparison(
            f"a step of {name} on {ground}",
            1.0 / rate,
            "s",
            1.0 / plane,
            at_most=BAR,
            note="it fell over while it was timed" if fallen[0] or fell else "",
        )
        for ground, rate, fell in zip(GROUNDS, rates, fallen[1:], strict=True)
    ]


def compare(folder: str | None) -> list[Comparison]:
    """Time robots that stand on soil, against the same robots on MuJoCo's plane."""
    scenes = sorted(Path(folder).rglob("scene.xml")) if folder else []
    robots: dict[str, Callable[[], mujoco.MjModel]] = {
        **{f"the {name}": legged_spec(ROBOTS[name], floor=True).compile for name in NAMES},
        **{scene.parent.name: partial(mujoco.MjModel.from_xml_path, str(scene)) for scene in scenes},
    }
    return [row for name, make in robots.items() for row in standing(name, make)]


if __name__ == "__main__":
    main(compare, folder="folder with MuJoCo models of other robots, each with a scene.xml")
