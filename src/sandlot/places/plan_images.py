"""Floor plans from pixels: an image whose dark parts are walls, or the map of a ROS robot.

A pixel is a square of floor. The edges between walls and floor are kept, exactly, and joined into long runs.
"""

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pydantic import Field, field_validator
from ruamel.yaml import YAML

from sandlot.errors import SandlotError
from sandlot.places.plans import Plan, make_plan
from sandlot.settings import Settings, build
from sandlot.typing import Array, BoolArray

DARK = 0.5
"""Pixels darker than this, from black 0 to white 1, are walls."""
MOST_PIXELS = 2**26
"""Of an image: 8192 x 8192."""
MOST_POINTS = 4096
"""Of the floor that a plan notes."""
MOST_BYTES = 2**16
"""Of a ``map.yaml``; real ones have some hundred."""


class RosMap(Settings):
    """What a ``map.yaml`` says, as ROS' map_server understands it.

    Attributes:
        image: Path of the image, from the file's folder.
        resolution: [m/pixel]
        origin: x, y [m] and yaw [rad] of the lower left corner.
        negate: Whether light pixels are the walls.
        occupied_thresh: Pixels that are walls with a higher probability are walls.
        free_thresh: Pixels that are walls with a lower one are floor.
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
        SandlotError: If it is none, or has no walls.
    """
    return _plan(path, read_gray(path) < DARK, resolution)


def read_ros_map(path: Path) -> Plan:
    """Read a ROS map. What is neither wall nor floor, because the robot never saw it, is taken for wall.

    Raises:
        SandlotError: One line that says what is wrong with the file or its image.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise SandlotError(f"{path} is no map.yaml: it has {size} bytes, and such a file a few hundred")
        table: Any = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SandlotError(f"cannot read the map {path}: {error.strerror}") from None
    except SandlotError:
        raise
    except Exception as error:  # ruamel passes on whatever a strange file makes Python raise
        raise SandlotError(f"{path} is not YAML: {error}") from None
    if not isinstance(table, dict):
        raise SandlotError(f"{path} is no map.yaml: it has no keys such as image, resolution and origin")
    known = {key: value for key, value in table.items() if isinstance(key, str) and key in RosMap.model_fields}
    for key, value in known.items():
        parts = value if isinstance(value, list) else [value]
        if len(parts) > 3 or not all(isinstance(part, str | float | int) for part in parts):
            raise SandlotError(f"{path}: {key} is more than a number, a text, or three numbers")
    given = build(RosMap, known)
    gray = read_gray(path.parent / given.image)
    occupied = gray if given.negate else 1.0 - gray
    return _plan(path, ~(occupied < given.free_thresh), given.resolution, given.origin)


def read_gray(path: Path) -> Array:
    """Read an image as gray, from black 0 to white 1, the lowest row first: (ny, nx).

    Raises:
        SandlotError: If there is none, or it cannot be read.
    """
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(path) as image:
            if image.width * image.height > MOST_PIXELS:
                raise SandlotError(f"{path} has {image.width} x {image.height} pixels; allowed are {MOST_PIXELS}")
            if image.mode == "F":
                raise SandlotError(f"{path} is an image of mode F; allowed are 8 and 16 bits a pixel")
            gray = _gray(image)
    except FileNotFoundError:
        raise SandlotError(f"no image at {path}") from None
    except SandlotError:
        raise
    except Exception as error:  # decoders raise whatever a broken file makes them
        raise SandlotError(f"cannot read {path} as an image: {error}") from None
    return np.flipud(gray)


def _gray(image: Image.Image) -> Array:
    """From black 0 to white 1; what is transparent is white."""
    if image.mode.startswith("I"):
        return np.asarray(image, np.float64) / 65535.0
    if image.has_transparency_data:
        layers = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", layers.size, "white"), layers)
    return np.asarray(image.convert("L"), np.float64) / 255.0


def edges(walls: BoolArray) -> Array:
    """Borders between walls and floor, joined where they go on straight: (n, 4) [pixel].

    Args:
        walls: (ny, nx) where walls are; around the image there is floor.
    """
    found = []
    for turned in (False, True):
        padded = np.pad(walls.T if turned else walls, 1).astype(np.int8)
        # 1 where a wall begins above a border, -1 where one ends, along each row of borders.
        side = np.pad(np.diff(padded, axis=0)[:, 1:-1], ((0, 0), (1, 1)))
        changes = np.diff(side, axis=1) != 0
        # Between two changes the side is constant; it is a run where it is not 0.
        row, column = np.nonzero(changes)
        run = (row[:-1] == row[1:]) & (side[row[:-1], column[:-1] + 1] != 0)
        along, start, end = row[:-1][run], column[:-1][run], column[1:][run]
        found.append(np.column_stack([along, start, along, end] if turned else [start, along, end, along]))
    return np.concatenate(found).astype(np.float64)


def _plan(
    path: Path, walls: BoolArray, resolution: float, origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Plan:
    """A plan of the walls in an image."""
    if not walls.any():
        raise SandlotError(f"{path} has no walls: none of its pixels is dark enough")
    if walls.all():
        raise SandlotError(f"{path} has no floor: none of its pixels is light enough")
    cosine, sine = math.cos(origin[2]), math.sin(origin[2])

    def place(points: Array) -> Array:
        return resolution * points @ np.array([(cosine, sine), (-sine, cosine)]) + origin[:2]

    floor: Array = np.argwhere(~walls)[:, ::-1].astype(np.float64) + 0.5
    some = floor[:: -(-len(floor) // MOST_POINTS)]
    return make_plan(place(edges(walls).reshape(-1, 2)).reshape(-1, 4), floor=place(some))
