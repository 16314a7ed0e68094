"""What there is to draw of the water world: the snake, its ball and the region where the ball should go."""

import numpy as np

from sandlot.worlds.scene import BALL, HEAD, HOME, ROBOT, WATER, WATER_LINE, Item, Scene, Shape, grid_lines, upright
from sandlot.worlds.water.task import WaterTask

PIXELS = 480
GRID = 10.0
"""Distance between the lines of the grid [m]."""


def water_scene(task: WaterTask, body: int = 0) -> Scene:
    """One of the snakes; a picture follows it, twice as wide as it is long."""
    given = task.settings
    snake, centre = given.snake, np.nan_to_num(task.centre[body])
    low, high = centre - snake.arclength, centre + snake.arclength
    half = (0.5 * snake.length, 0.5 * snake.width, 0.5 * snake.width)
    links = [
        Shape(f"link {k}", "box", half, *upright(x, y, yaw=yaw), HEAD if k == 0 else ROBOT)
        for k, ((x, y), yaw) in enumerate(zip(task.centres[body], task.directions[body], strict=True))
    ]
    region = Shape("region", "cylinder", (given.region, 0.0), *upright(*given.destination), HOME, outlined=False)
    ball = Shape("ball", "sphere", (given.ball_radius,), *upright(*task.targets[body]), BALL, beacon=True)
    items: tuple[Item, ...] = (grid_lines("grid", low, high, GRID, WATER_LINE), region, *reversed(links), ball)
    return Scene(items, low, high, PIXELS, WATER)
