"""Which model swims at which fidelity."""

from collections.abc import Sequence

from sandlot.robots.ball import BALL, Ball
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import Swimmers
from sandlot.typing import Array


def make_swimmers(
    fidelity: str,
    snake: Snake,
    count: int = 1,
    current: Sequence[float] = (0.0, 0.0),
    balls: Array | None = None,
    ball: Ball = BALL,
    threads: int = 1,
) -> Swimmers:
    """Make bodies of the model of a fidelity.

    Args:
        fidelity: ``fast`` or ``reference``.
        snake: Their body.
        count: How many.
        current: Velocity of the water [m/s].
        balls: (count, 2) where the balls are [m]; none if left out.
        ball: Each of them, at ``reference``.
        threads: At ``reference``, the number of bodies that are simulated at the same time.
    """
    if fidelity == "fast":
        return FastSwimmers(snake, count, current, balls)
    return ReferenceSwimmers(snake, count, current, balls, ball=ball, threads=threads)
