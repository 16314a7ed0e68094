"""A mistake is answered before anything heavy is imported, so within a second."""

import json
import subprocess
import sys

import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from sandlot.models.card import Card
from sandlot.models.policies import KIND
from sandlot.models.store import save
from sandlot.recordings.needs import ROVER
from sandlot.worlds import ALGORITHMS, CONTROLLERS, FIDELITIES, OWN_FILES, SHIPPED, load
from sandlot.worlds.base import World

HEAVY = ("numba", "xarray", "scipy", "torch", "matplotlib", "zarr", "mujoco", "cv2", "sklearn", "viser", "pandas")
MISTAKES = (
    "worlds moon",
    "studies moon",
    "run moon.base",
    "report nowhere",
    "record moon",
    "record terrain --controller moon",
    "record water --controller nowhere.py:function",
    "record terrain --fidelity moon",
    "record terrain --out exists",
    "record terrain --video out.xyz",
    "play moon",
    "play terrain --controller moon",
    "play terrain --fidelity moon",
    "gap water --controller moon",
    "show nowhere",
    "show text.txt",
    "show exists",
    "show exists --out picture.xyz",
    "export nowhere",
    "export nowhere --to mp4",
    "export nowhere --to rerun --out scene.mcap",
    "export nowhere --to html",
    "export nowhere --to minari",
    "export exists --to html --out page.xyz",
    "export nowhere --out scans.xyz",
    "export exists --to mcap",
    "import nowhere --out new",
    "import text.txt --out exists",
    "map nowhere --out new",
    "map text.txt --out exists",
    "locate nowhere --map text.txt",
    "locate text.txt --map nowhere",
    "models nowhere",
    "fit sensor nowhere --out new",
    "fit motion nowhere --out new",
    "fit soil nowhere --out new",
    "lidar --recording nowhere",
    "lidar --emulate apartment --record exists",
    "rover serve --host 0.0.0.0",
    "rover serve --keys nowhere",
    "rover serve --record drive.bag",
    "rover serve --lidar /dev/nowhere --pins nowhere.toml",
    "rover drive --port 1",
    "run leveling.probabilities --set moon=1",
    "run leveling.probabilities --set replicates=moon",
    "record terrain --set moon=1",
    "record water --set fidelity=moon",
    "play terrain --set moon=1",
    "gap water --set moon=1",
    "rover serve --set moon=1",
    "rover serve --plan moon",
    "lidar --emulate moon",
    "train climber --out new --set moon=1",
    "train avoider --out new --set moon=1",
    "train rover --out new --set moon=1",
    "train water --out new --set moon=1",
    "train water --out new --world moon=1",
    "train water --out exists",
    "train water --out new --algorithm a2c",
    "train water --out new --algorithm dqn",
    "train leveling --out new --algorithm sac",
    "record water --controller policy",
    "gap water --controller policy",
    "play water --controller policy",
    "report exists",
    "import text.txt --out new",
    "import text.txt --out new --format moon",
    "map text.txt --out new",
    "locate text.txt --map text.txt",
    "shape",
    "shape 1 2 moon",
    "rover drive --keys nowhere",
    "run leveling.probabilities --out text.txt",
    "record terrain --set soil=mud",
    "record terrain --set soil=nowhere.toml",
    "record terrain --set rovers=tank",
    "record terrain --set rovers=nowhere.toml",
    "record terrain --set terrain=moon",
    "record terrain --fidelity learned --set motion_model=nowhere",
    "record terrain --controller nowhere.toml",
    "record water --controller models/nowhere",
    "record indoor --set plan=appartment",
    "record indoor --set plan=nowhere.toml",
    "record indoor --set robot=tank",
    "record indoor --fidelity learned --set model=nowhere",
    "record obstacles --set robot=tank",
    "record leveling --set terrain=moon",
    "lab --host 0.0.0.0",
    "lab --host 0.0.0.0 --token short",
    "lab --rover nowhere",
    "play terrain --host 0.0.0.0",
    "gap leveling",
    "export numbers --out scans.csv",
    "map numbers --out new",
    "locate numbers --map text.txt",
    "fit sensor numbers --out new",
    "fit motion numbers --out new",
    "fit motion rover --out new --set epochs=0",
    "fit motion rover --out new --rover tank",
    "fit ground numbers --out new.toml",
    "fit ground rover --out new",
    "fit ground rover --out new.toml --rover tank",
    "fit soil numbers --out new",
    "fit soil rover --out new --set moon=1",
    "fit soil rover --out new --rover tank",
    "fit soil nowhere.csv --out new",
    "lidar --recording text.txt",
    "lidar --recording numbers",
    "lidar --emulate apartment --kind C1",
    "lidar --emulate apartment --fault moon=1",
    "lidar --emulate apartment --fault lost=2",
    "shape 10 20 --out picture.xyz",
    "train climber --out new --start nowhere",
    "train rover --out new --set rover=tank",
    "record terrain --controller text.txt",
    "record indoor --controller text.txt",
    "record water --controller acts.py",
    "play indoor --controller text.txt",
    "fit soil text.csv --out new",
)
LIBRARIES = ("xarray", "torch", "matplotlib", "zarr", "cv2", "sklearn", "viser", "pandas")
"""Of `HEAVY`, those that these mistakes, which need to know more, do without."""
LATER = (
    "record obstacles --set start=[5,6]",
    "record obstacles --set yaw=0.2",
    "record leveling --set agents=2000",
    "record indoor --set lidar.beams=90",
    "record terrain --set terrain.kind=moon",
    "play obstacles --set start=[5,6]",
    "play obstacles --fidelity fast --set yaw=0.2",
    "train obstacles --out new --world start=[5,6]",
    "map damaged.log --out new",
    "map time.csv --out new",
    "lidar --recording damaged.log",
    "lidar --emulate apartment --mode moon",
    "lidar --tcp moon",
)
RUN = """
import json, sys
from sandlot.cli import main
found = {}
for mistake in json.load(sys.stdin):
    sys.argv = ["sandlot", *mistake.split()]
    try:
        main()
    except SystemExit as ended:
        found[mistake] = [ended.code, [name for name in HEAVY if name in sys.modules]]
print(json.dumps(found))
"""


@pytest.mark.parametrize(("mistakes", "heavy"), [(MISTAKES, HEAVY), (LATER, LIBRARIES)], ids=["names", "rules"])
def test_mistakes_import_nothing_heavy(tmp_path, monkeypatch, mistakes, heavy):
    (tmp_path / "exists").mkdir()
    save(tmp_path / "policy", Card(kind=KIND, description="of another world", settings={"world": "indoor"}))
    files = {
        "text.txt": "hello",
        "text.csv": "hello",
        "acts.py": "",
        "damaged.log": "FLASER 3 1 2\n",
        "time.csv": "time,range\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    for name, quantities in {"numbers": ("x",), "rover": ROVER}.items():
        for part in (".", *quantities):
            (tmp_path / name / part).mkdir(parents=True, exist_ok=True)
            (tmp_path / name / part / "zarr.json").touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {heavy}\n{RUN}"],
        input=json.dumps(mistakes),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {mistake: [2, []] for mistake in mistakes}, done.stderr
    assert done.stderr.count("error:") == len(mistakes)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", SHIPPED)
def test_the_list_of_worlds_that_load_files_of_controllers_is_right(name):
    assert (load(name).load_controller is not World.load_controller) == (name in OWN_FILES)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_lists_of_controllers_and_fidelities_are_those_of_the_world(name):
    assert set(load(name)().controllers()) <= set(CONTROLLERS[name])
    assert tuple(load(name).fidelities()) == FIDELITIES[name]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_list_of_algorithms_suits_the_actions_of_the_world(name):
    space = load(name)(interface="normalised").action_space
    suited = {Box: ("ppo", "sac"), Discrete: ("ppo", "dqn"), MultiDiscrete: ("ppo",)}
    assert ALGORITHMS[name] == suited[type(space)]
