"""Every world through Gymnasium: steps a second with random actions, one world at a time, and many as one.

``gymnasium.make`` gives one world; ``gymnasium.make_vec`` gives many that are compiled as one, where a world has such a
form. A step is one action. Rates are per second of processor time, of one core; those on two cores are per second of
wall time, and mean something only on an idle machine.
"""

import time
from functools import partial
from typing import Any

import gymnasium

import sandlot.worlds
from _side_by_side import Comparison, best_rates, main

REPETITIONS = 5
BAR = 21_000.0
"""Steps a second of indoor worlds as one, on two cores."""
LEARNERS = {"fidelity": "learned", "task": "goal", "terrain": "hills", "shape": (300, 300)}
"""As `sandlot train terrain` has them, but a step is one frame."""
CASES: dict[str, tuple[str, dict[str, Any], int, int]] = {
    "indoor": ("Indoor", {}, 400, 64),
    "indoor, drive to a goal": ("Indoor", {"task": "goal"}, 400, 64),
    "leveling, a cycle of 8 agents": ("Leveling", {}, 4000, 64),
    "obstacles, fast": ("Obstacles", {"fidelity": "fast"}, 400, 256),
    "terrain, wheeled rover on soil": ("Terrain", {"fidelity": "reference"}, 200, 0),
    "terrain, learned rover": ("Terrain", {"fidelity": "learned"}, 1000, 0),
    "terrain, learned rover to a goal, 3 x 3 m": ("Terrain", LEARNERS, 1000, 64),
    "water, fast, 17 links": ("Water", {"fidelity": "fast", "snake": {"links": 17}}, 400, 120),
    "water, reference, 17 links": ("Water", {"fidelity": "reference", "snake": {"links": 17}}, 40, 0),
}
"""Name: world, settings, steps of one world in a turn, and how many worlds as one (0: there is no such form)."""


def step(world: Any, actions: Any, steps: int, many: int) -> float:
    """Step with the same random actions; episodes that end begin anew."""
    for k in range(steps):
        _, _, terminated, truncated, _ = world.step(actions[k % len(actions)])
        if not many and (terminated or truncated):
            world.reset()
    return float(steps * max(many, 1))


def compare() -> list[Comparison]:
    """Step every world through Gymnasium, one at a time, and many as one."""
    sandlot.worlds.register()
    found = []
    for name, (world, settings, steps, many) in CASES.items():
        worlds: list[Any] = [
            gymnasium.make(f"sandlot/{world}-v0", disable_env_checker=True, interface="units", **settings)
        ]
        if many:
            worlds.append(gymnasium.make_vec(f"sandlot/{world}-v0", num_envs=many, interface="units", **settings))
        works = []
        for each, count in zip(worlds, (0, many), strict=False):
            each.reset(seed=0)
            each.action_space.seed(0)
            actions = [each.action_space.sample() for _ in range(16)]
            works.append(partial(step, each, actions, max(steps // (8 if count else 1), 1), count))
            works[-1]()
        rates = best_rates(REPETITIONS, *works)
        found.append(Comparison(f"{name}, one world", rates[0], "steps/s"))
        if many:
            found.append(Comparison(f"{name}, {many} worlds as one, against one", rates[1], "steps/s", rates[0]))
    for name in ("indoor", "indoor, drive to a goal"):
        _, settings, _, many = CASES[name]
        rate = on_two_cores(settings, many)
        found.append(Comparison(f"on two cores: {name}, {many} worlds as one", rate, "steps/s", at_least=BAR))
    return found


def on_two_cores(settings: dict[str, Any], many: int) -> float:
    """Steps per second of wall time of indoor worlds as one, whose rays are cast by two threads; the best of some."""
    world: Any = gymnasium.make_vec("sandlot/Indoor-v0", num_envs=many, threads=2, interface="units", **settings)
    world.reset(seed=0)
    world.action_space.seed(0)
    actions, rates = [world.action_space.sample() for _ in range(16)], [0.0]
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        made = step(world, actions, 100, many)
        rates.append(made / (time.perf_counter() - began))
    return max(rates)


if __name__ == "__main__":
    main(compare)
