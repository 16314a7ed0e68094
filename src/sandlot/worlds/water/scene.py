"""What there is to draw of the water world: the snake, its ball and the region where the ball should go."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sandlot.robots.snake import Snake
from sandlot.typing import Array
from sandlot.worlds.scene import (
    FRONT,
    GOAL,
    LOAD,
    ROBOT,
    WATER,
    WATER_LINE,
    Item,
    Scene,
    Shape,
    grid_lines,
    upright,
)
from sandlot.worlds.water.task import WaterTask

PIXELS, SLIMMEST = 600, 0.66
"""Longer side of a picture [pixel], and the shorter one relative to it, at least."""
GRID = 10.0
"""Distance between the lines of the grid [m]."""


def water_scene(task: WaterTask, body: int = 0) -> Scene:
    """One of the snakes, its ball and, if it can carry the ball, where to bring it: all of them are in the picture."""
    given, ball = task.settings, task.targets[body]
    solid = task.swimmers.solid_balls
    low, high = _framed(task, body)
    region = Shape("region", "cylinder", (given.region, 0.0), *upright(*given.destination), GOAL, outlined=False)
    snake = snake_shapes(given.snake, task.centres[body], task.directions[body])
    scene = open_water((*[region] * solid, *snake, ball_shape(ball, given.ball_radius)), low, high)
    away = float(np.hypot(*(task.centres[body, 0] - ball)))
    caption = f"{task.swimmers.time[body]:.1f} s   head to ball {away:.1f} m"
    if solid:
        caption += f"   ball to home {np.hypot(*(ball - given.destination)):.1f} m"
    legend = (("snake", ROBOT), ("its head", FRONT), ("ball" if solid else "target", LOAD), *[("home", GOAL)] * solid)
    return replace(scene, caption=caption, legend=legend)


def _framed(task: WaterTask, body: int) -> tuple[Array, Array]:
    """Corners (2,) of a picture [m] with the start, the snake, the ball and home in it.

    They are at multiples of a quarter of the snake, so that they do not move with its waves.
    """
    given = task.settings
    long = given.snake.arclength
    places = [np.zeros(2), np.nan_to_num(task.centre[body]), np.nan_to_num(task.targets[body])]
    if task.swimmers.solid_balls:
        places.append(np.asarray(given.destination))
    step = 0.25 * long
    low = step * np.floor((np.min(places, axis=0) - 0.55 * long) / step)
    high = step * np.ceil((np.max(places, axis=0) + 0.55 * long) / step)
    # At least so wide and so tall, relative to the longer side.
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    half = np.maximum(half, SLIMMEST * half.max())
    return middle - half, middle + half


def open_water(items: Iterable[Item], low: Array, high: Array, pixels: int = PIXELS) -> Scene:
    """Items in water with a grid; ``low`` and ``high`` (2,) are the corners of a picture [m]."""
    return Scene((grid_lines("grid", low, high, GRID, WATER_LINE), *items), low, high, pixels, WATER)


def snake_shapes(snake: Snake, centres: Array, directions: Array) -> list[Shape]:
    """The links, the head last: their centres (links, 2) [m] and their yaw (links,) [rad]."""
    half = (0.5 * snake.length, 0.5 * snake.width, 0.5 * snake.width)
    links = [
        Shape(f"link {k}", "box", half, *upright(x, y, yaw=yaw), FRONT if k == 0 else ROBOT)
        for k, ((x, y), yaw) in enumerate(zip(centres, directions, strict=True))
    ]
    return links[::-1]


def ball_shape(position: ArrayLike, radius: float = 1.0) -> Shape:
    """A ball at a position (2,) [m]."""
    x, y = np.asarray(position, np.float64)
    return Shape("ball", "sphere", (radius,), *upright(x, y), LOAD, beacon=True)
