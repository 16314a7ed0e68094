"""The obstacles world: a robot changes its shape to climb."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.control.climbing.aligning import Aligned
from sandlot.control.climbing.neural import ROWS, load_neural
from sandlot.control.climbing.policy import SHIPPED, load_policy
from sandlot.control.climbing.reactive import Reactive
from sandlot.control.climbing.reinforced import CELLS, Reinforced
from sandlot.control.controller import Controller, as_controller
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.vocabulary import quantity
from sandlot.robots.climber import AXLE_LIMIT, NOMINAL_SPEED, Climber
from sandlot.robots.climbers import MAX_RATE, MAX_SPEED, Climbers
from sandlot.typing import Array
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import World
from sandlot.worlds.obstacles.scene import obstacles_scene
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.task import ObstaclesTask
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings

ACTION = "axle angles [rad] and belt speeds [m/s]"
ONLY = np.array([0])
"""The robot of a single world."""
FAR = 1e6
"""Bound of the elevation [m]."""
RAISED = 0.5
"""Angle of the front axle with which ``drive`` meets obstacles [rad]."""


class Obstacles(World):
    """A robot with four tracks on two axles changes its shape to climb boxes, stairs and rubble.

    The robot is that of Vincent, *Control algorithms for a Shape-shifting Tracked Robotic Vehicle climbing obstacles*,
    2008. Obstacles are straight and wider than the robot. It has to get past the obstacle without falling on its back.

    ## Actions
    ``Box`` of shape (4,): the angles that the front and the rear axle turn towards [rad], and the speeds of the left
    and the right belts [m/s]. An angle of 0 stretches the tracks away from the body; positive turns the front tips up
    and the rear tips down. At ``fast`` both sides get the mean of both speeds. One step is 0.05 s.

    ## Observations
    ``Box`` of shape (10 + rows * cells,): the ten states of the source's section 5.2, which are roll and pitch [rad],
    positive with the nose down; velocity forward, left and up [m/s] and rates [rad/s] in the robot's horizontal frame;
    angles of the front and the rear axle [rad]. Then the elevation map ahead: the highest point of each cell of 1 cm,
    above the middle of the body [m], from the middle of the body on; row by row, from the right one to the left one.
    With ``perception="exact"`` the map is the true one. With ``"laser"`` it is fused from panned scans with noise and
    missing returns (`sandlot.sensing.panned_laser`, `sandlot.mapping.elevation_map`).

    ## Reward
    How far the middle of the body advanced along x in the step, up to the finish [m]; 1 m less in the step in which the
    robot overturns. A step that explodes has no reward.

    ## Start and end
    The robot starts at rest, stretched out on level ground, near x = 0. ``reset(seed=...)`` draws where, and with the
    kinds ``mixed`` and ``rubble`` the course. An episode terminates when the middle of the body is 0.6 m past the
    obstacle (``info["passed"]``), when the robot is tilted by more than 120 degrees (``overturned``), or when it has
    not come 2 cm further for ``patience`` seconds (``stuck``). It is truncated after ``seconds``, or if the simulation
    explodes (``exploded``).

    ## Motors
    An axle is a servo: it wants a rate in proportion to the error of its angle, up to its largest, with a torque up to
    its largest. A belt has an inertia and a motor with a torque-speed line, so that its thrust is limited by the motor
    as well as by friction.

    ## Many at once
    ``gymnasium.make_vec("sandlot/Obstacles-v0", num_envs=1024)`` steps all robots in one call of the compiled kernel,
    with the same results: `sandlot.worlds.obstacles.vector`.

    ## Controllers
    ``trained``, the default, is a net trained by reinforcement at ``fast``, with other robots and noise
    (`sandlot.learning.climber`); ``reactive`` points the front tracks at the highest ground ahead, and the rear tracks
    follow (`sandlot.control.climbing.reactive`); ``reinforced`` also learns online what to do when that is stuck
    (`sandlot.control.climbing.reinforced`); ``neural``, with ``rows=5``, is a net that the reactive controller taught
    (`sandlot.learning.imitation`); ``drive`` drives on with raised front tracks; ``random``. A net that you trained
    is loaded from its directory. With 5 or 19 ``rows``, ``aligned`` is ``trained`` with steering that turns the robot
    square to the edges of the obstacle (`sandlot.control.climbing.aligning`).

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = ObstaclesSettings
    reward_units = "m"
    action_units = "rad, rad, m/s, m/s"
    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 20}
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {
        "passed": Quantity("1", "whether the robot has the obstacle behind it"),
        "overturned": Quantity("1", "whether it lies on its back"),
        "stuck": Quantity("1", "whether it came no further"),
        "pass_time": Quantity("s", "when it had the obstacle behind it; NaN if never"),
        "advance": Quantity("m", "furthest x of the middle of the body, up to the finish"),
        "steepest": Quantity("rad", "largest tilt of the body"),
    }
    settings: ObstaclesSettings

    def __init__(self, render_mode: str | None = None, **given: Any) -> None:
        super().__init__(render_mode, **given)
        self.task = ObstaclesTask(self.settings)
        cells = self.settings.cells
        self._offer(*spaces(self.task.climbers.climber, cells * self.settings.rows))
        numbers = ("time", "x", "y", "z", "roll", "pitch", "yaw", "velocity_forward", "velocity_left", "velocity_up")
        rates, pairs = ("roll_rate", "pitch_rate", "yaw_rate"), ("axle_angles", "axle_rates", "axle_torques")
        self.quantities = {
            **{name: quantity(name) for name in (*numbers, *rates)},
            **{name: quantity(name, ("axle",), (2,)) for name in pairs},
            **{name: quantity(name, ("belt",), (4,)) for name in ("belt_speeds", "belt_forces")},
            "elevation": quantity("elevation", ("cell",), (cells,)),
        }

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        self.task.restart(ONLY, [self.task.draw(self.np_random)])
        self.task.look(ONLY, [self.np_random])
        return self.task.observe()[0], self._info()

    def step(self, action: NDArray[Any]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Command axles and belts and simulate until the next command."""
        rewards = self.task.command(check_action(action, (4,), ACTION)[None])
        self.task.look(ONLY, [self.np_random])
        terminated, truncated = self.task.ends()
        return self.task.observe()[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), self._info()

    @property
    def climbers(self) -> Climbers:
        """The robot, as a batch of one."""
        return self.task.climbers

    @property
    def exploded(self) -> bool:
        """Whether the simulation has become numerically unstable."""
        return bool(self.task.exploded[0])

    def outcomes(self) -> dict[str, float]:
        """Results of the episode so far, as named in ``outcome_quantities``."""
        return {name: float(value[0]) for name, value in self.task.outcomes().items()}

    def frame(self) -> Frame:
        """The robot, its motors, and the elevation ahead."""
        task, climbers = self.task, self.task.climbers
        (x, y, z), (roll, pitch, yaw) = task.position[0], task.attitude[0]
        (forward, left, up), (roll_rate, pitch_rate, yaw_rate) = climbers.velocity[0], climbers.rates[0]
        return {
            "time": climbers.time[0],
            "x": x,
            "y": y,
            "z": z,
            "roll": roll,
            "pitch": pitch,
            "yaw": yaw,
            "velocity_forward": forward,
            "velocity_left": left,
            "velocity_up": up,
            "roll_rate": roll_rate,
            "pitch_rate": pitch_rate,
            "yaw_rate": yaw_rate,
            "axle_angles": climbers.axles[0].copy(),
            "axle_rates": climbers.axle_rates[0].copy(),
            "axle_torques": climbers.axle_torques[0].copy(),
            "belt_speeds": climbers.belts[0].copy(),
            "belt_forces": climbers.thrusts[0].copy(),
            "elevation": task.ahead[0, self.settings.rows // 2].copy(),
        }

    def scene(self) -> Scene:
        """The robot from its right, front tracks in red and rear tracks in blue, on the ground."""
        return obstacles_scene(self.task)

    def controllers(self) -> dict[str, Controller]:
        """Those of the class docstring."""
        drive = np.array([RAISED, 0.0, NOMINAL_SPEED, NOMINAL_SPEED])
        known: dict[str, Controller] = {
            "trained": self.load_controller(SHIPPED),
            "reactive": Reactive(self.climbers.climber, self.settings.rows),
        }
        if self.settings.cells == CELLS:
            known["reinforced"] = Reinforced(self.climbers.climber, self.settings.rows)
            if self.settings.rows == ROWS:
                known["neural"] = load_neural(self.climbers.climber)
        if self.settings.rows > 1:
            known["aligned"] = Aligned(self.load_controller(SHIPPED), self.climbers.climber, self.settings.rows)
        known["drive"] = as_controller(lambda _: drive.copy())
        return known | super().controllers()

    def load_controller(self, path: Path) -> Controller:
        """Load a trained net.

        Raises:
            ModelError: If it is not a climber.
        """
        return load_policy(path, self.settings.rows)

    def _info(self) -> dict[str, Any]:
        return {name: value[0].item() for name, value in self.task.values().items()}


def spaces(climber: Climber, cells: int) -> tuple[Box, Box]:
    """The observation and the action space of one robot; so many cells in all rows."""
    states = [np.pi, np.pi, *[MAX_SPEED] * 3, *[MAX_RATE] * 3, FAR, FAR]
    high, top = np.concatenate([states, np.full(cells, FAR)]), climber.belts.speed
    limits = np.array([AXLE_LIMIT, AXLE_LIMIT, top, top])
    return Box(-high, high, dtype=np.float64), Box(-limits, limits, dtype=np.float64)
