"""Runs of a controller over courses of different kinds, all at once."""

import numpy as np

from sandlot.places.course_kinds import Flat
from sandlot.robots.climbers import Start
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.task import ObstaclesTask


def run(controller, kinds, fidelity="fast", seed=0, threads=2):
    """How each run ends: an array of ``passed``, ``overturned``, ``stuck`` or ``late``."""
    count, rng = len(kinds), np.random.default_rng(seed)
    generators = rng.spawn(count)
    task = ObstaclesTask(ObstaclesSettings(fidelity=fidelity, course=Flat()), count, threads)
    everyone, ends = np.arange(count), np.full(count, "running", dtype="<U10")
    task.restart(everyone, [(kind.draw(rng), Start(rng.uniform(-0.1, 0.1))) for kind in kinds])
    task.look(everyone, generators)
    controller.reset([np.random.SeedSequence(k) for k in range(count)])
    actions = np.zeros((count, 4))
    while (ends == "running").any():
        running = np.flatnonzero(ends == "running")
        actions[running] = controller.act(task.observe()[running], running.tolist())
        task.command(actions)
        task.look(everyone, generators)
        terminated, truncated = task.ends()
        for k in running[(terminated | truncated)[running]]:
            known = {"passed": task.passed[k], "overturned": task.overturned[k], "stuck": task.stuck[k]}
            ends[k] = next((name for name, true in known.items() if true), "late")
    return ends
