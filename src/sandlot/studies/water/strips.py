"""A strip of pictures: a body at several moments of what it does."""

import numpy as np
from matplotlib.figure import Figure

from sandlot.control.gaits import Schedule
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import FastSwimmers, ReferenceSwimmers, Swimmers
from sandlot.studies.base import Picture


def strip(
    snake: Snake, plan: Schedule, seconds: float, caption: str, ball: tuple[float, float] | None = None, count: int = 5
) -> Picture:
    """Let a body follow a plan, and draw it ``count`` times; with a ball, in the reference.

    Args:
        snake: The body.
        plan: What it does.
        seconds: For how long [s].
        caption: What is to be seen.
        ball: Where it is at the start [m].
        count: Pictures.
    """
    from sandlot.studies.water.drawing import draw_body

    swimmers: Swimmers
    swimmers = FastSwimmers(snake, 1) if ball is None else ReferenceSwimmers(snake, 1, balls=np.array([ball]))
    commands = round(seconds / snake.interval)
    moments = np.linspace(0, commands, count).round().astype(int)
    shots = []
    for k in range(commands + 1):
        if k in moments:
            balls = swimmers.balls[0].copy() if isinstance(swimmers, ReferenceSwimmers) else None
            shots.append((swimmers.time, swimmers.centres[0], swimmers.directions[0], balls))
        swimmers.command(plan.targets((k + 1) * snake.interval, snake.joints)[None])
    places = np.concatenate([shot[1] for shot in shots])
    low, high = places.min(axis=0) - 3.0, places.max(axis=0) + 3.0
    wide, tall = high - low
    figure = Figure(figsize=(8.0, count * max(8.0 * tall / wide, 0.6)), layout="constrained")
    for axes, (time, centres, directions, place) in zip(figure.subplots(count, 1, sharex=True), shots, strict=True):
        draw_body(axes, centres, directions, snake, ball=place)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", yticks=[])
        axes.set_ylabel(f"{time:.1f} s", rotation=0, ha="right", va="center")
        axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("x [m]")
    return Picture(caption, figure)
