"""Settings of the water world."""

from typing import Literal

from pydantic import Field

from sandlot.robots.snake import DRAG, Snake
from sandlot.worlds.base import WorldSettings

Point = tuple[float, float]


class WaterSettings(WorldSettings):
    """Settings of the water world.

    Attributes:
        fidelity: ``fast``, a compiled model without contact: the target is a point to swim to; ``reference``: MuJoCo,
            the target is a ball.
        snake: The body.
        target: Position of the ball [m]; random at each reset if not given.
        distance: Maximum distance of a random target from the destination [m].
        destination: Where to bring the ball [m].
        region: The ball is delivered within this radius around the destination [m].
        current: Velocity of the water [m/s].
        ball_radius: Radius of the ball [m].
        ball_mass: Mass of the ball [kg]; at ``reference``.
        ball_drag: Drag coefficient of the ball [N*s/m^3], multiplied by its cross-section; at ``reference``. In the
            source there is no drag on the ball.
    """

    fidelity: Literal["fast", "reference"] = "fast"
    snake: Snake = Snake()
    target: Point | None = None
    distance: float = Field(60.0, gt=0.0)
    destination: Point = (0.0, 0.0)
    region: float = Field(8.0, gt=0.0)
    current: Point = (0.0, 0.0)
    ball_radius: float = Field(1.0, ge=1e-3, le=1e3)
    ball_mass: float = Field(0.42, ge=1e-6, le=1e6)
    ball_drag: float = Field(DRAG, ge=0.0)
