"""Worlds and studies of another installed package are found by their entry points."""

import subprocess
import sys

import pytest

WORLD = """
from typing import ClassVar, Literal

from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.leveling.settings import LevelingSettings
from sandlot.worlds.leveling.world import Leveling


class Garden(Leveling):
    \"\"\"A garden is dug over.\"\"\"


class Lawn(Garden):
    \"\"\"Hands all keywords on.\"\"\"

    def __init__(self, render_mode=None, **given):
        super().__init__(render_mode, **given)


class Bed(Garden):
    \"\"\"Knows its own settings only.\"\"\"

    def __init__(self, render_mode=None, shape=(6, 6)):
        super().__init__(render_mode, shape=shape, agents=2)
"""
MAKE = """
import gymnasium
import sandlot.worlds

sandlot.worlds.register()
for name, given in {"Garden": {}, "Lawn": {}, "Bed": {"shape": (7, 7)}, "Broken": {}}.items():
    world = gymnasium.make(f"sandlot/{name}-v0", **given)
    world.reset(seed=0)
    world.step(world.action_space.sample())
    print(name, world.unwrapped.settings.interface)
    print(name, gymnasium.make_vec(f"sandlot/{name}-v0", num_envs=2, **given).reset()[0].ndim)
"""
STUDY = """
from sandlot.studies import Study, study


@study("garden.dig", source="a test")
class Dig(Study):
    \"\"\"How long does it take to dig?\"\"\"
"""
POINTS = """
[sandlot.worlds]
garden = garden.world:Garden
lawn = garden.world:Lawn
bed = garden.world:Bed
broken = garden.missing:Broken
[sandlot.studies]
garden = garden.study
"""


@pytest.fixture
def python(tmp_path):
    package, about = tmp_path / "garden", tmp_path / "garden-1.0.dist-info"
    for folder in (package, about):
        folder.mkdir()
    files = {package / "__init__.py": "", package / "world.py": WORLD, package / "study.py": STUDY}
    files |= {about / "METADATA": "Metadata-Version: 2.1\nName: garden\nVersion: 1.0\n"}
    files |= {about / "entry_points.txt": POINTS}
    for path, text in files.items():
        path.write_text(text)

    def run(code, *words):
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"
        return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=tmp_path)

    return run


@pytest.fixture
def sandlot(python):
    return lambda *words: python("from sandlot.cli import main; main()", *words)


def test_they_are_listed_and_used(sandlot):
    done = sandlot("record", "garden", "--set", "shape=[8,8]", "--set", "agents=2", "--steps", "5", "--out", "a")
    assert done.returncode == 0, done.stderr
    assert "garden.dig" in sandlot("studies").stdout
    assert "How long does it take to dig?" in sandlot("studies").stdout


def test_one_that_cannot_be_imported_gets_one_line(sandlot):
    done = sandlot("record", "broken", "--steps", "5", "--out", "a")
    assert done.returncode == 2
    assert "cannot import the world 'broken' from garden.missing:Broken: No module named" in done.stderr
    assert "Traceback" not in done.stderr


def test_gymnasium_makes_them_for_learners_if_they_take_the_keyword(python):
    done = python(MAKE)
    assert done.stdout.split("\n")[:-1] == [
        *("Garden normalised", "Garden 2", "Lawn normalised", "Lawn 2", "Bed units", "Bed 3")
    ]
    last = done.stderr.splitlines()[-1]
    assert "cannot import the world 'broken' from garden.missing:Broken: No module named" in last
