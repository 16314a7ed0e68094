"""The indoor world: a round robot with a laser in a floor plan."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sandlot.control.wandering import Wander, Wanderer
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.frames import ONCE
from sandlot.robots.round_robot import HEADING, ODOMETRY_HEADING, ODOMETRY_X, ODOMETRY_Y, SPEED, TURN, X, Y
from sandlot.typing import Array
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import Controller, World, WorldSettings
from sandlot.worlds.indoor.picture import Picture
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.task import ACTION, IndoorTask, Sensor, spaces


class Indoor(World):
    """A round robot with a laser explores a floor plan of walls and boxes.

    The robot drives on two wheels, loses some of its way to slip, and slides along what it bumps into. Its odometry
    believes the wheels, which go on turning when a wall stops it. It sees with a laser that has the faults of real
    ones.

    Robot, laser and the first floor plan are after those of Nehmzow, Kerr and Billings, *Accurate Robot Simulation*,
    University of Sheffield, 2009: a SCITOS G5 with a SICK laser that takes 360 ranges over the front 180 degrees every
    250 ms, in an arena of 100 m^2 built with cartons. What the source does not say, from the cartons' places to the
    noise of the laser, was chosen here.

    ## Actions
    ``Box`` of shape (2,): the speed forward [m/s] and the rate of turning to the left [rad/s] that the robot should
    have. It gets there as fast as its accelerations allow. One step is one scan, 0.25 s.

    ## Observations
    ``Box`` of shape (beams + 2,): the ranges of the laser [m], counter-clockwise from the right, the laser's ``most``
    where nothing came back; then the speed [m/s] and the turn [rad/s] that the wheels have.

    ## Reward
    Floor that the robot's body covers for the first time [m^2]. The sum of all rewards is the area it has been on.

    ## Start and end
    ``reset(seed=...)`` draws a place where there is room and a heading, unless ``start`` is set or
    ``options={"start": (x, y, heading)}`` says otherwise. The robot starts at rest, its odometry right. An episode
    never ends by itself.

    ## Floor plans
    ``arena``, ``cluttered``, ``office`` and ``flat`` are shipped. Others come from TOML (`sandlot.places.plan_files`
    shows how), from an image whose dark pixels are walls, or from a ROS ``map.yaml`` and its image; what such a map
    does not know is taken for wall.

    ## The laser
    Rays are cast exactly, against segments and circles. Then come mixed edges, shiny surfaces, missing returns and
    noise: `sandlot.sensing.laser.Laser`. ``world.laser`` is what is asked for ranges: poses (n, 3) and a random
    generator in, ranges (n, beams) out. It can be replaced.

    At ``learned``, no ray is cast: a sensor model, fitted to the log of a robot, says from the pose alone what the
    laser sees. It knows the medians of six segments, as the source's do; every beam of a segment returns its median.

    ## Many at once
    ``gymnasium.make_vec("sandlot/Indoor-v0", num_envs=64)`` drives all robots in one call of compiled code, each with
    the floor for itself and with the same results: `sandlot.worlds.indoor.vector`.

    ## Controllers
    ``wander``, a random walk that avoids obstacles and turns by chance every few seconds; ``random``.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = IndoorSettings
    reward_units = "m^2"
    endless = True
    """Episodes never end by themselves."""
    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {
        "covered": Quantity("m^2", "floor that the robot's body has been on"),
        "share": Quantity("1", "that area, of what it could have been on"),
        "way": Quantity("m", "way driven"),
        "bumps": Quantity("1", "steps in which it touched a wall"),
        "drift": Quantity("m", "from where its odometry says it is to where it is"),
    }
    settings: IndoorSettings

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        super().__init__(render_mode, **settings)
        self.task = IndoorTask(self.settings)
        self.plan, self.floor = self.task.plan, self.task.floor
        self.observation_space, self.action_space = spaces(self.settings)
        beams = self.settings.laser.beams
        self._picture: Picture | None = None
        self.quantities = {
            "time": Quantity("s", "time since the start"),
            "position": Quantity("m", "middle of the robot", ("axis",), (2,)),
            "heading": Quantity("rad", "where it looks, from x to the left"),
            "odometry_position": Quantity("m", "where its wheels say it is", ("axis",), (2,)),
            "odometry_heading": Quantity("rad", "where they say it looks"),
            "speed": Quantity("m/s", "how fast they say it drives forward"),
            "turn": Quantity("rad/s", "how fast they say it turns to the left"),
            "ranges": Quantity("m", "what the laser measured; none where nothing came back", ("beam",), (beams,), "f4"),
            "bearings": Quantity(
                "rad", "directions of its beams, from ahead to the left", ("beam",), (beams,), "f8", ONCE
            ),
            "bumped": Quantity("1", "whether it touched a wall since the last frame", dtype="bool"),
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start anew; ``options={"start": (x, y, heading)}`` replaces the start of the settings."""
        super().reset(seed=seed)
        start = (options or {}).get("start", self.settings.start)
        self.task.restart(self.task.all, self.task.place(start, self.np_random)[None])
        self._way = 0.0
        self.task.scan(self.task.all, self.np_random)
        return self.task.observe()[0], self._info()

    def step(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Drive for one interval, and scan."""
        wanted, before = check_action(action, (2,), ACTION), self.pose
        new = self.task.drive(wanted[None], self.settings.robot.draw_slips(1, self.np_random))
        self._way += math.dist(before[:2], self.pose[:2])
        self.task.scan(self.task.all, self.np_random)
        return self.task.observe()[0], float(new[0]), False, False, self._info()

    @property
    def laser(self) -> Sensor:
        """What is asked for ranges."""
        return self.task.laser

    @laser.setter
    def laser(self, sensor: Sensor) -> None:
        self.task.laser = sensor

    @property
    def pose(self) -> Array:
        """Where the robot is: (3,) x, y [m], heading [rad]."""
        return self.task.poses[0]

    @property
    def time(self) -> float:
        """Since the start [s]."""
        return float(self.task.time[0])

    def outcomes(self) -> dict[str, float]:
        """What has come of the episode so far, as ``outcome_quantities`` names it."""
        robot, covered = self.task.state[0], float(self.task.covered[0])
        return {
            "covered": covered,
            "share": covered / self.floor.area,
            "way": self._way,
            "bumps": float(self.task.bumps[0]),
            "drift": math.dist(robot[[X, Y]], robot[[ODOMETRY_X, ODOMETRY_Y]]),
        }

    def frame(self) -> Frame:
        """Where the robot is, where it thinks it is, and what it sees."""
        robot = self.task.state[0]
        return {
            "time": np.float64(self.time),
            "position": robot[[X, Y]],
            "heading": robot[HEADING],
            "odometry_position": robot[[ODOMETRY_X, ODOMETRY_Y]],
            "odometry_heading": robot[ODOMETRY_HEADING],
            "speed": robot[SPEED],
            "turn": robot[TURN],
            "ranges": self.task.ranges[0].copy(),
            "bearings": self.settings.laser.bearings,
            "bumped": self.task.bumped[0],
        }

    def render(self) -> NDArray[np.uint8]:
        """The plan from above, the robot blue, and what its laser sees: the longer side of 640 pixels."""
        if self._picture is None:
            self._picture = Picture(self.plan)
        return self._picture.draw(
            self.pose, self.settings.robot.radius, self.settings.laser.bearings, self.task.ranges[0]
        )

    def controllers(self) -> dict[str, Callable[[np.random.SeedSequence], Controller]]:
        """Those of the class docstring."""
        return {"wander": self._wanderer, **super().controllers()}

    def _wanderer(self, seed: np.random.SeedSequence) -> Controller:
        robot, default = self.settings.robot, Wander()
        walk = Wander(
            speed=min(default.speed, robot.top_speed), turn=min(default.turn, robot.top_turn), radius=robot.radius
        )
        return Wanderer(walk, self.settings.laser.bearings, self.settings.interval, seed)

    def _info(self) -> dict[str, Any]:
        task = self.task
        values = {"bumped": bool(task.bumped[0]), "bumps": int(task.bumps[0]), "covered": float(task.covered[0])}
        return {"time": self.time, **values}
