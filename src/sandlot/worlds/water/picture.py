"""A picture of the water from above, drawn quickly."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from sandlot.robots.snake import Snake, link_corners
from sandlot.typing import Array

SIZE = 480
"""Of a picture, across and down [pixel]."""
FINER = 2
"""Drawn so many times as large, then made smaller: edges become smooth."""
WATER, LINES, HOME, BALL = (222, 236, 245), (203, 221, 233), (186, 222, 196), (222, 120, 40)
BODY, HEAD, EDGE = (70, 110, 150), (200, 60, 60), (30, 50, 75)


def draw(
    snake: Snake,
    centre: Array,
    centres: Array,
    directions: Array,
    target: Array,
    ball_radius: float,
    destination: Array,
    region: float,
) -> NDArray[np.uint8]:
    """The body, its ball and where that should go; the camera follows the body.

    Args:
        snake: Whose body it is.
        centre: (2,) of mass, the middle of the picture [m].
        centres: (links, 2) of the links [m].
        directions: (links,) of the links [rad].
        target: (2,) where the ball is [m]; a mark on the edge shows the way to one that is further away.
        ball_radius: [m]
        destination: (2,) where it should go [m].
        region: Radius around the destination that counts [m].

    Returns:
        (480, 480, 3), with a line of the grid every 10 m.
    """
    view = 2.0 * snake.arclength
    scale = FINER * SIZE / view
    image = Image.new("RGB", (FINER * SIZE, FINER * SIZE), WATER)
    pen = ImageDraw.Draw(image)
    middle = np.where(np.isfinite(centre), centre, 0.0)

    def place(points: Array) -> Array:
        return (np.asarray(points) - middle) * (scale, -scale) + 0.5 * FINER * SIZE

    def disc(at: Array, radius: float, **look: Any) -> None:
        x, y = at
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), **look)

    low = 10.0 * np.ceil((middle - 0.5 * view) / 10.0)
    for k in range(int(view // 10.0) + 1):
        x, y = place(low + 10.0 * k)
        pen.line((x, 0, x, FINER * SIZE), fill=LINES, width=FINER)
        pen.line((0, y, FINER * SIZE, y), fill=LINES, width=FINER)
    disc(place(destination), scale * region, fill=HOME)
    if not np.isfinite(centres).all():
        return np.asarray(image.reduce(FINER))
    corners = place(link_corners(centres, directions, snake))
    for k in range(snake.links - 1, -1, -1):
        pen.polygon(corners[k].ravel().tolist(), fill=HEAD if k == 0 else BODY, outline=EDGE, width=FINER)
    at = place(target)
    edge = np.clip(at, 0, FINER * SIZE)
    disc(edge, scale * ball_radius if np.array_equal(at, edge) else 6 * FINER, fill=BALL, outline=EDGE, width=FINER)
    return np.asarray(image.reduce(FINER))
