"""The indoor world: a round robot with a laser, or a tracked rover with a lidar, in a floor plan."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sandlot.control.controller import Controller, Separate
from sandlot.control.wandering import Wander, Wanderer
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.frames import ONCE
from sandlot.recordings.vocabulary import quantity
from sandlot.typing import Array
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import World
from sandlot.worlds.indoor.scene import indoor_scene
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.task import ACTION, IndoorTask, Sensor, scale, spaces
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings


class Indoor(World):
    """A robot with a laser drives in a floor plan of walls and furniture: it covers, explores, or goes to a goal.

    The ``round`` robot drives on two wheels. It loses a share of its motion to slip, and slides along walls that it
    touches. Its odometry integrates the motion of the wheels, which keep turning when a wall stops the robot. The laser
    has the faults of real ones. Robot, laser and the first floor plan follow Nehmzow, Kerr and Billings, *Accurate
    Robot Simulation*, University of Sheffield, 2009: a SCITOS G5 with a SICK laser that takes 360 ranges over the front
    180 degrees every 250 ms, in an arena of 100 m^2 built with cartons. What the source does not specify, such as where
    the cartons stand and how much noise the laser has, was chosen here.

    The ``tracked`` rover (``robot="tracked"``) steers by skidding. Both tracks slip, one more than the other, and how
    much changes as it drives: `sandlot.robots.tracked_rover`. A motor that is switched off lets its track coast. Its
    odometry counts the pulses of quadrature encoders, and misses some. Its lidar turns 5.5 times a second, and measures
    each beam from where the rover is then; more than half of the beams return nothing, as on the real sensor:
    `sandlot.sensing.spinning_lidar`.

    ## Actions
    ``Box`` of shape (2,): the commanded forward speed [m/s] and turn rate, positive to the left [rad/s]. The robot
    approaches both at its maximum accelerations. One step is one scan: 0.25 s, or one turn of the lidar, 0.18 s.

    ## Observations
    ``Box`` of shape (beams + 2,): the ranges of the laser [m], counter-clockwise from the right, or from the back for
    the lidar, with the maximum range for beams without a return; then the speed [m/s] and the turn rate [rad/s] by the
    wheels or tracks. With ``task="goal"`` three more: how far ahead and to the left the goal is [m], and its yaw [rad],
    as seen from the pose by odometry, which drifts. The true pose is not observed.

    Options add more, in this order. ``observe_pose``: x, y [m], cosine and sine of the yaw by odometry.
    ``observe_coverage``: 81 points around the robot, a grid of 9 by 9 with 0.5 m between them, turned with the robot,
    from behind to ahead and from right to left: 1 if its body has covered the point, -1 if it never can, else 0. With
    ``interface="normalised"``, which ``gymnasium.make`` gives, actions are in [-1, 1], ranges and distances are divided
    by the maximum range of the laser, and speeds by the maximum speeds.

    ## Reward
    ``cover``: area of the floor that the robot's body covers for the first time [m^2]. The rewards of an episode sum up
    to the area it has covered, less the area under it at the start. ``goal``: by how much the shortest path to the goal
    has become shorter [m]. ``explore``: area of the floor that beams with a return cross for the first time [m^2].

    ## Start and end
    ``reset(seed=...)`` draws a random free pose, unless the setting ``start`` or ``options={"start": (x, y, yaw)}``
    gives one; the same for the setting ``goal``. The robot starts at rest, and its odometry starts at the true pose. An
    episode of ``cover`` never ends by itself. One of ``goal`` ends at the goal, within ``goal_distance`` and
    ``goal_angle``, or when the robot touches something; one of ``explore`` when the share ``enough`` of the floor
    within its reach was seen. Both are truncated after ``time_limit``.

    ## Floor plans
    ``arena``, ``cluttered``, ``office``, ``flat``, ``apartment`` and ``warehouse`` are shipped; ``random`` is a random
    flat by ``plan_seed``, whose rooms can all be reached. Others come from TOML (`sandlot.places.plan_files` describes
    the format), from an image whose dark pixels are walls, or from a ROS ``map.yaml`` and its image, whose unknown
    cells are walls. ``furniture`` moves all furniture; ``people`` walk about and keep away from the robot.

    ## The laser
    Rays are cast exactly, against segments and circles. Mixed pixels at edges, shiny surfaces, missing returns and
    noise are added: `sandlot.sensing.laser.Laser`. ``world.laser`` is the function that gives the ranges of the round
    robot: poses (n, 3) and a random generator in, ranges (n, beams) out. It can be replaced.

    At ``learned``, no ray is cast: a sensor model, fitted to the log of a robot, predicts the scan from the pose. It
    predicts the median ranges of six segments, as in the source; every beam of a segment returns its median.

    ## Many at once
    ``gymnasium.make_vec("sandlot/Indoor-v0", num_envs=64)`` drives all robots in one call of compiled code, each with
    the floor for itself, and with the same results: `sandlot.worlds.indoor.vector`.

    ## Controllers
    ``wander``, a random walk that avoids obstacles and turns to a random direction every few seconds; ``random``.
    Controllers that steer a rover over its own interface, as a real one, use `sandlot.worlds.indoor.rover`.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = IndoorSettings
    reward_units = "m^2"
    action_units = "m/s, rad/s"
    endless = True
    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 4}
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {
        "covered": Quantity("m^2", "area of the floor that the robot's body has covered"),
        "covered_share": Quantity("1", "share of the floor within its reach that it has covered"),
        "path_length": Quantity("m", "length of the path driven"),
        "bumps": Quantity("1", "number of steps in which it touched a wall"),
        "drift": Quantity("m", "distance from its position by odometry to its true position"),
        "reached": Quantity("1", "whether it reached the goal; NaN without one"),
        "goal_path": Quantity("m", "length of the shortest path left to the goal; NaN without one"),
        "seen_share": Quantity("1", "share of the floor within its reach that it has seen; NaN unless exploring"),
    }
    settings: IndoorSettings

    def __init__(self, render_mode: str | None = None, **given: Any) -> None:
        super().__init__(render_mode, **given)
        self.metadata = {**self.metadata, "render_fps": 1.0 / self.settings.period}
        self.task = IndoorTask(self.settings)
        self.plan, self.floor = self.task.plan, self.task.floor
        self._offer(*spaces(self.settings), scale(self.settings))
        self.endless, self.reward_units = self.task.mission.endless, self.task.mission.units
        beams = (self.settings.scanner.beams,)
        self.quantities = {
            "time": quantity("time"),
            **self.task.body.quantities,
            "ranges": quantity("ranges", ("beam",), beams, "float32"),
            "bearings": quantity("bearings", ("beam",), beams, every=ONCE),
            "bumped": quantity("bumped", dtype="bool"),
        }
        if self.settings.robot.kind == "tracked":
            self.quantities["ages"] = quantity("ages", ("beam",), beams, every=ONCE)
        if self.settings.people:
            people = ("person",), (self.settings.people,)
            self.quantities |= {name: quantity(name, *people) for name in ("person_x", "person_y")}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode; ``options={"start": (x, y, yaw)}`` replaces the start of the settings."""
        start = (options or {}).get("start", self.settings.start)
        given = None if start is None else self.task.check(start)  # before anything is changed
        super().reset(seed=seed)
        pose = self.floor.draw_pose(self.np_random) if given is None else given
        self.task.restart(self.task.all, pose[None], [self.np_random])
        return self.task.observe()[0], self._info()

    def step(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Drive for one interval, and scan."""
        rewards = self.task.drive(check_action(action, (2,), ACTION)[None], [self.np_random])
        terminated, truncated = self.task.ends()
        return self.task.observe()[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), self._info()

    @property
    def laser(self) -> Sensor:
        """Gives the ranges of a scan."""
        return self.task.laser

    @laser.setter
    def laser(self, sensor: Sensor) -> None:
        self.task.laser = sensor

    @property
    def pose(self) -> Array:
        """Pose of the robot: (3,) x, y [m], yaw [rad]."""
        return self.task.poses[0]

    @property
    def time(self) -> float:
        """Since the start [s]."""
        return float(self.task.time[0])

    def outcomes(self) -> dict[str, float]:
        """Results of the episode so far, as named in ``outcome_quantities``."""
        return {name: float(value[0]) for name, value in self.task.outcomes().items()}

    def frame(self) -> Frame:
        """True pose, odometry, the last scan, and where people are."""
        frame = {
            "time": np.float64(self.time),
            **self.task.body.frame(0),
            "ranges": self.task.ranges[0].copy(),
            "bearings": self.settings.scanner.bearings.copy(),
            "bumped": self.task.bumped[0],
        }
        if self.settings.robot.kind == "tracked":
            frame["ages"] = self.settings.lidar.ages
        if self.settings.people:
            frame |= {f"person_{axis}": self.task.people[axis][0].copy() for axis in "xy"}
        return frame

    def scene(self) -> Scene:
        """The floor plan, the robot in blue, its last scan, its goal and people."""
        return indoor_scene(self.task)

    def controllers(self) -> dict[str, Controller]:
        """Those of the class docstring."""
        robot, default, scanner = self.settings.robot, Wander(), self.settings.scanner
        walk = Wander(
            speed=min(default.speed, robot.top_speed),
            turn_rate=min(default.turn_rate, robot.top_turn),
            radius=robot.radius,
        )
        wander = Separate(lambda seed: Wanderer(walk, scanner.bearings, self.settings.period, seed))
        return {"wander": wander, **super().controllers()}

    def _info(self) -> dict[str, Any]:
        return {name: value[0].item() for name, value in self.task.values().items()}
