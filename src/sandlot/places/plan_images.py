"""Floor plans from images whose dark pixels are walls, and from maps of ROS robots.

A pixel is a square. The borders between wall and floor pixels become segments; collinear ones are joined.
"""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, field_validator

from sandlot.errors import PlaceError, SandlotError, quote
from sandlot.geometry.planar import rotate
from sandlot.places.plans import MAX_SURFACES, Plan, make_plan
from sandlot.reading import check_regular, read_yaml
from sandlot.settings import Settings, build
from sandlot.typing import Array, BoolArray

DARK = 0.5
"""Pixels darker than this, from black 0 to white 1, are walls."""
MAX_PIXELS = 2**26
"""Largest image: 8192 x 8192."""
BLOCK = 512
"""Rows of an image that are searched for borders at a time."""
MAX_FLOOR_POINTS = 4096
"""Maximum number of points on the floor that a plan keeps."""
MAX_YAML_BYTES = 2**14
"""Largest ``map.yaml`` [bytes]; real ones have a few hundred."""


class RosMap(Settings):
    """The keys of a ``map.yaml``, as ROS' map_server defines them.

    Attributes:
        image: Path of the image, from the file's folder.
        resolution: [m/pixel]
        origin: x, y [m] and yaw [rad] of the lower left corner.
        negate: Whether light pixels are the walls.
        occupied_thresh: Pixels with a higher probability of a wall are walls.
        free_thresh: Pixels with a lower probability of a wall are floor.
        mode: ``trinary``, or ``scale``, which is the same here.
    """

    image: str = Field(min_length=1)
    resolution: float = Field(gt=0.0, le=100.0)
    origin: tuple[float, float, float]
    negate: bool = False
    occupied_thresh: float = Field(0.65, ge=0.0, le=1.0)
    free_thresh: float = Field(0.196, ge=0.0, le=1.0)
    mode: str = "trinary"

    @field_validator("mode")
    @classmethod
    def _known(cls, mode: str) -> str:
        if mode not in ("trinary", "scale"):
            raise ValueError("only trinary and scale maps can be read")
        return mode


def read_image(path: Path, resolution: float) -> Plan:
    """Read an image; the lower left corner is the origin.

    Args:
        path: Of the image; pixels darker than middle gray are walls.
        resolution: [m/pixel]

    Raises:
        PlaceError: If it is not an image, or has no walls.
    """
    return _plan(path, _classify(path, lambda gray: gray < DARK), resolution)


def read_ros_keys(path: Path) -> RosMap:
    """Read a ``map.yaml``; keys that are not known are left out.

    Raises:
        SandlotError: One line that says what is wrong with the file.
    """
    table = read_yaml(path, MAX_YAML_BYTES, PlaceError)
    if not isinstance(table, dict):
        raise PlaceError(f"{path} is not a map.yaml: it has no keys such as image, resolution and origin")
    known = {key: value for key, value in table.items() if isinstance(key, str) and key in RosMap.model_fields}
    for key, value in known.items():
        parts = value if isinstance(value, list) else [value]
        if len(parts) > 3 or not all(isinstance(part, str | float | int) for part in parts):
            raise PlaceError(f"{path}: {key} is more than a number, a text, or three numbers")
    return build(RosMap, known)


def read_ros_map(path: Path) -> Plan:
    """Read a ROS map; pixels that are neither wall nor floor, because the robot never saw them, become walls.

    Raises:
        PlaceError: One line that says what is wrong with the file or its image.
    """
    given = read_ros_keys(path)

    def is_wall(gray: Array) -> BoolArray:
        return ~((gray if given.negate else 1.0 - gray) < given.free_thresh)

    return _plan(path, _classify(path.parent / given.image, is_wall), given.resolution, given.origin)


def _classify(path: Path, is_wall: Callable[[Array], BoolArray]) -> BoolArray:
    """The wall pixels of an image, the lowest row first: (ny, nx).

    Args:
        path: Of the image.
        is_wall: Whether gray levels, from black 0 to white 1, are walls.

    Raises:
        PlaceError: If there is no image, or it cannot be read.
    """
    levels, white = read_levels(path)
    # A table of all levels takes less memory than the gray of all pixels.
    return is_wall(np.arange(white + 1) / white)[levels]


def read_levels(path: Path) -> tuple[NDArray[np.uint8 | np.uint16], int]:
    """Gray levels of an image, 0 for black, the lowest row first: (ny, nx); and the level of white.

    Raises:
        PlaceError: If there is no image, or it cannot be read.
    """
    try:
        check_regular(path)
        with warnings.catch_warnings(action="ignore"), Image.open(path) as image:
            allowed = MAX_PIXELS // 4 if image.has_transparency_data else MAX_PIXELS
            if image.width * image.height > allowed:
                raise PlaceError(f"{path} has {image.width} x {image.height} pixels; allowed are {allowed}")
            if image.mode == "F":
                raise PlaceError(f"{path} is an image of mode F; allowed are 8 and 16 bits a pixel")
            levels, white = _levels(image)
    except FileNotFoundError:
        raise PlaceError(f"no image at {quote(path)}") from None
    except SandlotError:
        raise
    except Exception as error:  # decoders raise whatever a broken file makes them
        raise PlaceError(f"cannot read {quote(path)} as an image: {quote(error)}") from None
    return np.flipud(levels), white


def _levels(image: Image.Image) -> tuple[NDArray[np.uint8 | np.uint16], int]:
    """Gray levels of the pixels, 0 for black, and the level of white, 255 or 65535; transparent pixels are white."""
    if image.mode.startswith("I"):
        return np.clip(np.asarray(image), 0, 65535).astype(np.uint16), 65535
    if image.has_transparency_data:
        layers = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", layers.size, "white"), layers)
    return np.asarray(image.convert("L")), 255


def edges(walls: BoolArray) -> Array:
    """Borders between wall and floor pixels, collinear ones joined: (n, 4) [pixel].

    Args:
        walls: (ny, nx) wall pixels; outside the image is floor.
    """
    found = []
    total = 0
    for turned in (False, True):
        padded = np.pad(walls.T if turned else walls, 1)
        for first in range(0, len(padded) - 1, BLOCK):
            block = padded[first : first + BLOCK + 1].astype(np.int8)
            # Along each row of borders: 1 if the wall is above, -1 if it is below, 0 if there is no border.
            side = np.pad(np.diff(block, axis=0)[:, 1:-1], ((0, 0), (1, 1)))
            # Between two changes the side is constant; it is a segment where it is not 0.
            row, column = np.nonzero(np.diff(side, axis=1))
            run = (row[:-1] == row[1:]) & (side[row[:-1], column[:-1] + 1] != 0)
            along, start, end = first + row[:-1][run], column[:-1][run], column[1:][run]
            found.append(np.column_stack([along, start, along, end] if turned else [start, along, end, along]))
            total += len(along)
            if total > MAX_SURFACES:
                raise PlaceError(f"an image has more than {MAX_SURFACES:,} edges between walls and floor")
    return np.concatenate(found).astype(np.float64)


def _plan(
    path: Path, walls: BoolArray, resolution: float, origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Plan:
    """The plan of an image."""
    if not walls.any():
        raise PlaceError(f"{path} has no walls: none of its pixels is dark enough")
    if walls.all():
        raise PlaceError(f"{path} has no floor: none of its pixels is light enough")

    def place(points: Array) -> Array:
        return rotate(resolution * points, origin[2]) + origin[:2]

    return make_plan(place(edges(walls).reshape(-1, 2)).reshape(-1, 4), floor=place(_floor_points(walls)))


def _floor_points(walls: BoolArray) -> Array:
    """Centres of at most `MAX_FLOOR_POINTS` floor pixels, evenly taken row by row: (k, 2) [pixel]."""
    before = np.concatenate([[0], np.cumsum((~walls).sum(axis=1))])  # floor pixels in the rows before each
    chosen = np.arange(0, before[-1], -(-before[-1] // MAX_FLOOR_POINTS))
    rows = np.searchsorted(before, chosen, side="right") - 1
    columns = [np.flatnonzero(~walls[row])[index - before[row]] for row, index in zip(rows, chosen, strict=True)]
    return np.column_stack([columns, rows]) + 0.5
