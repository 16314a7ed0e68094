"""Settings of the avoid world."""

import math
from typing import Literal, Self

from pydantic import Field, model_validator

from sandlot.robots.tracked_rover import TrackedRover
from sandlot.worlds.settings import WorldSettings


class AvoidSettings(WorldSettings):
    """Settings of the avoid world.

    Attributes:
        fidelity: ``fast``, moves and readings are exact; ``reference``, the tracked rover slips, and distances are
            noisy.
        situation: What is around the rover: the source's difficulties ``easy``, ``medium`` and ``hard``, its scenarios
            ``obstacle`` and ``wall``, or ``mixed``, one of these five at each reset.
        lines: Number of vision lines, 45 degrees apart around straight ahead, or evenly all around if there are more
            than 8.
        reach: Longest distance that is observed, as 1 [m].
        stride: Length of a move forward or backward [m].
        turn: Angle of a move to the right or left [rad].
        interval: How long a move takes [s].
        near: So near to the goal it is reached [m].
        longest: Number of moves after which an episode ends.
        reward: ``progress`` towards the goal; or those of the source: ``proportional``, 1 less a power of the distance
            to the goal, and ``binary``, nothing until the end.
        exponent: Of the distance in the proportional reward, beta of the source.
        prize: Reward of the goal; a collision, and too many moves, cost as much.
        robot: The tracked rover: at ``reference`` its slip and its motors, and everywhere its radius.
        noise: Standard deviation of measured distances [m].
    """

    fidelity: Literal["fast", "reference"] = "fast"
    situation: Literal["mixed", "easy", "medium", "hard", "obstacle", "wall"] = "mixed"
    lines: int = Field(5, ge=0, le=64)
    reach: float = Field(1.5, gt=0.0, le=100.0)
    stride: float = Field(0.2, gt=0.0, le=1.0)
    turn: float = Field(math.pi / 6.0, gt=0.0, le=math.pi)
    interval: float = Field(0.8, gt=0.0, le=10.0)
    near: float = Field(0.2, gt=0.0)
    longest: int = Field(60, ge=1, le=1_000_000)
    reward: Literal["proportional", "binary", "progress"] = "progress"
    exponent: float = Field(0.5, gt=0.0, lt=1.0)
    prize: float = Field(10.0, gt=0.0)
    robot: TrackedRover = TrackedRover()
    noise: float = Field(0.02, ge=0.0, le=1.0, json_schema_extra={"fidelity": "reference"})

    @model_validator(mode="after")
    def _can_move(self) -> Self:
        top, turn = self.robot.top_speed, self.robot.top_turn
        if self.stride / self.interval > top + 1e-9 or self.turn / self.interval > turn + 1e-9:
            raise ValueError(
                f"interval={self.interval:g} is too short for a stride of {self.stride:g} m and a turn of "
                f"{self.turn:g} rad; the rover drives at most {top:g} m/s and turns at most {turn:g} rad/s"
            )
        return self
