"""Robots with legs that stand on soil: time of a step, compared with MuJoCo's plane under the same robot in this run.

``Soil(...).attach(model, replaces=True)`` puts soil under all geoms of a robot. Each robot is put down and settles for
half a second. From there on its steps are timed, in turns with those on the plane; the minimum of all turns counts.
Times are processor time, and include MuJoCo's own.

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
SETTLING = 0.5
"""Time that robots have to settle [s]."""
STEPS, REPETITIONS = 100, 15
"""Steps that are timed at once, and how often."""
UPRIGHT = 0.7
"""A root that ends lower than this fraction of its height at the start does not stand."""
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
BAR = 3.0


class Standing:
    """A robot that has settled on a soil, or on the plane of its model.

    Attributes:
        start: Height of its root before it settled [m].
        data: MuJoCo's data.
    """

    def __init__(self, model: mujoco.MjModel, ground: str | None) -> None:
        """Put it down, and let it settle."""
        self.data = mujoco.MjData(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, self.data, 0)
        self.start, self._model, self._soil = float(self.data.qpos[2]), model, None
        if ground is not None:
            side = round(SIDE / SPACING) + 1
            self._soil = Soil(np.zeros((side, side)), SPACING, ground)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RobotWarning)  # of geoms that are too small for the spacing
                self._soil.attach(model, replaces=True)
        self.step(round(SETTLING / model.opt.timestep))
        self._kept = np.zeros(mujoco.mj_stateSize(model, STATE))
        mujoco.mj_getState(model, self.data, self._kept, STATE)
        self._ground = self._soil.state() if self._soil else {}

    def step(self, steps: int = STEPS) -> float:
        """Make steps; returns how many."""
        if self._soil:
            self._soil.step(self.data, steps)
        else:
            mujoco.mj_step(self._model, self.data, steps)
        return steps

    def restore(self) -> None:
        """Go back to when it had settled."""
        mujoco.mj_setState(self._model, self.data, self._kept, STATE)
        if self._soil:
            self._soil.restore(self._ground)


def standing(name: str, make: Callable[[], mujoco.MjModel]) -> list[Comparison]:
    """Time a step of a robot on each soil, in turns with the plane."""
    # A model of its own for each: attaching soil changes it.
    robots = [Standing(make(), ground) for ground in (None, *GROUNDS)]

    def restore() -> None:
        for each in robots:
            each.restore()

    plane, *rates = best_rates(REPETITIONS, *(each.step for each in robots), before=restore)
    heights = [float(each.data.qpos[2]) / each.start for each in robots]
    return [
        Comparison(
            f"a step of {name} on {ground}",
            1.0 / rate,
            "s",
            1.0 / plane,
            at_most=BAR,
            note="" if min(heights[0], height) > UPRIGHT else "it did not stand",
        )
        for ground, rate, height in zip(GROUNDS, rates, heights[1:], strict=True)
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
