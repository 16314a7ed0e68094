"""Many robots on soils of their own, stepped in one call: on two cores against one, and against a loop over robots.

The robots are those of ``docs/examples/learning_to_walk.py``. All sides step the same robots in turns, so that a busy
machine slows all of them, and the fastest call of each side counts. Rates are in physics steps of one robot per second
of wall time. The load of the machine, as it was before, is kept with the results.
"""

import os
import runpy
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from _side_by_side import Comparison, main
from sandlot.physics.soil import Soil, Soils
from sandlot.typing import Array

ROBOTS, THREADS = 64, 2
REPETITIONS = 60
CALLS = (20, 1)
"""Physics steps in one call: those of an action of the example, and the least."""
UNIT = "physics steps of one robot/s"
EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "docs/examples/learning_to_walk.py"))


def walkers(threads: int) -> tuple[Soils, list[mujoco.MjData]]:
    """Robots that stand on soft ground, after half a second."""
    robots: Any = EXAMPLE["Walkers"](ROBOTS, "soft", threads, autoreset=False)
    robots.reset(seed=0)
    for _ in range(25):
        robots.step(np.zeros((ROBOTS, EXAMPLE["ACTIONS"])))
    return robots.soils, robots.datas


def one_by_one(soils: list[Soil], datas: list[mujoco.MjData], steps: int) -> None:
    """Step robots in a loop."""
    for soil, data in zip(soils, datas, strict=True):
        soil.step(data, steps)


def states(datas: list[mujoco.MjData]) -> Array:
    """Positions and velocities of all robots."""
    return np.array([np.concatenate([data.qpos, data.qvel]) for data in datas])


def rates(steps: int, *works: Callable[[int], object]) -> list[float]:
    """Steps of one robot per second, in the fastest call of each."""
    best = [np.inf] * len(works)
    for _ in range(REPETITIONS):
        for k, work in enumerate(works):
            start = time.perf_counter()
            work(steps)
            best[k] = min(best[k], time.perf_counter() - start)
    return [ROBOTS * steps / each for each in best]


def compare() -> list[Comparison]:
    """Compare many robots in one call on two threads with one thread, and with a loop over robots."""
    load = f"load of the machine before: {os.getloadavg()[0]:.1f}"
    (both, moved), (one, alone), (loop, single) = walkers(THREADS), walkers(1), walkers(1)
    works: list[Callable[[int], object]] = [
        partial(both.step, moved),
        partial(one.step, alone),
        partial(one_by_one, [*loop], single),
    ]
    found = []
    for steps in CALLS:
        ours, peer, looped = rates(steps, *works)
        name, bar = f"{ROBOTS} robots, steps in a call: {steps}", 1.7 if steps == CALLS[0] else None
        found += [
            Comparison(f"{name}, two threads against one", ours, UNIT, peer, at_least=bar, note=load),
            Comparison(f"{name}, two threads against a loop", ours, UNIT, looped, note=load),
        ]
    same = np.array_equal(states(moved), states(alone)) and np.array_equal(states(moved), states(single))
    return [*found, Comparison("all three end in the same state, bit for bit", float(same), "1", at_least=1.0)]


if __name__ == "__main__":
    main(compare)
