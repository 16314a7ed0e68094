"""The water world: a swimming snake fetches a ball."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.control.controller import Controller, Separate
from sandlot.control.snake.fetching import CAREFUL, Fetcher
from sandlot.control.snake.files import load_controller
from sandlot.control.snake.gaits import Gait, GaitController
from sandlot.control.snake.steering import Seeker, StateSteering
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.vocabulary import quantity
from sandlot.robots.swimmers import Swimmers
from sandlot.typing import Array
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import World
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.water.scene import water_scene
from sandlot.worlds.water.settings import WaterSettings
from sandlot.worlds.water.task import WaterTask, bounds, scale

ACTION = "joint angles [rad]"
SWIM = Gait(amplitude=0.7, frequency=0.9, phase=0.8)
"""The gait with which the source's robot swims to its targets (section 7.11)."""
PERIOD = 60
"""Commands over which ``seek`` averages its direction: about one period of the gait."""


class Water(World):
    """A snake swims to a ball, grasps it with its body, and brings it home.

    The snake is a chain of boxes with a motor in every joint. It moves in a horizontal plane. It swims by sending
    waves down its body: the drag on a link that moves sideways is far larger than on one that moves lengthwise. The
    model is that of Draschwandtner, *Evolving Aquatic Robots for Payload Transportation*, 2015.

    ## Actions
    ``Box`` of shape (joints,): angle that the motor of each joint turns towards, from the head on [rad]. A positive
    angle bends the head side to the left. One step is one command, 0.02 s, or ``frame_skip`` of them with one action.

    ## Observations
    ``Box`` of shape (8 + 2 joints,): time [s]; x, y of the centre of mass [m]; yaw of the head link [rad]; x, y of
    the target [m]; x, y of the destination [m]; joint angles [rad]; joint rates [rad/s]. As in the source, the robot
    knows all positions exactly.

    ## For learners
    ``interface="normalised"``, which ``gymnasium.make`` gives: actions are float32 in [-1, 1], times the largest angle
    of a joint, and one action is kept for four commands unless ``frame_skip`` says otherwise. Observations are float32,
    in the frame of the head link: cosine and sine of a phase of period ``phase_period``; velocity of the centre of
    mass, over 0.1 body lengths a second; x, y of the target and x, y of the destination, over the length of the body;
    joint angles over their largest; joint rates over 10 rad/s. ``info["tracking_error"]`` is by how much joints missed
    the last command, as the root of the mean square [rad]; ``tracking_penalty`` times this is subtracted from the
    reward of each command.

    ## Reward
    By how much the distance from the head to the target decreased in the step, and, with a ball, the distance from the
    ball to its destination [m]. The sum of all rewards depends only on the first and the last frame. A step that
    explodes has no reward.

    ## Start and end
    The snake starts straight and at rest, with the front of its head at the origin and yaw 0. ``reset(seed=...)`` draws
    a target that does not overlap the body, unless the settings give one. At ``fast`` an episode terminates when the
    head is within 2 m of the target; at ``reference`` when the ball lies within its region, the snake has touched it,
    and is clear of it. An episode is truncated if the simulation explodes (``info["exploded"]``): if a state is NaN, if
    body or ball are faster than any motor could make them, or, at ``reference``, if they gain more energy between two
    commands than the motors can supply.

    ## Motors
    As in the source's engine, a motor is given a rate and a maximum torque. With each command the rate becomes the
    error of the joint's angle times the body's gain, and stays until the next command; a motor that would need more
    than its maximum torque to keep that rate gives the maximum torque instead. The *drive* is the mean share of motors
    below their maximum torque. Gain and drag are fitted to numbers that the source reports (`water.calibration`).

    ## Many at once
    ``gymnasium.make_vec("sandlot/Water-v0", num_envs=120)`` steps all bodies in one call of the compiled kernel, with
    the same results: `sandlot.worlds.water.vector`.

    ## Controllers
    ``fetch`` swims to the ball, grasps it, tries again if it missed, carries it home and lets go (only for bodies with
    enough joints); ``seek`` swims to the target; ``swim`` swims straight on; ``random``. A gait or a neural network can
    be loaded from a file.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = WaterSettings
    reward_units = "m"
    action_units = "rad"
    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 50}
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {
        "distance": Quantity("m", "how far the centre of mass had moved when the target was reached or at the end"),
        "speed": Quantity("m/s", "that distance divided by the time"),
        "turn": Quantity("rad", "rotation of the body by then, averaged over its links, positive to the left"),
        "drive": Quantity("1", "mean share of motors below their torque limit, until then"),
        "reached": Quantity("1", "whether the head came within 2 m of the target"),
        "reach_time": Quantity("s", "when the target was reached; NaN if never"),
        "delivered": Quantity("1", "whether the ball was delivered in the end; NaN at fast"),
    }
    settings: WaterSettings

    def __init__(self, render_mode: str | None = None, **given: Any) -> None:
        super().__init__(render_mode, **given)
        self.task = WaterTask(self.settings)
        self._offer(*spaces(self.settings), scale(self.settings))
        self.metadata = {**self.metadata, "render_fps": 1.0 / (self.settings.snake.interval * self.settings.skip)}
        joints, links = self.settings.snake.joints, self.settings.snake.links
        numbers = ("time", "x", "y", "yaw", "velocity_x", "velocity_y", "target_x", "target_y", "drive")
        self.quantities = {
            **{name: quantity(name) for name in numbers},
            **{name: quantity(name, ("joint",), (joints,)) for name in ("joint_angles", "joint_rates")},
            **{name: quantity(name, ("link",), (links,)) for name in ("link_x", "link_y")},
        }

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode; ``options={"target": (x, y)}`` replaces the target of the settings."""
        target = (options or {}).get("target", self.settings.target)
        given = None if target is None else self.task.check(target)  # before anything is changed
        super().reset(seed=seed)
        mark = self.task.draw(self.np_random) if given is None else given
        self.task.restart(np.array([0]), mark[None])
        return self.task.observe()[0], self._info()

    def step(self, action: NDArray[Any]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Command the joints and simulate until the next command."""
        rewards = self.task.command(check_action(action, (self.settings.snake.joints,), ACTION)[None])
        terminated, truncated = self.task.ends()
        return self.task.observe()[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), self._info()

    @property
    def swimmers(self) -> Swimmers:
        """The body, as a batch of one."""
        return self.task.swimmers

    @property
    def target(self) -> Array:
        """Position of the ball, or of the point to swim to: (2,) [m]."""
        return self.task.targets[0].copy()

    @property
    def reached(self) -> bool:
        """Whether the head is within 2 m of the target."""
        return bool(self.task.reached[0])

    @property
    def in_region(self) -> bool:
        """Whether the ball is within its region."""
        return bool(self.task.in_region[0])

    @property
    def delivered(self) -> bool:
        """Whether the ball is within its region, and the snake has touched it and is clear of it."""
        return bool(self.task.delivered[0])

    @property
    def done(self) -> bool:
        """Whether the task is done: at ``fast`` the target is reached, at ``reference`` the ball is delivered."""
        return bool(self.task.done[0])

    @property
    def exploded(self) -> bool:
        """Whether the simulation has become numerically unstable."""
        return bool(self.task.exploded[0])

    def outcomes(self) -> dict[str, float]:
        """Results of the episode so far, as named in ``outcome_quantities``."""
        return {name: float(value[0]) for name, value in self.task.outcomes().items()}

    def frame(self) -> Frame:
        """The body, and the target."""
        swimmers = self.task.swimmers
        (x, y), (vx, vy), (tx, ty) = self.task.centre[0], swimmers.velocity[0], self.target
        return {
            "time": swimmers.time[0],
            "x": x,
            "y": y,
            "yaw": swimmers.head[0],
            "velocity_x": vx,
            "velocity_y": vy,
            "target_x": tx,
            "target_y": ty,
            "drive": swimmers.drive[0],
            "joint_angles": swimmers.angles[0].copy(),
            "joint_rates": swimmers.rates[0].copy(),
            "link_x": self.task.centres[0, :, 0].copy(),
            "link_y": self.task.centres[0, :, 1].copy(),
        }

    def scene(self) -> Scene:
        """The snake, its head in red, the ball in orange and its region in green."""
        return water_scene(self.task)

    def controllers(self) -> dict[str, Controller]:
        """Those of the class docstring."""
        snake = self.settings.snake
        made: dict[str, Controller] = {}
        if snake.joints >= CAREFUL.grasping + 4:
            made["fetch"] = Separate(lambda _: Fetcher(snake, CAREFUL))
        made["seek"] = Separate(lambda _: Seeker(snake, SWIM, StateSteering(veer=0.2, window=PERIOD)))
        made["swim"] = GaitController(SWIM, snake)
        return made | super().controllers()

    def load_controller(self, path: Path) -> Controller:
        """Load a gait (``.toml``) or a neural network (``.json``), or either from the directory of a model.

        Raises:
            SandlotError: If it cannot be read, or is for another body.
        """
        return load_controller(path, self.settings.snake)

    def _info(self) -> dict[str, Any]:
        return {name: value[0].item() for name, value in self.task.values().items()}


def spaces(settings: WaterSettings) -> tuple[Box, Box]:
    """The observation and the action space of one body."""
    snake, high = settings.snake, bounds(settings)
    return Box(-high, high, dtype=np.float64), Box(-snake.max_angle, snake.max_angle, (snake.joints,), np.float64)
