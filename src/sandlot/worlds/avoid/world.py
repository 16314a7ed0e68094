"""The avoid world: a rover gets around an obstacle with four moves."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from sandlot.control.controller import Controller
from sandlot.control.navigation.avoiding import SHIPPED, Straight, load_avoider
from sandlot.errors import SandlotError
from sandlot.models.dense import load_dense
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.frames import ONCE
from sandlot.recordings.vocabulary import quantity
from sandlot.typing import Array, BoolArray
from sandlot.worlds.actions import check_action
from sandlot.worlds.avoid.moves import COLLIDED, FIXED, MOVES
from sandlot.worlds.avoid.scene import avoid_scene
from sandlot.worlds.avoid.settings import AvoidSettings
from sandlot.worlds.avoid.task import AvoidTask
from sandlot.worlds.base import World
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings

ACTION = f"a move: {', '.join(f'{k} {name}' for k, name in enumerate(MOVES))}"
ONLY: NDArray[np.int64] = np.array([0])
"""The rover of a single world."""
RUNNING: BoolArray = np.ones(1, np.bool_)


class Avoid(World):
    """A tracked rover gets around an obstacle to a goal that is near, with four moves.

    Near obstacles, the rover of Huete, *Semi-autonomous rover*, 2020, lets a net steer (6.9). This is the world in
    which such a net is trained (6.10.2). The source shows situations as pictures; their sizes and distances, and the
    length of moves, were chosen here.

    ## Actions
    ``Discrete(4)``: forward, backward, turn to the right, turn to the left. A move is 0.2 m or 30 degrees and takes
    0.8 s. At ``fast`` it is exact. At ``reference``, the tracked rover drives it: its motors take time, its tracks slip
    and scrub (`sandlot.robots.tracked_rover`), and nothing corrects the error.

    ## Observations
    ``Box`` of shape (4 + lines,): distance and bearing of the nearest point of an obstacle; distance and bearing of the
    goal; then the distances to walls along vision lines, from right to left: 5 lines are at -90, -45, 0, 45 and 90
    degrees. Lines do not see obstacles, as in the source. Distances are divided by ``reach``, 1.5 m, and are at most 1.
    Bearings are in radians, from -pi to pi, positive to the left. At ``reference``, the places of obstacle and goal and
    the lines have noise of ``noise``, 2 cm.

    ## Reward
    ``progress``: by how many strides the distance to the goal has become shorter. ``proportional``, of the source:
    1 - (d / reach)^beta, d the distance to the goal. ``binary``, of the source: 0. In the last move of an episode the
    reward is ``prize`` instead if the goal is reached, and minus ``prize`` otherwise. With the proportional reward a
    rover may earn more near the goal than at it unless the prize is large.

    ## Start and end
    The rover starts at the origin; its goal is on the x axis, 0.8 to 2.4 m away. ``reset(seed=...)`` draws the
    situation: `sandlot.places.situations`. An episode terminates when the rover's middle is within ``near`` of the goal
    (``info["reached"]``), when its body touches something (``collided``), or after ``longest`` moves (``late``), which
    the source counts as a failure, too.

    ## Many at once
    ``gymnasium.make_vec("sandlot/Avoid-v0", num_envs=1024)`` moves all rovers in one call of compiled code, with the
    same results: `sandlot.worlds.avoid.vector`. `sandlot.learning.dqn` trains agents without leaving compiled code.

    ## Controllers
    ``trained``, a net trained by deep Q-learning at ``reference``, with 5 lines (`sandlot.learning.avoider`);
    ``straight``, which turns to the goal and drives there; ``random``. A net that you trained is loaded from its
    directory.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = AvoidSettings
    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 1.25}
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {
        "reached": Quantity("1", "whether the rover reached the goal"),
        "collided": Quantity("1", "whether it touched something"),
        "moves": Quantity("1", "number of moves"),
        "path_length": Quantity("m", "length of its path"),
        "distance": Quantity("m", "distance that is left to the goal"),
    }
    settings: AvoidSettings

    def __init__(self, render_mode: str | None = None, **given: Any) -> None:
        super().__init__(render_mode, **given)
        self.metadata = {**self.metadata, "render_fps": 1.0 / self.settings.interval}
        self.task = AvoidTask(self.settings)
        self._offer(*spaces(self.settings))
        lines = ("beam",), (self.settings.lines,)
        numbers = ("time", "x", "y", "yaw", "path_length", "goal_x", "goal_y", "obstacle_distance", "obstacle_bearing")
        self.quantities = {
            **{name: quantity(name) for name in (*numbers, "goal_distance", "goal_bearing")},
            "ranges": quantity("ranges", *lines),
            "bearings": quantity("bearings", *lines, every=ONCE),
            "bumped": quantity("bumped", dtype="bool"),
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        self.task.restart(ONLY, [self.np_random])
        return self.task.observe()[0], self._info()

    def step(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Make a move."""
        taken = check_move(check_action(action, (), ACTION))
        rewards = self.task.move(taken[None], RUNNING)
        terminated, truncated = self.task.ends()
        return self.task.observe()[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), self._info()

    @property
    def pose(self) -> Array:
        """Pose of the rover: (3,) x, y [m], yaw [rad]."""
        return self.task.poses[0]

    def outcomes(self) -> dict[str, float]:
        """Results of the episode so far, as named in ``outcome_quantities``."""
        return {name: float(value[0]) for name, value in self.task.outcomes().items()}

    def frame(self) -> Frame:
        """True pose, goal, and what the rover measured."""
        rovers, reach = self.task.rovers, self.settings.reach
        (x, y, yaw), (goal_x, goal_y), seen = self.pose, rovers.situations.goals[0], rovers.seen[0]
        return {
            "time": self.task.time[0],
            "x": x,
            "y": y,
            "yaw": yaw,
            "path_length": self.task.lengths[0],
            "goal_x": goal_x,
            "goal_y": goal_y,
            "obstacle_distance": reach * seen[0],
            "obstacle_bearing": seen[1],
            "goal_distance": reach * seen[2],
            "goal_bearing": seen[3],
            "ranges": reach * seen[FIXED:],
            "bearings": self.task.bearings.copy(),
            "bumped": rovers.endings[0] == COLLIDED,
        }

    def scene(self) -> Scene:
        """The rover in blue, its goal in green, obstacles in orange, walls and vision lines."""
        return avoid_scene(self.task)

    def controllers(self) -> dict[str, Controller]:
        """Those of the class docstring."""
        known: dict[str, Controller] = {"straight": Straight()}
        if load_dense(SHIPPED)[0].sizes[0] == FIXED + self.settings.lines:
            known = {"trained": self.load_controller(SHIPPED), **known}
        return known | super().controllers()

    def load_controller(self, path: Path) -> Controller:
        """Load a trained net.

        Raises:
            ModelError: If it is not an avoider for this number of lines.
        """
        return load_avoider(path, self.settings.lines)

    def _info(self) -> dict[str, Any]:
        return {name: value[0].item() for name, value in self.task.values().items()}


def check_move(actions: Array) -> Array:
    """Refuse what is no move.

    Raises:
        SandlotError: If an action is not 0, 1, 2 or 3.
    """
    wrong = ~np.isin(actions, np.arange(len(MOVES)))
    if wrong.any():
        raise SandlotError(f"an action is {ACTION}; not {np.asarray(actions)[wrong][0]:g}")
    return actions


def spaces(settings: AvoidSettings) -> tuple[Box, Discrete]:
    """The observation and the action space of one rover."""
    lines = np.ones(settings.lines)
    high = np.concatenate([[1.0, math.pi, 1.0, math.pi], lines]).astype(np.float32)
    low = np.concatenate([[0.0, -math.pi, 0.0, -math.pi], 0.0 * lines]).astype(np.float32)
    return Box(low, high, dtype=np.float32), Discrete(len(MOVES))
