"""What is compiled is kept until a source of it changes."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import sandlot

RUN = """
import numpy as np
from sandlot.worlds.leveling import Leveling
world = Leveling(shape=(8, 8), sensing=0.1)
world.reset(seed=0)
world.run(world.controller("probabilistic", np.random.SeedSequence(0)), 2000)
print(world.swarm.tally[3])
"""


def moved(package):
    """Units moved in a short run by a copy of the package, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_a_change_in_one_kernel_reaches_those_that_call_it(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(sandlot.__file__).parent, tmp_path / "sandlot", ignore=ignored)
    before = moved(tmp_path)
    assert moved(tmp_path) == before
    kernel = tmp_path / "sandlot/physics/swarm.py"
    kernel.write_text(kernel.read_text().replace("tally[MOVED] += 1", "tally[MOVED] += 1000"))
    # What an old version has left may name what is no longer there.
    for index in tmp_path.rglob("*.nbi"):
        with index.open("rb") as file:
            version = pickle.load(file)
        index.write_bytes(pickle.dumps(version) + b"cnowhere\nNothing\n.")
    assert moved(tmp_path) == 1000 * before > 0
