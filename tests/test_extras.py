"""Without the extras, worlds and the command work; what needs one names it in one line."""

import subprocess
import sys

import pytest

from sandlot.errors import MissingExtraError
from sandlot.extras import need

EXTRAS = {
    "evolve": ["deap", "neat", "cma"],
    "logs": ["rosbags", "lz4", "backports"],
    "learn": ["sklearn", "SALib", "threadpoolctl"],
    "cluster": ["ray"],
}
HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def without(code: str, cwd, *extras: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that cannot import what the extras bring; all of them if none is named."""
    hidden = {name for extra in extras or EXTRAS for name in EXTRAS[extra]}
    return subprocess.run(
        [sys.executable, "-c", HIDE.format(hidden=hidden) + code], cwd=cwd, capture_output=True, text=True, check=False
    )


def command(*words: object) -> str:
    return f"sys.argv = {['sandlot', *map(str, words)]!r}\nfrom sandlot.cli import main\nmain()"


def test_need_imports_or_names_the_extra():
    assert need("json.decoder", "evolve").__name__ == "json.decoder"
    with pytest.raises(MissingExtraError) as caught:
        need("no_such_package.part", "evolve")
    assert str(caught.value) == "this needs no_such_package; install it with: pip install 'sandlot[evolve]'"


def test_an_extra_that_is_broken_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        need("half_there", "evolve")


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("worlds",),
        ("studies",),
        ("record", "leveling", "--steps", 3),
        ("record", "water", "--steps", 3),
        ("record", "indoor", "--steps", 3),
        ("run", "leveling.probabilities", "--set", "replicates=1", "--set", "world.shape=[8,8]", "--workers", 1),
    ],
)
def test_commands_work_without_extras(tmp_path, words):
    done = without(command(*words), tmp_path)
    assert done.returncode == 0, done.stderr


def test_every_world_runs_at_every_fidelity_without_extras(tmp_path):
    code = """
import gymnasium, sandlot
from sandlot.worlds import WORLDS, load, world_id
for name in WORLDS:
    for fidelity in load(name).fidelities():
        world = gymnasium.make(world_id(name), fidelity=fidelity)
        world.reset(seed=0)
        world.step(world.action_space.sample())
"""
    done = without(code, tmp_path)
    assert done.returncode == 0, done.stderr


SMALL = ["--set", "replicates=2", "--workers", 1, "--out", "run"]
FEW = ["--set", "genetic.population=8", "--set", "genetic.generations=2", "--set", "seconds=0.5"]


@pytest.mark.parametrize(
    ("extra", "package", "words"),
    [
        ("evolve", "deap", ["run", "water.shared", *FEW, *SMALL]),
        ("evolve", "neat", ["run", "water.neat", "--set", "seconds=0.5", *SMALL]),
        ("cluster", "ray", ["run", "leveling.probabilities", "--backend", "ray", *SMALL]),
        ("learn", "sklearn", ["run", "indoor.rivals", "--set", "samples=60", "--set", "validation=20", *SMALL]),
        ("logs", "rosbags", ["export", "recordings/indoor", "--out", "out.mcap"]),
        ("logs", "rosbags", ["import", "a.bag", "--out", "a"]),
    ],
)
def test_what_needs_an_extra_names_it(tmp_path, extra, package, words):
    if words[0] == "export":
        assert without(command("record", "indoor", "--steps", 3), tmp_path).returncode == 0
    if words[0] == "import":
        (tmp_path / "a.bag").write_bytes(b"#ROSBAG V2.0\n" + bytes(64))
    done = without(command(*words), tmp_path, extra)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    line = done.stderr.splitlines()[-1]
    assert line.startswith("error: ")
    assert line.endswith(f"this needs {package}; install it with: pip install 'sandlot[{extra}]'")
    assert "Traceback" not in done.stderr
