"""Bodies that follow joint angles known in advance, command by command, at either fidelity."""

from collections.abc import Iterator

import numpy as np

from sandlot.control.snake.fetching import give_way
from sandlot.control.snake.gaits import Plan
from sandlot.robots.snake import Snake
from sandlot.robots.swimmer_models import make_swimmers
from sandlot.robots.swimmers import Swimmers


def follow(swimmers: Swimmers, plan: Plan, seconds: float, giving: int = 0) -> Iterator[int]:
    """Let bodies follow a plan; all follow the same one, unless it has targets for each.

    Args:
        swimmers: From their start on.
        plan: Joint angles over time.
        seconds: Duration [s].
        giving: Number of joints, from the head on, that give way to the ball they hold.

    Yields:
        The number of commands so far, from 0 on; the bodies can then be looked at.
    """
    snake = swimmers.snake
    yield 0
    for number in range(1, round(seconds / snake.interval) + 1):
        targets = np.atleast_2d(plan.targets(number * snake.interval, snake))
        targets[:, :giving] = give_way(targets[:, :giving], swimmers.angles[:, :giving])
        swimmers.command(targets)
        yield number


def three_models(snake: Snake, count: int = 1) -> dict[str, Swimmers]:
    """Bodies in the fast model, in the reference, and in the reference with half its time step (``halved``)."""
    half = snake.model_copy(update={"step": 0.5 * snake.step})
    cases = {"fast": ("fast", snake), "reference": ("reference", snake), "halved": ("reference", half)}
    return {name: make_swimmers(fidelity, body, count) for name, (fidelity, body) in cases.items()}
