"""The table of all readers: how to make a valid sample of what each reads, and how to read it.

To fuzz another reader, add a line to `READERS`. A sample is a folder of files; one of them is mutated at a time.
"""

import functools
import hashlib
import json
import math
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from bag_files import Robot, write
from sandlot import recordings
from sandlot.control.snake.files import load_controller, save_controller
from sandlot.control.snake.gaits import Gait
from sandlot.control.snake.nets import make_net
from sandlot.mapping.grids.files import read_map
from sandlot.models import store
from sandlot.models.card import Card
from sandlot.models.dense import forward, load_dense, make_dense, save_dense
from sandlot.physics.soil import PRESETS
from sandlot.physics.soil.files import load_soil, save_soil
from sandlot.places.plans import load_plan
from sandlot.places.terrains import from_image
from sandlot.recordings.logs import FORMATS, Pose, Scan, Source, read_scans
from sandlot.recordings.scans import MAX_BEAMS, quantities
from sandlot.robots.climber import load_climber
from sandlot.robots.meshes import read_mesh
from sandlot.robots.rover import BODIES, load_rover
from sandlot.robots.rover_layout import find_layout
from sandlot.robots.snake import Snake
from sandlot.settings import build, read_settings
from sandlot.studies import find, runner
from sandlot.surrogates import files as sensor_models
from sandlot.surrogates.local import WIDE, Local
from sandlot.surrogates.sensor_models import Headings
from sandlot.surrogates.sensorgraph import Sensorgraph
from sandlot.surrogates.soil.columns import read_columns
from sandlot.surrogates.soil.tables import rig_of


@dataclass(frozen=True)
class Reader:
    """A reader to fuzz.

    Attributes:
        make: Writes a valid sample into an empty folder.
        read: Reads it from there.
        inputs: Number of inputs in the short test.
    """

    make: Callable[[Path], object]
    read: Callable[[Path], object]
    inputs: int = 150


STUDY = "leveling.probabilities"
SETTINGS = """replicates = 2
probabilities = [0.5, 0.3, 0.1]
[world]
shape = [16, 16]
agents = 3
terrain = "hills"
"""
SETS = "replicates=3\nworld.shape=[16, 16]\nprobabilities=[0.1, 0.5, 0.9]\nworld.terrain=heap\nworld.agents=2\n"
PLAN = """shine = 0.1
[[walls]]
points = [[0, 0], [4, 0], [4, 3], [0, 3]]
closed = true
thickness = 0.2
[[boxes]]
centre = [3, 2]
size = [1, 0.5]
angle = 1.57
[[circles]]
centre = [1, 2]
radius = 0.3
"""
MAP = (
    "image: map.pgm\nresolution: 0.5\norigin: [-1.0, 2.0, 0.0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n"
)
FLASER = "FLASER 4 1.5 81.83 2.25 0 {x} 2 0.5 {x} 2.5 0.4 {x} host {x}\n"
ROBOTLASER = "ROBOTLASER1 0 -1.5 3.0 0.5 50.0 0.1 0 3 4.5 50.0 81.83 0 1.1 2 0.25 1 2 0.25 0.3 0.1 0 0 0 {x} host 1\n"
CARMEN = "PARAM robot_frontlaser_offset 0.1 nohost 0\nODOM 0 0 0 0.7 -0.2 0 9.0 host 9.0\n"
CARMEN += "".join(FLASER.format(x=x) for x in range(1, 9)) + "NEFF 3 4\n"
GRAPH = (
    "".join(f"VERTEX2 {x} {x} 3.5 0.5\n" + ROBOTLASER.format(x=x) for x in range(1, 5)) + "EDGE2 0 1 0.1 0 0 1 0 0 1\n"
)
ROVER5 = "".join(" ".join(map(str, [n, 2 * n, 182 * n, *range(360)])) + "\n" for n in range(4))
TABLE = (
    "time,x,y,yaw,start,laser_x,laser_y,range_-0.5,range_0.5\n1.5,0.25,-3,0.125,7,0.1,0,2.5,1e1\n2,0.5,-3,0.25,,,,3,\n"
)
PLATE = "soil,length_m,width_m,grid_m,sinkage_m,force_N\nsoft,0.4,0.2,0.02,0.01,100\nsoft,0.4,0.2,0.02,0.02,250\n"
SNAKE = Snake(links=4, mass=75.0)


def text(name: str, content: str) -> Callable[[Path], object]:
    """Makes a sample of one text file."""
    return lambda folder: (folder / name).write_text(content)


def image(name: str) -> Callable[[Path], object]:
    """Makes a sample of one image of a room."""
    pixels = np.full((20, 30), 254, np.uint8)
    pixels[[0, -1]] = pixels[:, [0, -1]] = 0
    return lambda folder: Image.fromarray(pixels).save(folder / name)


def make_map(folder: Path) -> None:
    (folder / "map.yaml").write_text(MAP)
    image("map.pgm")(folder)


def read_study(folder: Path) -> None:
    build(find(STUDY), read_settings(folder / "a.toml"))


def read_sets(folder: Path) -> None:
    lines = next(folder.iterdir()).read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    build(find(STUDY), read_settings(None, [line for line in lines if line]))


def make_rover(folder: Path) -> None:
    for suffix in (".toml", ".urdf"):
        content = (BODIES / f"wheeled{suffix}").read_text().replace('urdf = "wheeled"', 'urdf = "wheeled.urdf"')
        (folder / f"wheeled{suffix}").write_text(content)


def make_climber(folder: Path) -> None:
    shutil.copy(BODIES / "climber.toml", folder)


def make_bag(kind: str) -> Callable[[Path], object]:
    """Makes a sample of one bag, as a file."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as elsewhere:
            file = write(Path(elsewhere), kind, lambda robot: Robot.drive(robot, scans=4))
            shutil.copy(file, folder / f"a{file.suffix}")

    return make


def read_log(name: str) -> Callable[[Path], object]:
    """Reads the scans of a log; those that come out have to be sound."""

    def read(folder: Path) -> None:
        source = Source(next(folder.iterdir()))
        source.settings["format"] = name
        for scan in FORMATS[name].read(source):
            assert math.isfinite(scan.time)
            assert scan.ranges.dtype == np.float32
            assert len(scan.ranges) == len(scan.bearings) <= MAX_BEAMS
            assert np.isfinite(scan.bearings).all()
            assert not np.isinf(scan.ranges).any()

    return read


def make_recording(folder: Path) -> None:
    about = {"start": 1.0, "laser_position": [0.1, 0.0]}
    with recordings.Writer(folder / "a", quantities(3), settings=about, seed=1, world="log", chunk=4) as writer:
        for number in range(6):
            writer.append(Scan(float(number), np.ones(3, np.float32), np.arange(3.0), Pose(1.0, 2.0, 3.0)).frame())


def read_recording(folder: Path) -> None:
    dataset = recordings.open(folder / "a")
    recordings.settings(dataset)
    Sensorgraph.of(dataset)  # loads all quantities, as every user of a recording does


@functools.cache
def room() -> Sensorgraph:
    """Scans in a square room."""
    poses = np.random.default_rng(0).uniform((-1.5, -1.5, -math.pi), (1.5, 1.5, math.pi), (60, 3))
    bearings = ((np.arange(12) + 0.5) / 12 - 0.5) * math.pi
    cos, sin = np.cos(poses[:, 2:] + bearings), np.sin(poses[:, 2:] + bearings)
    ranges = np.minimum((np.copysign(3.0, cos) - poses[:, :1]) / cos, (np.copysign(3.0, sin) - poses[:, 1:2]) / sin)
    return Sensorgraph(poses, ranges, bearings)


def seal(model: Path) -> Path:
    """Give the card of a mutated model the digest of its content, so that the content is read and not just refused."""
    content = next((model / name for name in (store.ARRAYS, store.ONNX) if (model / name).exists()), None)
    try:
        card = json.loads((model / store.CARD).read_bytes())
        card["content_digest"] = hashlib.sha256(content.read_bytes()).hexdigest()
        (model / store.CARD).write_text(json.dumps(card))
    except (ValueError, TypeError, AttributeError, RecursionError):  # the card is what was mutated
        pass
    return model


def make_dense_net(folder: Path) -> None:
    rng = np.random.default_rng(0)
    weights, biases = [rng.normal(size=(3, 4)), rng.normal(size=(4, 2))], [np.zeros(4), np.ones(2)]
    save_dense(folder / "model", make_dense(weights, biases, ("tanh", "linear")), Card(kind="dense"))


def read_dense_net(folder: Path) -> None:
    net, _ = load_dense(seal(folder / "model"))
    if net.sizes[0] < 1000:
        forward(net, np.ones((2, int(net.sizes[0]))))


def read_sensor_model(folder: Path) -> None:
    seal(folder / "model")
    with np.errstate(all="ignore"):
        sensor_models.load(folder / "model").predict(room().poses)


CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CORNERS = np.array([[0, 1, 2], [1, 3, 2], [4, 6, 5], [5, 6, 7], [0, 4, 1], [2, 3, 6], [0, 2, 4], [1, 5, 3]])
OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in CUBE) + "".join(
    f"f {a + 1}/1 {b + 1}//2 {c - 8}\n" for a, b, c in CORNERS
)
STL_TEXT = "solid a\n" + "".join(
    "facet normal 0 0 0\nouter loop\n"
    + "".join(f"vertex {x} {y} {z}\n" for x, y, z in CUBE[face])
    + "endloop\nendfacet\n"
    for face in CORNERS
)


def make_stl(folder: Path) -> None:
    triangles = b"".join(bytes(12) + CUBE[face].astype("<f4").tobytes() + bytes(2) for face in CORNERS)
    (folder / "a.stl").write_bytes(bytes(80) + len(CORNERS).to_bytes(4, "little") + triangles)


def read_mesh_of(folder: Path) -> None:
    vertices, faces = read_mesh(next(folder.iterdir()), "a.urdf")
    assert np.isfinite(vertices).all()
    assert 0 <= faces.min() <= faces.max() < len(vertices)


def make_controller(name: str, controller: object) -> Callable[[Path], object]:
    return lambda folder: save_controller(folder / name, controller, SNAKE)


def read_controller(folder: Path) -> None:
    path = next(folder.iterdir())
    load_controller(seal(path) if path.is_dir() else path, SNAKE)


def make_run(folder: Path) -> None:
    small = {"world": {"shape": [8, 8]}, "replicates": 1, "probabilities": [0.5, 0.3, 0.1]}
    with tempfile.TemporaryDirectory() as elsewhere:
        runner.run(build(find(STUDY), small), Path(elsewhere) / "run", workers=1)
        shutil.copy(Path(elsewhere) / "run" / "results.sqlite", folder)


NET = make_net(3, 0.63, [3, 4, 5], [0, 1, 2], [1.5, -20.0, 1 / 3], np.zeros(4), np.ones(4))
LOCAL = Local(2, 4, grids=((60.0, WIDE, WIDE), (45.0, 2.0, 2.0)))
READERS: dict[str, Reader] = {
    "settings of a study": Reader(text("a.toml", SETTINGS), read_study),
    "--set values": Reader(text("a.txt", SETS), read_sets),
    "floor plan, TOML": Reader(text("a.toml", PLAN), lambda folder: load_plan(folder / "a.toml")),
    "floor plan, PNG": Reader(image("a.png"), lambda folder: load_plan(folder / "a.png")),
    "floor plan, map.yaml": Reader(make_map, lambda folder: load_plan(folder / "map.yaml"), 100),
    "grid map, map.yaml": Reader(make_map, lambda folder: read_map(folder / "map.yaml"), 100),
    "height map, PNG": Reader(image("a.png"), lambda folder: from_image(folder / "a.png")),
    "height map, TIFF": Reader(image("a.tif"), lambda folder: from_image(folder / "a.tif")),
    "rover, TOML and URDF": Reader(make_rover, lambda folder: find_layout(load_rover(folder / "wheeled.toml")), 100),
    "climbing robot, TOML": Reader(make_climber, lambda folder: load_climber(folder / "climber.toml")),
    "log, carmen": Reader(text("a.log", CARMEN), read_log("carmen")),
    "scans of a log, for a map": Reader(text("a.log", CARMEN), lambda folder: read_scans(folder / "a.log")),
    "log, posegraph": Reader(text("a.log", GRAPH), read_log("posegraph")),
    "log, rover5": Reader(text("a.log", ROVER5), read_log("rover5")),
    "log, csv": Reader(text("a.csv", TABLE), read_log("csv")),
    "log, ros1": Reader(make_bag("ros1"), read_log("ros1")),
    "log, ros1 lz4": Reader(make_bag("ros1 lz4"), read_log("ros1")),
    "log, ros2": Reader(make_bag("sqlite"), read_log("ros2")),
    "log, mcap": Reader(make_bag("mcap"), read_log("mcap")),
    "log, mcap zstd": Reader(make_bag("mcap zstd"), read_log("mcap")),
    "recording": Reader(make_recording, read_recording, 100),
    "sensor model, headings": Reader(
        lambda folder: sensor_models.save(Headings(2, 6).fit(room()), folder / "model"), read_sensor_model
    ),
    "sensor model, local": Reader(
        lambda folder: sensor_models.save(LOCAL.fit(room()), folder / "model"), read_sensor_model
    ),
    "gait": Reader(make_controller("a.toml", Gait(amplitude=(0.1, 0.25, 0.3), frequency=2.0)), read_controller),
    "net": Reader(make_controller("a.json", NET), read_controller),
    "net, directory": Reader(make_controller("a", NET), read_controller),
    "dense net": Reader(make_dense_net, read_dense_net),
    "model, ONNX": Reader(
        lambda folder: store.save(folder / "model", Card(kind="dense"), onnx=b"\x08\x07graph" * 20),
        lambda folder: store.load(seal(folder / "model")),
    ),
    "soil, TOML": Reader(
        lambda folder: save_soil(folder / "a.toml", PRESETS["LETE sand"]), lambda folder: load_soil(folder / "a.toml")
    ),
    "table of a plate": Reader(
        text("a.csv", PLATE), lambda folder: rig_of(read_columns(folder / "a.csv", "soft"), folder / "a.csv")
    ),
    "mesh, OBJ": Reader(text("a.obj", OBJ), read_mesh_of),
    "mesh, STL": Reader(make_stl, read_mesh_of),
    "mesh, STL text": Reader(text("a.stl", STL_TEXT), read_mesh_of),
    "results of a run": Reader(make_run, runner.load, 100),
}
