"""The water world: a swimming snake fetches a ball."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from pydantic import Field

from sandlot.errors import SandlotError
from sandlot.recordings import Frame, Quantity
from sandlot.robots.snake import DRAG, Snake
from sandlot.robots.swimmers import FastSwimmers, ReferenceSwimmers, Swimmers, check_stable
from sandlot.worlds.base import Controller, World, WorldSettings

Array = NDArray[np.float64]
Point = tuple[float, float]
FIXED = 8
"""Entries of an observation before the joints: time, centre of mass, angle of the head, target, destination."""
REACHED = 2.0
"""From the head link's centre to the target: it is reached [m] (section 7.3)."""


class WaterSettings(WorldSettings):
    """What can be set in the water world.

    Attributes:
        fidelity: ``fast``, without contact: the target is a mark to swim to; ``reference``: MuJoCo, it is a ball.
        snake: The body.
        target: Where the ball is [m]; drawn anew at each reset if left out.
        distance: From the destination, of a target that is drawn: at most so far [m].
        destination: Where the ball should go [m].
        region: Radius around the destination that counts [m].
        current: Velocity of the water [m/s].
        ball_radius: [m]
        ball_mass: [kg]
        ball_drag: Drag coefficient of the ball [N*s/m^3], for the area of its cross-section. The source has no drag on
            the ball; a ball in water has.
    """

    fidelity: Literal["fast", "reference"] = "fast"
    snake: Snake = Snake()
    target: Point | None = None
    distance: float = Field(60.0, gt=0.0)
    destination: Point = (0.0, 0.0)
    region: float = Field(8.0, gt=0.0)
    current: Point = (0.0, 0.0)
    ball_radius: float = Field(1.0, gt=0.0)
    ball_mass: float = Field(0.42, gt=0.0)
    ball_drag: float = Field(DRAG, ge=0.0)


class Water(World):
    """A snake swims to a ball, grasps it with its body, and brings it home.

    The snake is a chain of boxes with a motor in every hinge, in a plane, neither rising nor falling. It swims by
    sending waves down its body: water resists a link that moves sideways far more than one that moves along. The
    model is that of Draschwandtner, *Evolving Aquatic Robots for Payload Transportation*, 2015.

    ## Actions
    ``Box`` of shape (joints,): where each joint, from the head on, should be at the next command [rad]. Positive bends
    the head's side to the left. One step is one command, 0.02 s.

    ## Observations
    ``Box`` of shape (8 + 2 joints,): time [s]; x, y of the centre of mass [m]; angle of the head link [rad]; x, y of the
    target [m]; x, y of the destination [m]; joint angles [rad]; joint rates [rad/s]. As in the source, the robot
    knows where everything is.

    ## Reward
    By how much the step brought the head closer to the target, and, with a ball, that ball closer to its destination
    [m]. The sum of all rewards depends only on the first and the last frame.

    ## Start and end
    The snake starts straight and at rest, with the front of its head at the origin, heading along x;
    ``reset(seed=...)`` draws a target unless the settings give one. At ``fast`` an episode terminates when the head is
    within 2 m of the target; at ``reference`` when the ball lies within its region and the snake has let go of it. It
    is truncated if the simulation explodes (``info["exploded"]``).

    ## Controllers
    ``fetch`` swims to the ball, grasps it, tries again if it missed, carries it home and lets go; ``swim`` swims
    straight on; ``random``.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = WaterSettings
    reward_units = "m"
    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 - as Gymnasium declares it
    settings: WaterSettings
    swimmers: Swimmers

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        super().__init__(render_mode, **settings)
        snake = self.settings.snake
        if self.settings.fidelity == "reference":
            check_stable(snake)
        joints, links = snake.joints, snake.links
        self.observation_space = Box(-np.inf, np.inf, (FIXED + 2 * joints,), np.float64)
        self.action_space = Box(-snake.max_angle, snake.max_angle, (joints,), np.float64)
        self.quantities = {
            "time": Quantity("s", "time since the start"),
            "centre": Quantity("m", "centre of mass", ("axis",), (2,)),
            "velocity": Quantity("m/s", "velocity of the centre of mass", ("axis",), (2,)),
            "head": Quantity("rad", "angle of the head link"),
            "angles": Quantity("rad", "joint angles, from the head on", ("joint",), (joints,)),
            "rates": Quantity("rad/s", "joint rates", ("joint",), (joints,)),
            "links": Quantity("m", "centres of the links", ("link", "axis"), (links, 2)),
            "target": Quantity("m", "the ball, or the mark to swim to", ("axis",), (2,)),
            "drive": Quantity("1", "mean share of the wanted acceleration that the motors could give"),
        }

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start anew; ``options={"target": (x, y)}`` replaces the target of the settings."""
        super().reset(seed=seed)
        given = self.settings
        target = (options or {}).get("target", given.target)
        if target is None:
            radius, angle = given.distance * np.sqrt(self.np_random.uniform()), self.np_random.uniform(0.0, 2.0 * np.pi)
            target = np.asarray(given.destination) + radius * np.array([np.cos(angle), np.sin(angle)])
        self._mark = np.asarray(target, np.float64)
        if given.fidelity == "fast":
            self.swimmers = FastSwimmers(given.snake, 1, given.current)
        else:
            ball = {"ball_radius": given.ball_radius, "ball_mass": given.ball_mass, "ball_drag": given.ball_drag}
            self.swimmers = ReferenceSwimmers(given.snake, 1, given.current, self._mark[None], **ball)
        self._potential = self._distances()
        return self._observe(), self._info()

    def step(self, action: NDArray[Any]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Go on to the next command."""
        action = np.asarray(action, np.float64)
        if action.shape != self.action_space.shape or not np.isfinite(action).all():
            raise SandlotError(f"an action is {self.settings.snake.joints} joint angles [rad]")
        self.swimmers.command(action[None])
        before, self._potential = self._potential, self._distances()
        info = self._info()
        done = self.delivered if self.settings.fidelity == "reference" else self.reached
        return self._observe(), before - self._potential, done and not info["exploded"], info["exploded"], info

    @property
    def target(self) -> Array:
        """Where the ball, or the mark, is: (2,) [m]."""
        return self.swimmers.balls[0] if isinstance(self.swimmers, ReferenceSwimmers) else self._mark

    @property
    def reached(self) -> bool:
        """Whether the head is at the target."""
        return bool(np.linalg.norm(self.swimmers.centres[0, 0] - self.target) <= REACHED)

    @property
    def in_region(self) -> bool:
        """Whether the ball is where it should go."""
        return bool(np.linalg.norm(self.target - self.settings.destination) <= self.settings.region)

    @property
    def delivered(self) -> bool:
        """Whether the ball is where it should go, and the snake, having touched it, is clear of it."""
        clear = self.settings.ball_radius + 2.0 * self.settings.snake.length
        gap = np.linalg.norm(self.swimmers.centres[0] - self.target, axis=1).min()
        moved = np.linalg.norm(self.target - self._mark) > self.settings.ball_radius
        return self.in_region and bool(gap > clear) and bool(moved)

    def frame(self) -> Frame:
        """The body, and the target."""
        swimmers = self.swimmers
        return {
            "time": np.float64(swimmers.time),
            "centre": swimmers.centre[0],
            "velocity": swimmers.velocity[0],
            "head": swimmers.head[0],
            "angles": swimmers.angles[0],
            "rates": swimmers.rates[0],
            "links": swimmers.centres[0],
            "target": self.target,
            "drive": swimmers.drive[0],
        }

    def controllers(self) -> dict[str, Callable[[np.random.SeedSequence], Controller]]:
        """Those of the class docstring."""
        return super().controllers()

    def _observe(self) -> Array:
        swimmers, goal = self.swimmers, self.settings.destination
        fixed = [[swimmers.time], swimmers.centre[0], [swimmers.head[0]], self.target, goal]
        return np.concatenate([*fixed, swimmers.angles[0], swimmers.rates[0]])

    def _distances(self) -> float:
        to_target = float(np.linalg.norm(self.swimmers.centres[0, 0] - self.target))
        if self.settings.fidelity == "fast":
            return to_target
        return to_target + float(np.linalg.norm(self.target - self.settings.destination))

    def _info(self) -> dict[str, Any]:
        return {"time": self.swimmers.time, "exploded": bool(self.swimmers.exploded[0])}
