"""Settings of the water world."""

from typing import Literal

from pydantic import Field

from sandlot.robots.snake import DRAG, Snake
from sandlot.worlds.settings import WorldSettings

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
        frame_skip: Steps of 0.02 s with one action. If not given, 1, or 4 at the normalised interface.
        phase_period: At the normalised interface, period of the phase that is observed [s].
        tracking_penalty: Subtracted from the reward of each step for each radian by which joints miss their commands,
            as the root of the mean square over the joints [m/rad].
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
    frame_skip: int | None = Field(None, ge=1, le=1000)
    phase_period: float = Field(1.1, gt=0.0)
    tracking_penalty: float = Field(0.0, ge=0.0)

    @property
    def skip(self) -> int:
        """Steps with one action."""
        return self.frame_skip or (4 if self.interface == "normalised" else 1)
