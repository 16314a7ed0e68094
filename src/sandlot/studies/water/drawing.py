"""Pictures of the swimming snake, its ball, and where the ball should go."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from sandlot.robots.snake import Snake, link_corners
from sandlot.studies.plots import COLOURS
from sandlot.typing import Array


def draw_body(
    axes: Axes,
    centres: Array,
    directions: Array,
    snake: Snake,
    ball: ArrayLike | None = None,
    ball_radius: float = 1.0,
    destination: ArrayLike | None = None,
    region: float = 8.0,
    alpha: float = 1.0,
) -> None:
    """Draw a body at one time; its head has another colour.

    Args:
        axes: To draw on.
        centres: Of the links: (links, 2) [m].
        directions: Of the links: (links,) [rad].
        snake: The body.
        ball: Position of a ball: (2,) [m].
        ball_radius: [m]
        destination: Of the ball: (2,) [m].
        region: Radius of the destination [m].
        alpha: Opacity.
    """
    if destination is not None:
        draw_region(axes, destination, region)
    colours = [COLOURS[1]] + [COLOURS[0]] * (snake.links - 1)
    boxes = link_corners(np.asarray(centres), np.asarray(directions), snake)
    axes.add_collection(
        PolyCollection(list(boxes), facecolors=colours, edgecolors="white", linewidths=0.3, alpha=alpha, zorder=3)
    )
    if ball is not None:
        x, y = np.asarray(ball, np.float64)
        axes.add_patch(Circle((x, y), ball_radius, color=COLOURS[2], alpha=alpha, zorder=2))
    axes.set_aspect("equal")


def draw_region(axes: Axes, destination: ArrayLike, region: float = 8.0) -> None:
    """Draw the destination of the ball."""
    x, y = np.asarray(destination, np.float64)
    axes.add_patch(Circle((x, y), region, color="0.85", zorder=0))
