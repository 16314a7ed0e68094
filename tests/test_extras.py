"""Without the extras, worlds and the command work; what needs one names it in one line."""

import re
import subprocess
import sys

import pytest

from sandlot.errors import MissingExtraError
from sandlot.extras import need

EXTRAS = {
    "evolve": ["deap", "neat", "cma"],
    "logs": ["rosbags", "lz4", "backports"],
    "learn": ["sklearn", "SALib", "threadpoolctl", "torch"],
    "maps": ["cv2"],
    "video": ["imageio_ffmpeg", "moviepy"],
    "viewers": ["mcap", "rerun"],
    "cluster": ["ray"],
    "tune": ["optuna"],
    "lab": ["viser"],
    "rover": ["serial"],
}
HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def without_extras(code: str, cwd) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that cannot import what the extras bring."""
    hide = HIDE.format(hidden={name for names in EXTRAS.values() for name in names})
    return subprocess.run([sys.executable, "-c", hide + code], cwd=cwd, capture_output=True, text=True, check=False)


def test_need_imports_or_names_the_extra():
    assert need("json.decoder", "evolve").__name__ == "json.decoder"
    with pytest.raises(MissingExtraError) as caught:
        need("no_such_package.part", "evolve")
    assert str(caught.value) == "this needs no_such_package; install it with: pip install 'sandlot[evolve]'"
    with pytest.raises(
        MissingExtraError, match=r"^this needs backports\.none; install it with: pip install 'sandlot\["
    ):
        need("backports.none", "logs")


def test_an_extra_that_is_broken_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        need("half_there", "evolve")


def test_worlds_and_commands_work_without_extras(tmp_path):
    small = ["--set", "replicates=1", "--set", "world.shape=[8,8]", "--workers", "1"]
    commands = [["--help"], ["worlds"], ["studies"], ["run", "leveling.probabilities", *small]]
    commands += [["record", name, "--steps", "3"] for name in ("leveling", "water", "indoor")]
    code = f"""
import gymnasium, sandlot
from sandlot.cli import main
from sandlot.worlds import WORLDS, load, world_id
for name in WORLDS:
    for fidelity in load(name).fidelities():
        world = gymnasium.make(world_id(name), fidelity=fidelity)
        world.reset(seed=0)
        world.step(world.action_space.sample())
for words in {commands!r}:
    sys.argv = ["sandlot", *words]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, words
"""
    done = without_extras(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs/leveling.probabilities/index.html").is_file()
    assert {path.name for path in (tmp_path / "recordings").iterdir()} == {"leveling", "water", "indoor"}


def test_what_needs_an_extra_names_it(tmp_path):
    (tmp_path / "a.bag").write_bytes(b"#ROSBAG V2.0\n" + bytes(64))
    small = ["--set", "replicates=2", "--workers", "1"]
    few = ["--set", "genetic.population=8", "--set", "genetic.generations=2", "--set", "seconds=0.5"]
    refused = [
        ("deap", "evolve", ["run", "water.shared", *few, *small]),
        ("neat", "evolve", ["run", "water.neat", "--set", "seconds=0.5", *small]),
        ("ray", "cluster", ["run", "leveling.probabilities", "--backend", "ray", *small]),
        ("sklearn", "learn", ["run", "indoor.rivals", "--set", "samples=60", "--set", "validation=20", *small]),
        ("optuna", "tune", ["run", "indoor.sweep", "--workers", "1"]),
        ("rosbags", "logs", ["import", "a.bag", "--out", "a"]),
        ("rosbags", "logs", ["export", "recordings/indoor", "--out", "out.mcap"]),
        ("serial", "rover", ["lidar", "--port", "/dev/ttyUSB0"]),
    ]
    commands = [["record", "indoor", "--steps", "3"], *(words for *_, words in refused)]
    code = f"""
from sandlot.cli import main
for words in {commands!r}:
    sys.argv = ["sandlot", *words]
    try:
        main()
    except SystemExit as ended:
        print("ended with", ended.code or 0, file=sys.stderr)
"""
    done = without_extras(code, tmp_path)
    ends = re.findall(r"(.*?)ended with (\d)\n", done.stderr, re.DOTALL)
    assert [int(status) for _, status in ends] == [0] + len(refused) * [2], done.stderr
    for (package, extra, _), (said, _) in zip(refused, ends[1:], strict=True):
        line = said.splitlines()[-1]
        assert line.startswith("error: ")
        assert line.endswith(f"this needs {package}; install it with: pip install 'sandlot[{extra}]'")
        assert "Traceback" not in said


def test_models_are_fitted_without_scikit_learn(tmp_path):
    code = """
import numpy as np
import pandas as pd
from sandlot.surrogates.narmax import Narmax
x = np.random.default_rng(0).normal(size=(60, 2))
table, y = pd.DataFrame(x, columns=["a", "b"]), x[:, 0] ** 2 - x[:, 1]
models = [Narmax(2, names=("a", "b")).fit(x, y), Narmax(2).fit(table, y.tolist())]
assert str(models[0]) == str(models[1])
assert abs(models[1].predict(table) - y).max() < 1e-9
assert np.isfinite(Narmax(2, (1,), (1,)).fit(table, y).predict(table)).all()
for wrong in (
    lambda: Narmax().predict(x),
    lambda: models[1].predict(table[["b", "a"]]),
    lambda: models[1].predict(x[:, :1]),
    lambda: Narmax().fit(x[0], y),
    lambda: Narmax().fit(x, None),
    lambda: Narmax().fit(x, 1j * y),
    lambda: models[0].score(x, y),
):
    try:
        wrong()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""
    done = without_extras(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "UnfittedError: this model is not fitted; call fit(X, y) first",
        "FitError: X has columns b, a; the fit had a, b",
        "FitError: X has 1 features, but this model is expecting 2",
        "FitError: X has shape (2,); it should be (samples, inputs), at least one of each",
        "FitError: Narmax requires y to be passed, but the target y is None",
        "FitError: y is complex; it should be real",
        "MissingExtraError: this needs sklearn; install it with: pip install 'sandlot[learn]'",
    ]
