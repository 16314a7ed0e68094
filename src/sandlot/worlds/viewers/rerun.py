"""Writes scenes as a recording for the viewer of rerun, ``.rrd``: ``scene/...`` in space, ``numbers/...`` to plot."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from sandlot.extras import need
from sandlot.worlds.meshes import shape_triangles
from sandlot.worlds.replay import Moment
from sandlot.worlds.scene import HeightField, Item, Lines, Points, Shape, each_colour
from sandlot.worlds.viewers.ground import Tiles

TIMELINE = "time"


class RerunWriter:
    """A file that is being written; a context manager."""

    def __init__(self, path: Path) -> None:
        """Begin a file.

        Raises:
            MissingExtraError: If ``rerun-sdk`` is not installed.
        """
        self._rr: Any = need("rerun", "viewers")
        self._path, self._tiles = path, Tiles()
        self._shapes: dict[str, tuple[Any, ...]] = {}

    def __enter__(self) -> Self:
        self._stream = self._rr.RecordingStream("sandlot")
        self._stream.save(str(self._path))
        self._stream.log("scene", self._rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.flush()
        self._stream.disconnect()

    def write(self, moment: Moment) -> None:
        """Add a moment: shapes that moved, ground that changed, and its numbers."""
        self._stream.set_time(TIMELINE, duration=moment.time)
        self._stream.set_time("frame", sequence=moment.number)
        for item in moment.scene.items:
            self._item(item)
        for name, value in moment.numbers.items():
            if np.isfinite(value):
                self._stream.log(f"numbers/{name}", self._rr.Scalars(value))

    def _item(self, item: Item) -> None:
        rr, log = self._rr, self._stream.log
        path = f"scene/{item.name.replace(' ', '_')}"
        if isinstance(item, HeightField):
            for name, tile in self._tiles.changed(item):
                mesh = rr.Mesh3D(
                    vertex_positions=tile.points,
                    triangle_indices=tile.faces,
                    vertex_colors=tile.colours.astype(np.uint8),
                )
                log(f"{path}/{name.rpartition(item.name)[2].strip().replace(' ', '_')}", mesh)
        elif isinstance(item, Shape):
            self._shape(path, item)
        elif isinstance(item, Points):
            if not item.detail:
                colours = [each[:3] for each in each_colour(item.colours, len(item.positions))]
                log(path, rr.Points3D(item.positions, radii=item.radius, colors=colours))
        elif isinstance(item, Lines):
            colours = [each[:3] for each in each_colour(item.colours, len(item.ends))]
            log(path, rr.LineStrips3D(item.ends, colors=colours))
        elif len(item.outline) > 2 and np.isfinite(item.outline).all():
            fan = np.array([(0, k, k + 1) for k in range(1, len(item.outline) - 1)])
            log(path, rr.Mesh3D(vertex_positions=item.outline, triangle_indices=fan, albedo_factor=item.colour))

    def _shape(self, path: str, shape: Shape) -> None:
        """Its triangles when they are new, and its pose."""
        if not np.isfinite(shape.position).all():
            return
        vertices = () if shape.vertices is None else shape.vertices.tobytes()
        known = (shape.kind, shape.size, shape.colour, vertices)
        if self._shapes.get(path) != known:
            self._shapes[path] = known
            points, faces = shape_triangles(shape)
            corners = points[faces].reshape(-1, 3)  # each triangle its own, so that edges are sharp
            normals = np.cross(corners[1::3] - corners[::3], corners[2::3] - corners[::3])
            normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
            mesh = self._rr.Mesh3D(
                vertex_positions=corners, vertex_normals=np.repeat(normals, 3, axis=0), albedo_factor=shape.colour
            )
            self._stream.log(path, mesh)
        self._stream.log(path, self._rr.Transform3D(translation=shape.position, mat3x3=shape.rotation))
