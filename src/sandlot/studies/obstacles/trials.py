"""How runs over given obstacles end, at either fidelity: shared by the studies of the gap and of the trained policy."""

from collections.abc import Sequence

import numpy as np

from sandlot.places.course_kinds import Kind
from sandlot.robots.climber import load_climber
from sandlot.robots.climbers import INTERVAL
from sandlot.studies.obstacles.ladder import make_controller, map_rows
from sandlot.studies.statistics import Interval
from sandlot.typing import Array, BoolArray
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.rollout import rollout

FIDELITIES = ("fast", "reference")
PASSED, OVERTURNED, STUCK, OUT_OF_TIME, EXPLODED = range(5)
ENDINGS = ("passed", "overturned", "stuck", "out of time", "exploded")
TYPICAL_RISERS, TYPICAL_TREADS = (0.178, 0.203), (0.254, 0.304)
"""Of typical staircases [m]: section 7.2.2 of the source."""


def endings(name: str, kinds: Sequence[Kind], fidelity: str, seed: int) -> Array:
    """Let a controller try each course once; returns how each run ends: (runs,) codes of `ENDINGS`.

    Args:
        name: Of the controller, one of `sandlot.studies.obstacles.ladder.CONTROLLERS`.
        kinds: Courses.
        fidelity: ``fast`` or ``reference``; with the same seed, courses and starts are the same at both.
        seed: Of the first run; the next ones have the next seeds.
    """
    settings = ObstaclesSettings(fidelity=fidelity, rows=map_rows(name))
    world = ObstaclesVector(num_envs=len(kinds), autoreset_mode="Disabled", settings=settings)
    controller = make_controller(name, load_climber())
    found = np.full(len(kinds), float(OUT_OF_TIME))
    for step in rollout(world, controller, seed, round(settings.seconds / INTERVAL), options={"courses": list(kinds)}):
        task = world.task
        for code, mask in ((STUCK, task.stuck), (OVERTURNED, task.overturned), (PASSED, task.passed)):
            found[step.ended & mask] = code
        found[step.ended & task.exploded] = EXPLODED
        task.running = step.running & ~step.ended
    return found


def rate_interval(passed: BoolArray, confidence: float = 0.95) -> Interval:
    """A success rate with its confidence interval (Wilson 1927)."""
    count = int(passed.sum())
    from scipy import stats  # loaded when needed: it takes a second, in each worker

    found = stats.binomtest(count, passed.size).proportion_ci(confidence, "wilson")
    return Interval(count / passed.size, float(found.low), float(found.high))


def in_percent(interval: Interval) -> str:
    """An interval of shares, as text."""
    return f"{interval.mean:.1%} ({interval.low:.1%} to {interval.high:.1%})"
