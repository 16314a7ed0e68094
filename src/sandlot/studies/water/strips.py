"""A strip of pictures: a body at several times of a plan."""

import numpy as np
from matplotlib.figure import Figure

from sandlot.control.snake.fetching import give_way
from sandlot.control.snake.gaits import Plan
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import Swimmers
from sandlot.studies.base import Picture
from sandlot.studies.water.drawing import draw_body


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
    swimmers: Swimmers
    swimmers = FastSwimmers(snake, 1) if ball is None else ReferenceSwimmers(snake, 1, balls=np.array([ball]))
    commands = round(seconds / snake.interval)
    moments = np.linspace(0, commands, count).round().astype(int)
    shots = []
    for k in range(commands + 1):
        if k in moments:
            balls = swimmers.balls[0].copy() if ball is not None else None
            shots.append((swimmers.time[0], swimmers.centres[0], swimmers.directions[0], balls))
        targets = plan.targets((k + 1) * snake.interval, snake)
        targets[:giving] = give_way(targets[:giving], swimmers.angles[0, :giving])
        swimmers.command(targets[None])
    positions = np.concatenate([shot[1] for shot in shots])
    low, high = positions.min(axis=0) - 3.0, positions.max(axis=0) + 3.0
    wide, tall = high - low
    rows, width = -(-count // columns), (8.0 if columns == 1 else 11.0) / columns
    figure = Figure(figsize=(width * columns, rows * max(width * tall / wide, 0.6)), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for axes, (time, centres, directions, place) in zip(grid, shots, strict=False):
        draw_body(axes, centres, directions, snake, ball=place)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", yticks=[])
        axes.set_ylabel(f"{time:.1f} s", rotation=0, ha="right", va="center")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_xlabel("x [m]" if axes is grid[-1] else "")
    return Picture(caption, figure)
