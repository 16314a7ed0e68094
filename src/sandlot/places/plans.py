"""Floor plans: walls and obstacles, as segments and circles.

`load_plan` reads them from TOML (`sandlot.places.plan_files`), from an image or from a ROS ``map.yaml``
(`sandlot.places.plan_images`); some plans are shipped. `sandlot.places.flats` draws random ones.
"""

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from sandlot.errors import PlaceError, SandlotError, quote
from sandlot.geometry.walls import Walls, clearances
from sandlot.places.plan_names import SHIPPED
from sandlot.typing import Array

MAX_COORDINATE = 1e5
"""Largest coordinate of a plan [m], so that sums of squares stay accurate."""
MAX_SURFACES = 1_000_000
"""Maximum number of segments and circles of a plan."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Walls and boxes as segments, pillars as circles.

    Attributes:
        segments: (n, 4) x, y of one end and of the other [m].
        circles: (m, 3) x, y, radius [m].
        shine: (n + m,) specular share of each segment, then of each circle: 0 is matt, 1 a mirror.
        floor: (k, 2) some points on the floor [m]; none if it is not known which side of the walls is floor.
        boxes: Number of boxes; their sides, four each, are the last segments. They and the circles are furniture.
    """

    segments: Array
    circles: Array
    shine: Array
    floor: Array
    boxes: int = 0

    @property
    def walls(self) -> Walls:
        """Segments and circles, for compiled functions."""
        return Walls(self.segments, self.circles)

    @property
    def bounds(self) -> Array:
        """Minimum x and y, maximum x and y: (4,) [m]."""
        ends, middles, radius = self.segments.reshape(-1, 2), self.circles[:, :2], self.circles[:, 2:]
        points = np.concatenate([ends, middles - radius, middles + radius])
        return np.concatenate([points.min(axis=0), points.max(axis=0)])

    @property
    def digest(self) -> str:
        """SHA-256 of all arrays: equal plans have equal digests."""
        parts = (self.segments, self.circles, self.shine, self.floor)
        return hashlib.sha256(b"".join(repr(part.shape).encode() + part.tobytes() for part in parts)).hexdigest()

    def clearance(self, points: ArrayLike) -> Array:
        """Distance from points (..., 2) to the nearest wall [m]; negative inside a circle, but not inside a box."""
        points = np.asarray(points, np.float64)
        room = np.empty(points.shape[:-1])
        clearances(np.ascontiguousarray(points.reshape(-1, 2)), self.walls, room.reshape(-1))
        return room


def make_plan(
    segments: ArrayLike, circles: ArrayLike = (), shine: ArrayLike = 0.0, floor: ArrayLike = (), boxes: int = 0
) -> Plan:
    """Make a plan from arrays; segments of zero length are left out.

    Args:
        segments: (n, 4) [m]
        circles: (m, 3) [m]
        shine: One value for all, or (n + m,).
        floor: (k, 2) points on the floor [m], if known.
        boxes: The last so many times four segments are the sides of boxes.

    Raises:
        PlaceError: If the plan is empty, or a number is impossible.
    """
    lines = np.asarray(segments, np.float64).reshape(-1, 4)
    discs = np.asarray(circles, np.float64).reshape(-1, 3)
    shines = np.broadcast_to(np.asarray(shine, np.float64), len(lines) + len(discs))
    for values in (lines, discs):
        if not (np.abs(values) <= MAX_COORDINATE).all():
            raise PlaceError(f"a plan has coordinates that are not within {MAX_COORDINATE:g} m of its origin")
    if not ((shines >= 0.0) & (shines <= 1.0)).all():
        raise PlaceError("a plan has a shine that is not from 0 to 1")
    if not (discs[:, 2] > 0.0).all():
        raise PlaceError("a plan has a circle whose radius is not above 0")
    long = (lines[:, :2] != lines[:, 2:]).any(axis=1)
    lines, shines = lines[long], shines[np.concatenate([long, np.ones(len(discs), np.bool_)])]
    if not 1 <= len(shines) <= MAX_SURFACES:
        raise PlaceError(f"a plan has {len(shines)} surfaces; allowed are 1 to {MAX_SURFACES}")
    points = np.array(floor, np.float64).reshape(-1, 2)
    return Plan(np.ascontiguousarray(lines), np.ascontiguousarray(discs), np.array(shines), points, boxes)


def load_plan(path: str | Path, resolution: float = 0.05) -> Plan:
    """Read a floor plan.

    Args:
        path: A TOML file, a ROS ``map.yaml``, or an image whose dark pixels are walls; or the name of a shipped plan:
            ``arena``, ``cluttered``, ``office``, ``flat``, ``apartment``, ``warehouse``.
        resolution: Of an image [m/pixel]; the other kinds state their own.

    Raises:
        PlaceError: One line that says what is wrong with the file.
    """
    # Imported here because both modules import this one.
    from sandlot.places.plan_files import read_plan
    from sandlot.places.plan_images import read_image, read_ros_map

    if str(path) in SHIPPED:
        return read_plan(Path(str(files("sandlot"))) / "places" / "floor_plans" / f"{path}.toml")
    path = Path(path)
    kind = path.suffix.lower()
    try:
        if kind == ".toml":
            return read_plan(path)
        return read_ros_map(path) if kind in (".yaml", ".yml") else read_image(path, resolution)
    except SandlotError as error:
        message = str(error)
        raise PlaceError(message if str(path) in message else f"{quote(path)}: {message}") from None
