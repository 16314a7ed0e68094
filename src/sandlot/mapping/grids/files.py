"""Grid maps in files: a ROS ``map.yaml`` beside its image, PGM or PNG, or an image alone."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from sandlot.errors import PlaceError, SandlotError, quote
from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, WALL, Grid, Kinds
from sandlot.places.plan_images import RosMap, read_levels, read_ros_keys
from sandlot.settings import build
from sandlot.writing import drafted

IMAGES = (".pgm", ".png")
"""Kinds of images that are written."""
LEVELS = {UNKNOWN: 205, FREE: 254, OBSTACLE: 0, WALL: 0}
"""Gray levels of ROS' map_saver; trinary maps do not tell obstacles from walls."""


class SavedMap(NamedTuple):
    """A map as a file keeps it.

    Attributes:
        grid: Where the cells lie.
        kinds: (rows, columns) walls, free and unknown cells.
    """

    grid: Grid
    kinds: Kinds


def write_map(path: str | Path, grid: Grid, kinds: Kinds, image: str = ".pgm") -> None:
    """Write a ``map.yaml`` and its image, or replace older ones.

    Args:
        path: Of the YAML file; the image gets the same name and its own ending.
        grid: Where the cells lie.
        kinds: (rows, columns) what they are.
        image: Ending of the image, ``.pgm`` or ``.png``.

    Raises:
        PlaceError: If the ending is another, or the files cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() not in (".yaml", ".yml") or image not in IMAGES:
        raise PlaceError(f"cannot write {quote(path)}: a map ends in .yaml, its image in {' or '.join(IMAGES)}")
    picture = path.with_suffix(image)
    levels = np.array([LEVELS[kind] for kind in range(4)], np.uint8)[kinds]
    with drafted(picture, PlaceError, overwrite=True) as draft:
        Image.fromarray(np.flipud(levels)).save(draft)
    x, y = grid.origin
    default = {name: RosMap.model_fields[name].default for name in ("occupied_thresh", "free_thresh")}
    lines = [
        f"image: {picture.name}",
        "mode: trinary",
        f"resolution: {float(grid.resolution)!r}",
        f"origin: [{float(x)!r}, {float(y)!r}, 0.0]",
        "negate: 0",
        *(f"{name}: {value}" for name, value in default.items()),
    ]
    with drafted(path, PlaceError, overwrite=True) as draft:
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_map(path: str | Path, resolution: float | None = None) -> SavedMap:
    """Read a map.

    Args:
        path: A ROS ``map.yaml``, or an image whose dark pixels are walls and whose light ones are free.
        resolution: Of an image [m/pixel]. A ``map.yaml`` states its own, which must be this one if it is given.

    Raises:
        PlaceError: One line that says what is wrong with the file.
    """
    path = Path(path)
    try:
        if path.suffix.lower() in (".yaml", ".yml"):
            keys = read_ros_keys(path)
            picture = path.parent / keys.image
        else:
            if resolution is None:
                raise PlaceError("an image has no scale: give its resolution [m/pixel], or read a map.yaml")
            keys = build(RosMap, {"image": path.name, "resolution": resolution, "origin": (0.0, 0.0, 0.0)})
            picture = path
        if resolution is not None and abs(keys.resolution - resolution) > 1e-6 * resolution:
            raise PlaceError(f"its cells are {keys.resolution:g} m wide; they must be {resolution:g} m")
        if keys.origin[2] != 0.0:
            raise PlaceError(f"its origin is turned by {keys.origin[2]:g} rad; a grid must have a yaw of 0")
        levels, white = read_levels(picture)
    except SandlotError as error:
        message = str(error)
        raise PlaceError(message if str(path) in message else f"{quote(path)}: {message}") from None
    dark = np.arange(white + 1) / white
    dark = dark if keys.negate else 1.0 - dark
    kinds = np.full(white + 1, UNKNOWN, np.uint8)
    kinds[dark < keys.free_thresh] = FREE
    kinds[dark > keys.occupied_thresh] = WALL
    return SavedMap(Grid(keys.origin[:2], keys.resolution, levels.shape), kinds[levels])
