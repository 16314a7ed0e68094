"""Climbing, side by side with the reference: commands of one robot per second; and many worlds as one.

A command lasts 0.05 s: ten steps of 0.005 s in the planar model, fifty of 0.001 s in the reference. Robots drive on
boxes, stairs and rubble of random size with axle angles that change at random twice a second, so that contacts change
all the time. Rates are per second of processor time over all threads, which is that of one core; the rate of two cores
is twice the rate of one.

``gymnasium.make_vec`` gives a vector world that is compiled as one, with elevation maps, rewards and resets; its peer
is as many single worlds, stepped in a loop by Gymnasium's own ``SyncVectorEnv``.
"""

from functools import partial
from typing import Any

import gymnasium
import numpy as np

from _side_by_side import Comparison, best_rates, main
from sandlot.places.course_kinds import Mixed
from sandlot.robots.climber import load_climber
from sandlot.robots.climbers import Climbers
from sandlot.robots.fast_climbers import FastClimbers
from sandlot.robots.reference_climbers import ReferenceClimbers
from sandlot.typing import Array

THREADS = 2
REPETITIONS = 3
ROBOTS, COMMANDS = 1024, 100
PEERS, PEER_COMMANDS = 12, 100
HOLD = 10
"""Commands for which axle angles stay."""
WORLDS = 256
WORLD_COMMANDS = (100, 4)
"""Given to a vector world, and to its peer."""
UNIT = "commands of one robot/s"


def commands(count: int, number: int) -> Array:
    """Random axle angles, and belts at 0.5 m/s: (number, count, 4)."""
    rng = np.random.default_rng(1)
    angles = np.repeat(rng.uniform(-1.0, 1.0, (-(-number // HOLD), count, 2)), HOLD, axis=0)[:number]
    return np.concatenate([angles, np.full((number, count, 2), 0.5)], axis=2)


def climb(climbers: Climbers, number: int) -> float:
    """Drive from the start; returns the number of commands of all robots."""
    climbers.restart(np.arange(climbers.count))
    for each in commands(climbers.count, number):
        climbers.command(each)
    if climbers.exploded.any():
        raise RuntimeError("a simulation exploded")
    return float(climbers.count * number)


def step_worlds(worlds: Any, number: int) -> float:
    """Step many worlds; returns the number of steps of all of them."""
    worlds.reset(seed=0)
    for each in commands(worlds.num_envs, number):
        worlds.step(each)
    return float(worlds.num_envs * number)


def compare_worlds() -> Comparison:
    """Compare a vector world with as many single ones."""
    works = []
    for mode, number in zip((None, "sync"), WORLD_COMMANDS, strict=True):
        worlds = gymnasium.make_vec("sandlot/Obstacles-v0", WORLDS, vectorization_mode=mode, interface="units")
        works.append(partial(step_worlds, worlds, number))
        works[-1]()
    ours, single = best_rates(REPETITIONS, *works)
    return Comparison(f"{WORLDS} worlds as one, against single ones", ours, "steps/s", single)


def compare() -> list[Comparison]:
    """Compare the planar model with the reference, and a vector world with single ones."""
    climber, rng, mixed = load_climber(), np.random.default_rng(0), Mixed()
    courses = [mixed.draw(rng) for _ in range(ROBOTS)]
    fast = FastClimbers(climber, courses, threads=THREADS)
    reference = ReferenceClimbers(climber, courses[:PEERS], threads=THREADS)
    works = [partial(climb, fast, COMMANDS), partial(climb, reference, PEER_COMMANDS)]
    for work in works:
        work()
    ours, trusted = best_rates(REPETITIONS, *works)
    return [
        Comparison("climbing, against the reference", ours, UNIT, trusted, at_least=50.0),
        Comparison("climbing, on two cores", THREADS * ours, UNIT, at_least=300_000.0),
        compare_worlds(),
    ]


if __name__ == "__main__":
    main(compare)
