"""Recordings as scenes again, in every viewer's format; what cannot be replayed says so in one line."""

import json

import imageio_ffmpeg
import numpy as np
import pytest
from mcap.reader import make_reader
from rerun.chunk import RrdReader

from sandlot import recordings
from sandlot.errors import RecordingError, SettingError
from sandlot.recordings.scans import quantities
from sandlot.worlds import load
from sandlot.worlds.meshes import Mesh
from sandlot.worlds.overview import overview
from sandlot.worlds.record import Record, record_world
from sandlot.worlds.replay import Moment, moments, steps_a_second
from sandlot.worlds.scene import HeightField, Lines, Points, Scene, Shape
from sandlot.worlds.viewers.exporting import SUFFIXES, export_scenes
from sandlot.worlds.viewers.foxglove import FoxgloveWriter, _primitives
from sandlot.worlds.viewers.ground import TILE, Tiles

CASES = {
    "avoid": {"stride": 0.05},
    "indoor": {"laser": {"beams": 24}},
    "leveling": {"shape": (8, 8), "agents": 3},
    "obstacles": {},
    "terrain": {"shape": (60, 60), "terrain": "flat", "soil": "soft"},
    "water": {"snake": {"links": 6}, "target": (40.0, 10.0)},
}
every_world = pytest.mark.parametrize("name", CASES)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    for name, settings in CASES.items():
        record_world(name, folder / name, 12, seed=3, settings=settings)
    with recordings.Writer(folder / "log", quantities(4), settings={}, seed=None, world="log") as writer:
        for k in range(6):
            numbers = dict.fromkeys(("odometry_x", "odometry_y", "odometry_yaw", "speed", "turn_rate"), np.float64(0.1))
            pose = {"time": np.float64(0.2 * k), "x": np.float64(k), "y": np.float64(0.0), "yaw": np.float64(0.5)}
            scan = {"ranges": np.full(4, 2.0, np.float32), "bearings": np.linspace(-1.0, 1.0, 4)}
            writer.append({**numbers, **pose, **scan})
    return folder


@every_world
def test_a_recording_is_replayed_as_it_was(recorded, name):
    world = load(name)(**CASES[name])
    found = list(moments(recorded / name))
    with recordings.open(recorded / name) as dataset:
        assert [each.time for each in found] == dataset["time"].values.tolist()
        if "x" in dataset and dataset["x"].ndim == 1:
            np.testing.assert_array_equal([each.numbers["x"] for each in found], dataset["x"])
    world.reset(seed=3)
    assert {item.name for item in found[0].scene.items} == {item.name for item in world.scene().items}
    assert steps_a_second(recorded / name) == world.metadata["render_fps"]


def test_episodes_follow_each_other(tmp_path):
    record_world("leveling", tmp_path / "a", 6, settings={"relief": 0})
    found = list(moments(tmp_path / "a"))
    assert [each.episode for each in found] == sorted([*range(6), *range(7)])
    assert np.diff([each.time for each in found]).min() >= 0.0


def test_a_log_is_drawn_from_its_scans(recorded):
    found = list(moments(recorded / "log", every=2))
    assert [each.number for each in found] == [0, 2, 4]
    returns = next(item for item in found[1].scene.items if item.name == "returns")
    np.testing.assert_allclose(np.hypot(*(returns.positions[:, :2] - (2.0, 0.0)).T), 2.0)
    assert steps_a_second(recorded / "log") == pytest.approx(5.0)


@pytest.mark.parametrize("name", [*CASES, "log"])
def test_foxglove_gets_scene_updates(recorded, tmp_path, name):
    count = export_scenes(recorded / name, "mcap", tmp_path / "a.mcap", lambda done, total: None)
    scenes, numbers = [], []
    with (tmp_path / "a.mcap").open("rb") as file:
        for schema, channel, message in make_reader(file).iter_messages():
            assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
            json.loads(schema.data)
            {"/scene": scenes, "/numbers": numbers}[channel.topic].append(json.loads(message.data))
            assert schema.name == {"/scene": "foxglove.SceneUpdate", "/numbers": "sandlot.Numbers"}[channel.topic]
    assert len(numbers) == count
    first = {entity["id"]: entity for entity in scenes[0]["entities"]}
    with_fields = {item.name for item in next(moments(recorded / name)).scene.items}
    assert {key.rstrip("0123456789 ") for key in first} == {key.rstrip("0123456789 ") for key in with_fields}
    later = [entity["id"] for scene in scenes[1:] for entity in scene["entities"]]
    assert len(later) < count * len(first), "what did not change is not sent again"
    for entity in first.values():
        for mesh in entity["triangles"]:
            assert max(mesh["indices"]) < len(mesh["points"])
            assert len(mesh["colors"]) in (0, len(mesh["points"]))


@pytest.mark.parametrize("name", [*CASES, "log"])
def test_rerun_opens_what_was_exported(recorded, tmp_path, name):
    export_scenes(recorded / name, "rerun", tmp_path / "a.rrd", lambda done, total: None)
    reader = RrdReader(tmp_path / "a.rrd")
    assert len(reader.recordings()) == 1
    rows = {}
    for chunk in reader.stream():
        rows[chunk.entity_path] = rows.get(chunk.entity_path, 0) + chunk.num_rows
        if chunk.entity_path.startswith("/numbers"):
            assert "time" in chunk.timeline_names
    drawn = {path.split("/")[2] for path in rows if path.startswith("/scene/")}
    wanted = {item.name.replace(" ", "_") for item in next(moments(recorded / name)).scene.items}
    assert drawn == wanted
    assert any(path.startswith("/numbers/") for path in rows)


def test_a_recording_becomes_a_video(recorded, tmp_path):
    assert export_scenes(recorded / "indoor", "mp4", tmp_path / "a.mp4", lambda done, total: None, speed=2.0) == 13
    about = next(imageio_ffmpeg.read_frames(str(tmp_path / "a.mp4")))
    assert about["fps"] == pytest.approx(8.0)


def test_what_cannot_be_replayed_says_so(recorded, tmp_path):
    with pytest.raises(RecordingError, match="there is no recording"):
        list(moments(tmp_path / "nothing"))
    world = load("leveling")(**CASES["leveling"])
    for name, said, used in (("unseeded", None, 1), ("other", 1, 2)):
        with Record(world, tmp_path / name, said) as env:
            env.reset(seed=used)
            for _ in range(40):
                env.step(np.tile([1, 1], (3, 1)))
    with pytest.raises(RecordingError, match="no seed"):
        list(moments(tmp_path / "unseeded"))
    with pytest.raises(RecordingError, match=r"frame \d+ has a reward of .* not with its seed"):
        list(moments(tmp_path / "other"))
    for to, suffix in SUFFIXES.items():
        with pytest.raises(RecordingError):
            export_scenes(tmp_path / "other", to, tmp_path / f"out{suffix}", lambda done, total: None)
    assert {each.name for each in tmp_path.iterdir()} == {"unseeded", "other"}, "nothing is left behind"


def test_only_tiles_that_changed_are_sent():
    heights = np.zeros((100, 70))
    colours = np.zeros((100, 70, 3), np.uint8)
    tiles = Tiles()
    first = dict(tiles.changed(HeightField("ground", heights, 0.1, np.zeros(2), colours)))
    assert len(first) == 4 * 3
    heights[TILE + 5, TILE + 7] = 0.1
    ((name, tile),) = tiles.changed(HeightField("ground", heights, 0.1, np.zeros(2), colours))
    assert name == "ground 1 1"
    assert isinstance(tile, Mesh)
    assert len(tile.points) == (TILE + 1) ** 2, "all nodes of a tile that was touched"
    assert tile.points[tile.points[:, 2] > 0.0] == pytest.approx(np.array([[0.1 * (TILE + 7), 0.1 * (TILE + 5), 0.1]]))


def test_level_cells_are_sent_as_rectangles_of_one_colour():
    colours = np.zeros((4, 6, 3), np.uint8)
    colours[1, 2:4] = 200
    ((_, tile),) = Tiles().changed(HeightField("floor", np.zeros((4, 6)), 1.0, np.zeros(2), colours, cells=True))
    assert len(tile.points) == 4 * (3 + 3)
    a, b, c = (tile.points[tile.faces[:, k]] for k in range(3))
    assert np.cross(b - a, c - a)[:, 2].sum() / 2.0 == pytest.approx(24.0)


@pytest.mark.parametrize("name", [*CASES, "log"])
def test_an_overview_has_a_row_for_each_episode(recorded, name, tmp_path):
    found = overview(recorded / name)
    assert [row["episode"] for row in found.episodes] == [0.0]
    assert found.facts["frames"] == sum(row["frames"] for row in found.episodes)
    assert any("--to rerun" in command for _, command in found.next_commands)
    if name not in ("leveling", "log"):
        assert set(load(name).outcome_quantities) <= set(found.episodes[0])
    found.figure.savefig(tmp_path / "a.png")


def test_foxglove_deletes_what_is_gone(tmp_path):
    line = Lines("way", np.zeros((1, 2, 3)), (0, 0, 0))
    box = Shape("box", "box", (1.0, 1.0, 1.0), np.zeros(3), np.eye(3), (9, 9, 9))
    scenes = [Scene(items, np.zeros(2), np.ones(2), 10) for items in ((box, line), (box,), (box, line))]
    with FoxgloveWriter(tmp_path / "a.mcap") as writer:
        for k, scene in enumerate(scenes):
            writer.write(Moment(k, float(k), 0, scene, {}))
    with (tmp_path / "a.mcap").open("rb") as file:
        sent = [json.loads(message.data) for _, _, message in make_reader(file).iter_messages(["/scene"])]
    assert [[each["id"] for each in scene["deletions"]] for scene in sent] == [[], ["way"], []]
    assert [[each["id"] for each in scene["entities"]] for scene in sent] == [["box", "way"], [], ["way"]]


def test_the_name_of_a_file_must_fit_its_format(recorded, tmp_path):
    with pytest.raises(SettingError, match=r"a file for rerun ends in \.rrd"):
        export_scenes(recorded / "water", "rerun", tmp_path / "a.mcap", lambda done, total: None)


def test_points_keep_their_own_colours_in_foxglove_when_others_are_nowhere():
    places = np.array([[np.nan, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    drawn = _primitives(Points("dots", places, 0.1, ((255, 0, 0), (0, 255, 0), (0, 0, 255))))["spheres"]
    assert [each["pose"]["position"]["x"] for each in drawn] == [1.0, 2.0]
    assert [(each["color"]["g"], each["color"]["b"]) for each in drawn] == [(1.0, 0.0), (0.0, 1.0)]
