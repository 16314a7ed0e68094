"""Recordings on the page, and as one HTML file."""

import base64
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from sandlot.errors import RecordingError
from sandlot.lab.canvas import Canvas
from sandlot.lab.ground import TILE
from sandlot.lab.replay import read_moments, to_html, trail
from sandlot.lab.stage import FIELD_OF_VIEW, VIEWS
from sandlot.worlds.record import record_world
from sandlot.worlds.replay import Moment, moments
from sandlot.worlds.scene import HeightField, Scene


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recordings") / "water"
    record_world("water", path, 60, "swim")
    return path


def test_moments_are_those_of_the_recording(recording):
    kept = read_moments(recording)
    assert [each.number for each in kept] == list(range(61))
    for mine, other in zip(kept, moments(recording), strict=True):
        assert mine.time == other.time
        assert mine.numbers == other.numbers


def test_long_recordings_are_thinned(recording, monkeypatch):
    monkeypatch.setattr("sandlot.lab.replay.MOST", 20)
    assert [each.number for each in read_moments(recording)] == list(range(0, 61, 4))


def test_the_path_is_coloured_by_a_quantity(recording):
    kept = read_moments(recording)
    line = trail(kept, "x")
    assert line.ends.shape == (60, 2, 3)
    np.testing.assert_array_equal(line.ends[0, 0], kept[0].scene.looked_at[0])
    assert len(set(line.colours)) > 10
    assert trail(kept, "no such quantity") is None


def test_one_file_holds_everything(recording):
    page = to_html(read_moments(recording)[::6])
    assert "<title>Sandlot</title>" in page
    data = re.search(r'__VISER_EMBED_DATA__="([^"]+)"', page).group(1)
    assert len(base64.b64decode(data)) > 1000
    assert not re.search(r'<(script|link)[^>]+(src|href)="https?:', page)


def test_a_file_is_seen_as_in_the_lab_and_shows_all_that_any_moment_looks_at():
    zstandard = pytest.importorskip("zstandard")
    scenes = [Scene((), np.full(2, -reach), np.full(2, reach), 100) for reach in (1.0, 4.0, 2.0)]
    page = to_html([Moment(k, 0.1 * k, 0, scene, {}) for k, scene in enumerate(scenes)])
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', page).group(1))
    sent = zstandard.ZstdDecompressor().decompress(data[8:])
    assert b"\xa3fov\xcb" + struct.pack(">d", FIELD_OF_VIEW) in sent
    place = 1.75 * 4.0 * np.array(VIEWS["3D"])
    assert b"\xa8position\x93\xcb" + b"\xcb".join(struct.pack(">d", each) for each in place) in sent


def test_a_file_ends_with_the_ground_of_the_last_moment(monkeypatch):
    canvases, shape = [], (2 * TILE + 1, 2 * TILE + 1)

    class Kept(Canvas):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            canvases.append(self)

    def moment(number, height):
        colours = np.full((*shape, 3), 150, np.uint8)
        field = HeightField("ground", np.full(shape, height), 0.01, np.zeros(2), colours)
        return Moment(number, 0.1 * number, 0, Scene((field,), np.zeros(2), np.full(2, 2.4), 100), {})

    monkeypatch.setattr("sandlot.lab.replay.Canvas", Kept)
    to_html([moment(number, 0.1 * number) for number in range(3)])
    tiles = canvases[0].ground._tiles
    assert len(tiles) == 4
    for tile in tiles:
        assert not tile.prepared
        np.testing.assert_array_equal(tile._drawn, 0.2)


def test_what_is_no_recording_is_explained(tmp_path):
    with pytest.raises(RecordingError):
        read_moments(Path(tmp_path / "nothing"))
