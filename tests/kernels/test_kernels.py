"""Compiled kernels are kept until a source that they depend on changes, and shared between copies of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sandlot
from sandlot.kernels import kernel
from sandlot.kernels.cache import PACKAGE, announce, closure, digest

RUN = """
import numpy as np
from sandlot.geometry.walls import Walls
from sandlot.physics.height_map import height_between
from sandlot.physics.walls import slide
wall = Walls(np.array([[1.0, -5.0, 1.0, 5.0]]), np.zeros((0, 3)))
assert height_between(np.eye(3), 0.5, 0.5, False) == 0.5
print(round(slide(0.5, 0.0, 0.1, 0.05, 0.5, wall)[0], 6))
"""


def result(package, cache):
    """What a short run of a copy of the package prints in its own process: a result, and warnings."""
    environment = {**os.environ, "PYTHONPATH": str(package), "SANDLOT_CACHE": str(cache)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout), done.stderr


def copy(folder):
    shutil.copytree(Path(sandlot.__file__).parent, folder / "sandlot", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def kept(cache):
    return {file: file.stat().st_mtime_ns for file in cache.rglob("*.nbc")}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A copy of the package, a cache that it has filled, and what its run gave."""
    package, cache = copy(tmp_path_factory.mktemp("one")), tmp_path_factory.mktemp("cache")
    value, warnings = result(package, cache)
    assert warnings == ""
    return package, cache, value


def test_another_copy_of_the_same_sources_compiles_nothing(filled, tmp_path):
    _, cache, value = filled
    before = kept(cache)
    assert result(copy(tmp_path), cache) == (value, "")
    assert kept(cache) == before


def test_a_change_in_one_kernel_reaches_those_that_call_it_and_no_others(filled, tmp_path):
    _, cache, value = filled
    package, before = copy(tmp_path), kept(cache)
    called = package / "sandlot/geometry/walls.py"
    called.write_text(called.read_text().replace("away = math.sqrt(best)", "away = math.sqrt(best) - 0.125"))
    again, warnings = result(package, cache)
    assert warnings == ""
    assert again == pytest.approx(value - 0.125), "the wall seems closer to the kernel that calls it"
    new = {file.parent.name.rpartition("-")[0] for file in kept(cache).keys() - before.keys()}
    assert new == {"walls"}


def test_damaged_files_are_compiled_again_with_one_warning(filled, tmp_path):
    package, cache, value = filled
    damaged = shutil.copytree(cache, tmp_path / "cache")
    for file in damaged.rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:100])
    again, warnings = result(package, damaged)
    assert again == value
    assert re.fullmatch(
        rf"cannot read or write compiled kernels in {damaged}/\S+: \w+; compiling them again\n", warnings
    )
    assert result(package, damaged) == (value, ""), "the damaged files have been replaced"


def test_a_cache_that_cannot_be_written_costs_one_warning(filled, tmp_path):
    package, _, value = filled
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    again, warnings = result(package, blocked)
    assert again == value
    assert re.fullmatch(rf"cannot read or write compiled kernels in {blocked}/\S+: Not a directory; .*\n", warnings)


def test_a_directory_that_another_process_makes_meanwhile_is_used(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("SANDLOT_CACHE", str(tmp_path))

    @kernel()
    def twice(x):
        return 2.0 * x

    mine = Path(twice._cache.cache_path)
    is_dir = Path.is_dir

    def made_too_late(path):
        found = is_dir(path)
        if path == mine and not found:
            mine.mkdir(parents=True)
        return found

    monkeypatch.setattr(Path, "is_dir", made_too_late)
    assert twice(3.0) == 6.0
    assert caplog.text == ""
    assert len(kept(tmp_path)) == 1


def test_only_a_user_at_a_terminal_is_told_that_kernels_compile(monkeypatch, capsys):
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        announce.cache_clear()
        for part in ("sandlot.physics.soil", "sandlot.physics.soil", "sandlot.sensing.laser"):
            announce(part)
        told = re.findall("Compiling (.*) for its first use", capsys.readouterr().err)
        assert told == (["sandlot.physics.soil", "sandlot.sensing.laser"] if terminal else [])


def test_a_kernel_depends_on_what_it_imports_only():
    names = {file.relative_to(PACKAGE).as_posix() for file in closure(PACKAGE / "physics/swarm.py")}
    assert {"physics/swarm.py", "kernels/randomness.py", "kernels/__init__.py"} <= names
    assert not any(name.startswith(("physics/soil", "worlds", "studies")) for name in names)
    assert digest(PACKAGE / "physics/swarm.py") != digest(PACKAGE / "physics/walls.py")


@pytest.mark.parametrize("flags", [{"contract"}, {"reassoc", "nsz"}])
def test_options_that_change_last_digits_are_refused(flags):
    with pytest.raises(ValueError, match="changes last digits; allowed"):
        kernel(fastmath=flags)
