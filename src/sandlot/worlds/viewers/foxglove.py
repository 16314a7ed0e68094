"""Writes scenes as an MCAP file for Foxglove: ``foxglove.SceneUpdate`` on ``/scene``, and ``/numbers`` to plot.

Messages are JSON. What did not change since the message before is not written again; what is gone is deleted.
"""

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from scipy.spatial.transform import Rotation

from sandlot.extras import need
from sandlot.typing import Array
from sandlot.worlds.meshes import Mesh, shape_triangles
from sandlot.worlds.replay import Moment
from sandlot.worlds.scene import Area, Colour, HeightField, Item, Lines, Points, Shape, each_colour
from sandlot.worlds.viewers.ground import Tiles
from sandlot.worlds.viewers.schemas import SCENE_UPDATE, numbers_schema

FRAME = "world"
LINES, DELETE_ONE = 2, 0
"""Foxglove's numbers for a list of separate lines, and for the deletion of the entity with an id."""
NOWHERE = {"position": {"x": 0, "y": 0, "z": 0}, "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}}


class FoxgloveWriter:
    """An MCAP file that is being written; a context manager."""

    def __init__(self, path: Path) -> None:
        """Begin a file.

        Raises:
            MissingExtraError: If the library ``mcap`` is not installed.
        """
        self._path, self._tiles, self._numbers = path, Tiles(), -1
        self._sent: dict[str, str] = {}
        self._writer: Any = need("mcap.writer", "viewers")

    def __enter__(self) -> Self:
        self._file = self._path.open("wb")
        self._bag = self._writer.Writer(self._file)
        self._bag.start(profile="", library="sandlot")
        self._scene = self._channel("/scene", "foxglove.SceneUpdate", SCENE_UPDATE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bag.finish()
        self._file.close()

    def write(self, moment: Moment) -> None:
        """Add a moment: the entities that changed, and its numbers."""
        stamp = round(1e9 * moment.time)
        entities = []
        for item in moment.scene.items:
            entities += self._entities(item, stamp)
        gone = [name for name in self._sent if name not in {item.name for item in moment.scene.items}]
        for name in gone:
            del self._sent[name]
        if entities or gone:
            deletions = [{"timestamp": _time(stamp), "type": DELETE_ONE, "id": name} for name in gone]
            self._send(self._scene, stamp, {"deletions": deletions, "entities": entities})
        numbers = {key: value for key, value in moment.numbers.items() if np.isfinite(value)}
        if self._numbers < 0:
            self._numbers = self._channel("/numbers", "sandlot.Numbers", numbers_schema(list(moment.numbers)))
        self._send(self._numbers, stamp, numbers)

    def _entities(self, item: Item, stamp: int) -> list[dict[str, Any]]:
        if isinstance(item, HeightField):
            return [_entity(name, stamp, triangles=[_mesh(tile)]) for name, tile in self._tiles.changed(item)]
        drawn = _primitives(item)
        text = json.dumps(drawn)
        if self._sent.get(item.name) == text:
            return []
        self._sent[item.name] = text
        return [_entity(item.name, stamp, **drawn)]

    def _channel(self, topic: str, name: str, schema: dict[str, Any]) -> int:
        known = self._bag.register_schema(name=name, encoding="jsonschema", data=json.dumps(schema).encode())
        return int(self._bag.register_channel(topic=topic, message_encoding="json", schema_id=known))

    def _send(self, channel: int, stamp: int, message: dict[str, Any]) -> None:
        data = json.dumps(message, separators=(",", ":")).encode()
        self._bag.add_message(channel_id=channel, log_time=stamp, publish_time=stamp, data=data)


def _time(stamp: int) -> dict[str, int]:
    return {"sec": stamp // 10**9, "nsec": stamp % 10**9}


def _entity(name: str, stamp: int, **drawn: Any) -> dict[str, Any]:
    empty = ("metadata", "arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")
    about = {
        "timestamp": _time(stamp),
        "frame_id": FRAME,
        "id": name,
        "lifetime": {"sec": 0, "nsec": 0},  # until it is replaced
        "frame_locked": True,
    }
    return {**about, **{each: [] for each in empty}, **drawn}


def _primitives(item: Shape | Points | Lines | Area) -> dict[str, Any]:
    """What Foxglove draws for an item; nothing for one that is nowhere."""
    if isinstance(item, Shape):
        return _shape(item) if np.isfinite(item.position).all() else {}
    if isinstance(item, Points):
        side = 2.0 * item.radius
        known = np.flatnonzero(np.isfinite(item.positions).all(axis=1))
        places, colours = item.positions[known], each_colour(item.colours, len(item.positions))
        colours = [colours[k] for k in known.tolist()]
        return {
            "spheres": [
                {"pose": _pose(place, np.eye(3)), "size": _vector([side] * 3), "color": _colour(colour)}
                for place, colour in zip(places, colours, strict=False)
            ]
        }
    if isinstance(item, Lines):
        tints = [_colour(colour) for colour in each_colour(item.colours, len(item.ends)) for _ in range(2)]
        points = [_vector(end) for end in item.ends.reshape(-1, 3)]
        about = {"type": LINES, "pose": NOWHERE, "thickness": item.width, "scale_invariant": True}
        return {"lines": [{**about, "points": points, "color": _colour((0, 0, 0)), "colors": tints, "indices": []}]}
    if len(item.outline) < 3 or not np.isfinite(item.outline).all():
        return {}
    fan = [corner for k in range(1, len(item.outline) - 1) for corner in (0, k, k + 1)]
    return {"triangles": [_triangles(item.outline, np.array(fan), item.colour)]}


def _shape(shape: Shape) -> dict[str, Any]:
    pose, colour, size = _pose(shape.position, shape.rotation), _colour(shape.colour), np.array(shape.size)
    if shape.kind == "box":
        return {"cubes": [{"pose": pose, "size": _vector(2.0 * size), "color": colour}]}
    if shape.kind in ("sphere", "ellipsoid"):
        return {"spheres": [{"pose": pose, "size": _vector(2.0 * np.resize(size, 3)), "color": colour}]}
    if shape.kind == "cylinder":
        radius, half = shape.size
        sides = _vector([2.0 * radius, 2.0 * radius, 2.0 * half])
        return {"cylinders": [{"pose": pose, "size": sides, "bottom_scale": 1.0, "top_scale": 1.0, "color": colour}]}
    points, faces = shape_triangles(shape)
    return {"triangles": [_triangles(points, faces.ravel(), shape.colour) | {"pose": pose}]}


def _mesh(mesh: Mesh) -> dict[str, Any]:
    colours = [_colour(tuple(each)) for each in mesh.colours.tolist()]
    return _triangles(mesh.points, mesh.faces.ravel(), (0, 0, 0)) | {"colors": colours}


def _triangles(points: Array, indices: Any, colour: Colour) -> dict[str, Any]:
    return {
        "pose": NOWHERE,
        "points": [_vector(each) for each in points],
        "color": _colour(colour),
        "colors": [],
        "indices": np.asarray(indices).tolist(),
    }


def _pose(position: Array, rotation: Array) -> dict[str, Any]:
    turned = Rotation.from_matrix(rotation).as_quat()
    return {"position": _vector(position), "orientation": dict(zip("xyzw", np.round(turned, 5).tolist(), strict=True))}


def _vector(values: Any) -> dict[str, float]:
    x, y, z = np.round(np.asarray(values, np.float64), 4).tolist()
    return {"x": x, "y": y, "z": z}


def _colour(colour: tuple[float, ...]) -> dict[str, float]:
    shares = [round(each / 255.0, 3) for each in (*colour, 255)[:4]]
    return dict(zip("rgba", shares, strict=True))
