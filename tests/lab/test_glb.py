"""Surfaces as binary glTF files."""

import io
import json
import struct

import numpy as np
from PIL import Image

from sandlot.lab.glb import surface_glb

VERTICES = np.array([[0, 0, 0], [1, 0, 0.5], [0, 1, -0.5], [1, 1, 0]], float)
PLACES = VERTICES[:, :2]
FACES = np.array([[0, 1, 3], [0, 3, 2]])
TEXTURE = np.full((8, 6, 3), (200, 120, 40), np.uint8)


def read(data):
    """The document and the binary part."""
    magic, version, size = struct.unpack_from("<4sII", data)
    assert (magic, version, size) == (b"glTF", 2, len(data))
    length, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON"
    start = 20 + length
    rest, kind = struct.unpack_from("<I4s", data, start)
    assert kind == b"BIN\0"
    assert start + 8 + rest == len(data)
    return json.loads(data[20:start]), data[start + 8 :]


def test_the_surface_is_in_the_file():
    document, binary = read(surface_glb(VERTICES, PLACES, FACES, TEXTURE))
    parts = [binary[view["byteOffset"] :][: view["byteLength"]] for view in document["bufferViews"]]
    np.testing.assert_array_equal(np.frombuffer(parts[0], np.uint32).reshape(-1, 3), FACES)
    np.testing.assert_array_equal(np.frombuffer(parts[1], np.float32).reshape(-1, 3), VERTICES)
    np.testing.assert_array_equal(np.frombuffer(parts[2], np.float32).reshape(-1, 2), PLACES)
    picture = np.asarray(Image.open(io.BytesIO(parts[3])))
    assert picture.shape == TEXTURE.shape
    assert np.abs(picture.astype(int) - TEXTURE).max() < 8
    assert document["accessors"][1]["min"] == [0, 0, -0.5]


def test_every_part_starts_at_a_multiple_of_four_bytes():
    document, _ = read(surface_glb(VERTICES, PLACES, FACES, TEXTURE[:3, :5]))
    assert all(view["byteOffset"] % 4 == 0 for view in document["bufferViews"])
