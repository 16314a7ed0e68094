"""A picture of a snake's body, bent by joint angles or by a gait at one moment."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sandlot.control.snake.gaits import Gait
from sandlot.control.snake.shape import Posture, circle, shape
from sandlot.robots.snake import Snake
from sandlot.settings import build
from sandlot.studies.plots import canvas, save_figure, show
from sandlot.worlds.water.scene import open_water, snake_shapes

LINK_MASS = 18.75
"""Mass of one link [kg]."""
PIXELS = 1200
"""Longer side of the picture."""


def bent_body(
    angles: Sequence[float], in_circle: bool, gait: dict[str, float | None], time: float, links: int
) -> Posture:
    """A body bent in one of three ways.

    Args:
        angles: One for each joint, from the head on [deg]; then the body has one link more.
        in_circle: Bend all joints by 360 deg / (links + 1).
        gait: Settings of a gait; used if its ``amplitude`` is given. By default its phase makes one wave.
        time: When the gait is looked at [s].
        links: Of the body, unless angles are given.

    Raises:
        SettingError: If a body or a gait is impossible.
    """
    count = len(angles) + 1 if angles else links
    snake = build(Snake, {"links": count, "mass": LINK_MASS * count})
    if angles:
        return shape(np.radians(angles), snake)
    if in_circle:
        return shape(circle(snake.joints), snake)
    phase = 2.0 * np.pi / snake.joints if gait["phase"] is None else gait["phase"]
    return shape(build(Gait, gait | {"phase": phase}).targets(time, snake.joints), snake)


def draw_posture(body: Posture, path: Path) -> None:
    """Draw the body and its centre of mass.

    Raises:
        SandlotError: If the picture cannot be written.
    """
    figure, (axes,) = canvas(width=8.0, height=5.0)
    low, high = (edge(body.centres, axis=0) for edge in (np.min, np.max))
    border = body.snake.length + 0.1 * float(max(high - low))
    shapes = snake_shapes(body.snake, body.centres, body.directions)
    show(axes, open_water(shapes, low - border, high + border, PIXELS))
    axes.plot(*body.ends.reshape(-1, 2).T, color="black", linewidth=0.8)
    axes.plot(*body.centres.mean(axis=0), "k+", markersize=10)
    save_figure(figure, path, dpi=120)
