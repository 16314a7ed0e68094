"""The water world: a swimming snake fetches a ball."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from pydantic import Field

from sandlot.control.snake.fetching import CAREFUL, Fetcher
from sandlot.control.snake.files import GaitController, load_controller
from sandlot.control.snake.gaits import Gait
from sandlot.control.snake.steering import OBSERVED, Seeker
from sandlot.recordings import Frame, Quantity
from sandlot.robots.snake import DRAG, Snake
from sandlot.robots.swimmers import Swimmers
from sandlot.typing import Array
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import Controller, World, WorldSettings
from sandlot.worlds.water.picture import draw
from sandlot.worlds.water.task import WaterTask

Point = tuple[float, float]
ACTION = "joint angles [rad]"
FAR = 1e6
"""No observation is larger [m, s, rad]."""
SWIM = Gait(amplitude=0.7, frequency=0.9, phase=0.8)
"""How the source's robot swims to its targets (section 7.11)."""


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
        ball_radius: Of the ball [m].
        ball_mass: Of the ball [kg]; at ``reference``.
        ball_drag: Drag coefficient of the ball [N*s/m^3], for the area of its cross-section; at ``reference``. The
            source has no drag on the ball; a ball in water has.
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
    ``Box`` of shape (8 + 2 joints,): time [s]; x, y of the centre of mass [m]; angle of the head link [rad]; x, y of
    the target [m]; x, y of the destination [m]; joint angles [rad]; joint rates [rad/s]. As in the source, the robot
    knows where everything is.

    ## Reward
    By how much the step brought the head closer to the target, and, with a ball, that ball closer to its destination
    [m]. The sum of all rewards depends only on the first and the last frame. A step that explodes has no reward.

    ## Start and end
    The snake starts straight and at rest, with the front of its head at the origin, heading along x;
    ``reset(seed=...)`` draws a target, clear of the body, unless the settings give one. At ``fast`` an episode
    terminates when the head is within 2 m of the target; at ``reference`` when the ball lies within its region and the
    snake, which must have touched it, is clear of it. It is truncated if the simulation explodes
    (``info["exploded"]``): if body or ball are not a number or faster than any motor could make them, or, at
    ``reference``, gain more energy from one command to the next than the motors could give.

    ## Motors
    What the source does not say of its servos was chosen here. A servo halves an error of its joint's position with
    each command. If some motor would need more than its torque limit, all accelerations shrink by the same factor, the
    *drive*; and if the motors cannot even keep up what the joints are doing, these slow down by 30% with each command
    until they can. The limit is a soft one: it bounds what changes a joint's rate, never what keeps it up against water
    and inertia, so that torques may exceed it where that alone does. At ``reference`` errors are corrected at 25/s
    besides. The studies count a gait only if its mean drive is at least 95%, also a choice made here: one that
    overloads its motors is not the gait that was asked for.

    ## Many at once
    ``gymnasium.make_vec("sandlot/Water-v0", num_envs=120)`` steps all bodies in one call of the compiled kernel, with
    the same results: `sandlot.worlds.water.vector`.

    ## Controllers
    ``fetch`` swims to the ball, grasps it, tries again if it missed, carries it home and lets go (bodies with too few
    joints for that do not have it); ``seek`` swims to the target; ``swim`` swims straight on; ``random``. A gait or a
    net in a file can be loaded.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = WaterSettings
    reward_units = "m"
    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {
        "distance": Quantity("m", "from where the centre of mass started, when the target was reached or at the end"),
        "speed": Quantity("m/s", "that distance, by the time it took"),
        "turn": Quantity("rad", "by how much the body, on the mean of its links, had turned to the left by then"),
        "drive": Quantity("1", "mean share of the wanted acceleration that the motors could give, until then"),
        "reached": Quantity("1", "whether the head came within 2 m of the target"),
        "reach_time": Quantity("s", "when it did; none if it did not"),
        "delivered": Quantity("1", "whether the ball was brought home in the end; none without contact"),
    }
    settings: WaterSettings

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        super().__init__(render_mode, **settings)
        self.task = WaterTask(self.settings)
        self.observation_space, self.action_space = spaces(self.settings.snake)
        joints, links = self.settings.snake.joints, self.settings.snake.links
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
        target = (options or {}).get("target", self.settings.target)
        mark = self.task.draw(self.np_random) if target is None else self.task.check(target)
        self.task.restart(np.array([0]), mark[None])
        return self.task.observe()[0], self._info()

    def step(self, action: NDArray[Any]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Go on to the next command."""
        rewards = self.task.command(check_action(action, (self.settings.snake.joints,), ACTION)[None])
        exploded = self.exploded
        return self.task.observe()[0], float(rewards[0]), self.done and not exploded, exploded, self._info()

    @property
    def swimmers(self) -> Swimmers:
        """The body, as a batch of one."""
        return self.task.swimmers

    @property
    def target(self) -> Array:
        """Where the ball, or the mark, is: (2,) [m]."""
        return self.task.targets[0]

    @property
    def reached(self) -> bool:
        """Whether the head is at the target."""
        return bool(self.task.reached[0])

    @property
    def in_region(self) -> bool:
        """Whether the ball is where it should go."""
        return bool(self.task.in_region[0])

    @property
    def delivered(self) -> bool:
        """Whether the ball is where it should go, and the snake, having touched it, is clear of it."""
        return bool(self.task.delivered[0])

    @property
    def done(self) -> bool:
        """Whether the task is: at ``fast`` the target is reached, at ``reference`` the ball is delivered."""
        return bool(self.task.done[0])

    @property
    def exploded(self) -> bool:
        """Whether the simulation is no longer to be trusted."""
        return bool(self.task.exploded[0])

    def outcomes(self) -> dict[str, float]:
        """What has come of the episode so far, as ``outcome_quantities`` names it."""
        task = self.task
        arrived = bool(task.arrived[0])
        time, x, y, direction, drive = task.arrival[0] if arrived else task.progress()[0]
        distance = float(np.hypot(x + 0.5 * self.settings.snake.arclength, y))
        return {
            "distance": distance,
            "speed": float(distance / time) if time > 0.0 else 0.0,
            "turn": float(direction),
            "drive": float(drive),
            "reached": float(arrived),
            "reach_time": float(time) if arrived else np.nan,
            "delivered": float(self.delivered) if self.settings.fidelity == "reference" else np.nan,
        }

    def frame(self) -> Frame:
        """The body, and the target."""
        swimmers = self.task.swimmers
        return {
            "time": swimmers.time[0],
            "centre": self.task.centre[0],
            "velocity": swimmers.velocity[0],
            "head": swimmers.head[0],
            "angles": swimmers.angles[0],
            "rates": swimmers.rates[0],
            "links": self.task.centres[0],
            "target": self.target,
            "drive": swimmers.drive[0],
        }

    def render(self) -> NDArray[np.uint8]:
        """The body from above, its head red, the ball orange and its destination green: (480, 480, 3)."""
        return picture(self.task, 0)

    def controllers(self) -> dict[str, Callable[[np.random.SeedSequence], Controller]]:
        """Those of the class docstring."""
        snake = self.settings.snake
        made: dict[str, Callable[[np.random.SeedSequence], Controller]] = {}
        if snake.joints >= CAREFUL.grasping + 4:
            made["fetch"] = lambda _: _anew(lambda: Fetcher(snake, CAREFUL))
        made["seek"] = lambda _: _anew(lambda: Seeker(snake, SWIM))
        made["swim"] = lambda _: GaitController(SWIM, snake)
        return made | super().controllers()

    def load_controller(self, path: Path) -> Controller:
        """Load a gait (``.toml``) or a net (``.json``).

        Raises:
            SandlotError: If it cannot be read, or is for another body.
        """
        return load_controller(path, self.settings.snake)

    def _info(self) -> dict[str, Any]:
        return {"time": float(self.task.swimmers.time[0]), "exploded": self.exploded}


def _anew(make: Callable[[], Controller]) -> Controller:
    """A controller that remembers, made anew whenever the time is 0."""
    controller = make()

    def act(observation: Array) -> Array:
        nonlocal controller
        if observation[0] == 0.0:
            controller = make()
        return controller(observation)

    return act


def spaces(snake: Snake) -> tuple[Box, Box]:
    """What a body observes, and what it can be told."""
    joints = snake.joints
    high = np.concatenate([np.full(OBSERVED, FAR), np.full(joints, np.pi), np.full(joints, 3.0 * snake.max_rate)])
    return Box(-high, high, dtype=np.float64), Box(-snake.max_angle, snake.max_angle, (joints,), np.float64)


def picture(task: WaterTask, body: int) -> NDArray[np.uint8]:
    """One of the bodies from above."""
    given = task.settings
    seen = (task.centre[body], task.centres[body], task.directions[body], task.targets[body])
    return draw(given.snake, *seen, given.ball_radius, np.asarray(given.destination), given.region)
