"""Compiled kernels are kept until a source that they depend on changes, and shared between copies of the package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sandlot
from sandlot.kernels.cache import PACKAGE, closure, digest

RUN = """
import numpy as np
from sandlot.worlds.leveling.world import Leveling
world = Leveling(shape=(8, 8), sensing=0.1)
world.reset(seed=0)
world.run(world.controller("probabilistic", np.random.SeedSequence(0)), 2000)
print(world.swarm.tally[3])
"""


def moved(package, cache):
    """Units moved in a short run by a copy of the package in its own process, and what it printed as warnings."""
    environment = {**os.environ, "PYTHONPATH": str(package), "SANDLOT_CACHE": str(cache)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout), done.stderr


def copy(folder):
    shutil.copytree(Path(sandlot.__file__).parent, folder / "sandlot", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def kept(cache):
    return {file: file.stat().st_mtime_ns for file in cache.rglob("*.nbc")}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A copy of the package, a cache that it has filled, and what its run gave."""
    package, cache = copy(tmp_path_factory.mktemp("one")), tmp_path_factory.mktemp("cache")
    count, warnings = moved(package, cache)
    assert warnings == ""
    return package, cache, count


def test_another_copy_of_the_same_sources_compiles_nothing(filled, tmp_path):
    _, cache, count = filled
    before = kept(cache)
    assert moved(copy(tmp_path), cache) == (count, "")
    assert kept(cache) == before


def test_a_change_in_one_kernel_reaches_those_that_call_it_and_no_others(filled, tmp_path):
    _, cache, count = filled
    package, before = copy(tmp_path), kept(cache)
    kernel = package / "sandlot/physics/swarm.py"
    kernel.write_text(kernel.read_text().replace("tally[MOVED] += 1", "tally[MOVED] += 1000"))
    assert moved(package, cache) == (1000 * count, "")
    new = {file.parent.name.rpartition("-")[0] for file in kept(cache).keys() - before.keys()}
    assert "swarm" in new
    assert "randomness" not in new


def test_damaged_files_are_compiled_again_with_one_warning(filled, tmp_path):
    package, cache, count = filled
    damaged = shutil.copytree(cache, tmp_path / "cache")
    for file in damaged.rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:100])
    again, warnings = moved(package, damaged)
    assert again == count
    assert warnings.count("kernels are compiled in memory") == 1
    assert moved(package, damaged) == (count, ""), "the damaged files have been replaced"


def test_a_cache_that_cannot_be_written_costs_one_warning(filled, tmp_path):
    package, _, count = filled
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    again, warnings = moved(package, blocked)
    assert again == count
    assert warnings.count("kernels are compiled in memory") == 1


def test_a_kernel_depends_on_what_it_imports_only():
    names = {file.relative_to(PACKAGE).as_posix() for file in closure(PACKAGE / "physics/swarm.py")}
    assert {"physics/swarm.py", "kernels/randomness.py", "kernels/__init__.py"} <= names
    assert not any(name.startswith(("physics/soil", "worlds", "studies")) for name in names)
    assert digest(PACKAGE / "physics/swarm.py") != digest(PACKAGE / "physics/walls.py")
