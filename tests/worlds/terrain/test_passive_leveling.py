"""Rovers that level by driving alone, in the real world at every fidelity."""

import numpy as np
import pytest

from sandlot.control.passive_leveling import CLIMBING, KINDS
from sandlot.worlds.rollout import rollout
from sandlot.worlds.terrain.world import Terrain


def test_a_rover_on_a_ramp_climbs():
    world = Terrain(shape=(201, 201), terrain="flat", ground="rigid", wrap=False)
    world._map = np.tile(0.2 * np.linspace(-1.0, 1.0, 201), (201, 1))
    seen, _ = world.reset(seed=0)
    rule = world.controller("charge")
    rule.reset([np.random.SeedSequence(0)])
    rule.act(seen[None])
    assert rule.minds["doing"][0, 0] == CLIMBING


@pytest.mark.parametrize(
    ("fidelity", "kind", "steps"),
    [*(("learned", kind, 3000) for kind in KINDS), ("reference", "shared", 1500)],
)
def test_rovers_follow_every_rule_over_hills(fidelity, kind, steps):
    hills = {"terrain": "hills", "hill_size": 0.1, "relief": 0.1, "shape": (150, 150)}
    world = Terrain(fidelity=fidelity, rovers=("wheeled",) * 3, soil="mid", **hills)
    rule = world.controller(kind)
    for _ in rollout(world, rule, 3, steps):
        pass
    assert not world.exploded
    assert (world.task.path_length > 0.15).all()
    minds = rule.minds[0]
    assert (minds["climbs"].sum() > 0) == (kind != "walk")
    assert (minds["spins"].sum() > 0) == (kind not in ("walk", "charge"))
    assert (rule.known.sum() > 0) == (kind in ("memory", "shared"))
    initial, heights = world.task.ground.initial, world.task.ground.heights
    assert heights.sum() == pytest.approx(initial.sum(), abs=1e-6)
