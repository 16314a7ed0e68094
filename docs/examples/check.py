"""Checks the example of the page "Add a world", as if its files lay in the package: python docs/examples/check.py."""

import runpy
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import gymnasium
from gymnasium.utils.env_checker import check_env

from sandlot import recordings, studies, worlds
from sandlot.studies.runner import run
from sandlot.worlds.record import Record
from sandlot.worlds.rollout import rollout

HERE = Path(__file__).parent
for room in ("physics", "control", "worlds", "studies"):
    import_module(f"sandlot.{room}").__path__.append(str(HERE / room))

worlds.WORLDS["cart"] = "sandlot.worlds.cart:Cart"
worlds.register()
studies.MODULES += ("sandlot.studies.cart",)

sys.path.append(str(HERE / "tests"))
runpy.run_path(str(HERE / "tests/physics/test_cart.py"))["test_agrees_with_its_twin"]()

ends = {}
for fidelity in ("fast", "reference"):
    world = gymnasium.make(worlds.world_id("cart"), interface="units", fidelity=fidelity, render_mode="rgb_array")
    check_env(world.unwrapped)
    with tempfile.TemporaryDirectory() as folder:
        env = Record(world, Path(folder) / "a", seed=0)
        for _ in rollout(env, world.unwrapped.controller("spring"), 0, 2000):
            pass
        env.close()
        with recordings.open(Path(folder) / "a") as recording:
            ends[fidelity] = float(recording["time"][-1])
print("time until stopped [s]:", ends)
assert abs(ends["fast"] - ends["reference"]) < 0.5, "the fidelities disagree"

with tempfile.TemporaryDirectory() as folder:
    outcome = run(studies.find("cart.damping")(replicates=5), Path(folder))
print(*outcome.claims, sep="\n")
