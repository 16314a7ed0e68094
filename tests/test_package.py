"""The wheel and the source distribution hold all that Sandlot needs, and install into an empty environment."""

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USE = """
import gymnasium, sandlot
from sandlot.worlds import WORLDS, world_id
assert "site-packages" in sandlot.__file__ or {where!r} in sandlot.__file__, sandlot.__file__
for name in WORLDS:
    world = gymnasium.make(world_id(name))
    world.reset(seed=0)
    world.close()
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel that is built from the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "sdist")
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (source,) = (path for path in folder.iterdir() if path.is_dir())
    build(source, folder, "wheel")
    (wheel,) = folder.glob("*.whl")
    return wheel


def build(source, folder, target):
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


def test_the_wheel_has_every_file_of_the_package(built):
    packed = set(zipfile.ZipFile(built).namelist())
    tracked = subprocess.run(["git", "ls-files", "src/sandlot"], cwd=ROOT, capture_output=True, text=True, check=True)
    missing = {name.removeprefix("src/") for name in tracked.stdout.splitlines()} - packed
    assert not missing


def test_the_wheel_works_without_the_repository(built, tmp_path):
    zipfile.ZipFile(built).extractall(tmp_path / "installed")
    where = str(tmp_path / "installed")
    code = "from sandlot.cli import main; import sys; sys.argv = ['sandlot', 'studies', '--json']; main()"
    done = run(["-c", code], tmp_path, PYTHONPATH=where)
    assert len(json.loads(done.stdout)) > 50
    run(["-c", USE.format(where=where)], tmp_path, PYTHONPATH=where)


@pytest.mark.slow
def test_the_wheel_installs_into_an_empty_environment(built, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env/bin/python"
    install = [python, "-m", "pip", "install", "-q", "-c", ROOT / "requirements.lock", built]
    subprocess.run(install, check=True, capture_output=True)
    subprocess.run([python, "-c", USE.format(where="")], cwd=tmp_path, check=True, capture_output=True)
    shown = subprocess.run([tmp_path / "env/bin/sandlot", "worlds"], capture_output=True, text=True, check=True)
    assert "sandlot/Water-v0" in shown.stdout


def run(arguments, folder, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
