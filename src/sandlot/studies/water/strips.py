"""A strip of pictures: a body at several times of a plan."""

import numpy as np
from matplotlib.figure import Figure

from sandlot.control.snake.gaits import Plan
from sandlot.robots.snake import Snake
from sandlot.robots.swimmer_models import make_swimmers
from sandlot.studies.base import Picture
from sandlot.studies.plots import show
from sandlot.studies.water.following import follow
from sandlot.worlds.water.scene import ball_shape, open_water, snake_shapes

MARGIN = 3.0
"""Around the body [m]."""
PIXELS = 1200
"""Longer side of a picture."""


def strip(
    snake: Snake,
    plan: Plan,
    seconds: float,
    caption: str,
    ball: tuple[float, float] | None = None,
    count: int = 5,
    columns: int = 1,
    giving: int = 0,
) -> Picture:
    """Let a body follow a plan, and draw it ``count`` times; with a ball, in the reference.

    Args:
        snake: The body.
        plan: Joint angles over time.
        seconds: Duration [s].
        caption: Of the picture.
        ball: Position of a ball at the start [m].
        count: Number of pictures.
        columns: Of pictures.
        giving: Number of joints, from the head on, that give way to the ball they hold.
    """
    fidelity, balls = ("fast", None) if ball is None else ("reference", np.array([ball]))
    swimmers = make_swimmers(fidelity, snake, balls=balls)
    moments = np.linspace(0, round(seconds / snake.interval), count).round().astype(int)
    shots, places = [], []
    for k in follow(swimmers, plan, seconds, giving):
        if k in moments:
            items = snake_shapes(snake, swimmers.centres[0], swimmers.directions[0])
            shots.append((swimmers.time[0], items if ball is None else [*items, ball_shape(swimmers.balls[0])]))
            places.append(swimmers.centres[0])
    low, high = np.min(places, axis=(0, 1)) - MARGIN, np.max(places, axis=(0, 1)) + MARGIN
    wide, tall = high - low
    rows, width = -(-count // columns), (8.0 if columns == 1 else 11.0) / columns
    figure = Figure(figsize=(width * columns, rows * max(width * tall / wide, 0.6)), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for axes, (time, items) in zip(grid, shots, strict=False):
        show(axes, open_water(items, low, high, PIXELS))
        axes.set(yticks=[], xlabel="x [m]" if axes is grid[-1] else "")
        axes.set_ylabel(f"{time:.1f} s", rotation=0, ha="right", va="center")
        axes.spines[:].set_visible(False)
    return Picture(caption, figure)
