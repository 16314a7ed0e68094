"""What there is to draw of the water world: the snake, its ball and the region where the ball should go."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from sandlot.robots.snake import Snake
from sandlot.typing import Array
from sandlot.worlds.scene import BALL, HEAD, HOME, ROBOT, WATER, WATER_LINE, Item, Scene, Shape, grid_lines, upright
from sandlot.worlds.water.task import WaterTask

PIXELS = 480
GRID = 10.0
"""Distance between the lines of the grid [m]."""


def water_scene(task: WaterTask, body: int = 0) -> Scene:
    """One of the snakes; a picture follows it, twice as wide as it is long."""
    given, centre = task.settings, np.nan_to_num(task.centre[body])
    low, high = centre - given.snake.arclength, centre + given.snake.arclength
    region = Shape("region", "cylinder", (given.region, 0.0), *upright(*given.destination), HOME, outlined=False)
    snake = snake_shapes(given.snake, task.centres[body], task.directions[body])
    return open_water((region, *snake, ball_shape(task.targets[body], given.ball_radius)), low, high)


def open_water(items: Iterable[Item], low: Array, high: Array, pixels: int = PIXELS) -> Scene:
    """Items in water with a grid; ``low`` and ``high`` (2,) are the corners of a picture [m]."""
    return Scene((grid_lines("grid", low, high, GRID, WATER_LINE), *items), low, high, pixels, WATER)


def snake_shapes(snake: Snake, centres: Array, directions: Array) -> list[Shape]:
    """The links, the head last: their centres (links, 2) [m] and their yaw (links,) [rad]."""
    half = (0.5 * snake.length, 0.5 * snake.width, 0.5 * snake.width)
    links = [
        Shape(f"link {k}", "box", half, *upright(x, y, yaw=yaw), HEAD if k == 0 else ROBOT)
        for k, ((x, y), yaw) in enumerate(zip(centres, directions, strict=True))
    ]
    return links[::-1]


def ball_shape(position: ArrayLike, radius: float = 1.0) -> Shape:
    """A ball at a position (2,) [m]."""
    x, y = np.asarray(position, np.float64)
    return Shape("ball", "sphere", (radius,), *upright(x, y), BALL, beacon=True)
