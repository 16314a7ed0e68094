"""The indoor world: a round robot with a laser in a floor plan."""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.control.wandering import Wander, Wanderer
from sandlot.errors import SandlotError
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.frames import ONCE
from sandlot.robots.round_robot import HEADING, ODOMETRY_HEADING, ODOMETRY_X, ODOMETRY_Y, SPEED, TURN, X, Y
from sandlot.sensing.plans import load_plan
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import Controller, World, WorldSettings
from sandlot.worlds.indoor_floor import Floor
from sandlot.worlds.indoor_picture import Picture
from sandlot.worlds.indoor_settings import IndoorSettings

Array = NDArray[np.float64]
Sensor: TypeAlias = Callable[[Array, np.random.Generator], Array]
"""Poses (n, 3) x, y [m], heading [rad] and chance in, ranges (n, beams) [m] out, not a number where none came back."""
ACTION = "a speed [m/s] and a turn [rad/s]"


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
    ``arena``, ``cluttered``, ``office`` and ``flat`` are shipped. Others come from TOML (`sandlot.sensing.plan_files`
    shows how), from an image whose dark pixels are walls, or from a ROS ``map.yaml`` and its image; what such a map
    does not know is taken for wall.

    ## The laser
    Rays are cast exactly, against segments and circles. Then come mixed edges, shiny surfaces, missing returns and
    noise: `sandlot.sensing.laser.Laser`. ``world.laser`` is what is asked for ranges: poses (n, 3) and a random
    generator in, ranges (n, beams) out. It can be replaced.

    At ``learned``, no ray is cast: a sensor model, fitted to the log of a robot, says from the pose alone what the
    laser sees. It knows the medians of six segments, as the source's do; every beam of a segment returns its median.

    ## Controllers
    ``wander``, a random walk that avoids obstacles and turns by chance every few seconds; ``random``.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = IndoorSettings
    reward_units = "m^2"
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
        given = self.settings
        self.plan = load_plan(given.plan, given.resolution)
        self.floor = Floor(self.plan, given.robot.radius)
        self.laser: Sensor = lambda poses, rng: given.laser.scan(self.plan, poses, rng)
        if given.fidelity == "learned":
            from sandlot.worlds.indoor_learned import learned_laser  # it lets a robot wander about this world

            self.laser = learned_laser(given)
        if given.start is not None:
            self._check_start(np.array(given.start))
        beams, robot = given.laser.beams, given.robot
        top = np.array([robot.top_speed, robot.top_turn], np.float32)
        # Noise may make a range longer than the laser sees.
        far = np.full(beams, 2.0 * given.laser.most, np.float32)
        self._limits = np.concatenate([0.0 * far, -top]), np.concatenate([far, top])
        self.observation_space = Box(*self._limits, dtype=np.float32)
        self.action_space = Box(-top, top, dtype=np.float32)
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
        pose = self.floor.draw_pose(self.np_random) if start is None else self._check_start(np.asarray(start))
        self.state = self.settings.robot.start(pose[None])
        self._steps, self._way, self._bumps, self._bumped = 0, 0.0, 0, False
        self.floor.forget()
        self._covered = self.floor.cover(pose[:2])
        self._scan()
        return self._observe(), self._info()

    def step(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Drive for one interval, and scan."""
        wanted = check_action(action, (2,), ACTION)
        robot, before = self.settings.robot, self.pose
        slips = robot.draw_slips(1, self.np_random)
        self._bumped = bool(
            robot.drive(self.state, wanted[None], slips, self.plan.segments, self.plan.circles, self.settings.interval)[
                0
            ]
        )
        self._steps += 1
        self._bumps += self._bumped
        self._way += math.dist(before[:2], self.pose[:2])
        new = self.floor.cover(self.pose[:2])
        self._covered += new
        self._scan()
        return self._observe(), new, False, False, self._info()

    @property
    def pose(self) -> Array:
        """Where the robot is: (3,) x, y [m], heading [rad]."""
        return self.state[0, [X, Y, HEADING]]

    @property
    def time(self) -> float:
        """Since the start [s]."""
        return self._steps * self.settings.interval

    def outcomes(self) -> dict[str, float]:
        """What has come of the episode so far, as ``outcome_quantities`` names it."""
        return {
            "covered": self._covered,
            "share": self._covered / self.floor.area,
            "way": self._way,
            "bumps": float(self._bumps),
            "drift": math.dist(self.state[0, [X, Y]], self.state[0, [ODOMETRY_X, ODOMETRY_Y]]),
        }

    def frame(self) -> Frame:
        """Where the robot is, where it thinks it is, and what it sees."""
        robot = self.state[0]
        return {
            "time": np.float64(self.time),
            "position": robot[[X, Y]],
            "heading": robot[HEADING],
            "odometry_position": robot[[ODOMETRY_X, ODOMETRY_Y]],
            "odometry_heading": robot[ODOMETRY_HEADING],
            "speed": robot[SPEED],
            "turn": robot[TURN],
            "ranges": self._ranges,
            "bearings": self.settings.laser.bearings,
            "bumped": np.bool_(self._bumped),
        }

    def render(self) -> NDArray[np.uint8]:
        """The plan from above, the robot blue, and what its laser sees: the longer side of 640 pixels."""
        if self._picture is None:
            self._picture = Picture(self.plan)
        return self._picture.draw(self.pose, self.settings.robot.radius, self.settings.laser.bearings, self._ranges)

    def controllers(self) -> dict[str, Callable[[np.random.SeedSequence], Controller]]:
        """Those of the class docstring."""
        return {"wander": self._wanderer, **super().controllers()}

    def _wanderer(self, seed: np.random.SeedSequence) -> Controller:
        robot, default = self.settings.robot, Wander()
        walk = Wander(
            speed=min(default.speed, robot.top_speed), turn=min(default.turn, robot.top_turn), radius=robot.radius
        )
        return Wanderer(walk, self.settings.laser.bearings, self.settings.interval, seed)

    def _check_start(self, pose: Array) -> Array:
        """Refuse a start without room."""
        if pose.shape != (3,) or not np.isfinite(pose).all():
            raise SandlotError("start is x [m], y [m] and heading [rad]")
        radius, bounds = self.settings.robot.radius, self.plan.bounds
        if not ((pose[:2] > bounds[:2]) & (pose[:2] < bounds[2:])).all():
            x, y = pose[:2]
            raise SandlotError(f"start: ({x:g}, {y:g}) is outside of the plan, from {bounds[:2]} to {bounds[2:]} m")
        if self.plan.clearance(pose[:2]) < radius:
            x, y = pose[:2]
            raise SandlotError(f"start: at ({x:g}, {y:g}) there is no room for a robot of radius {radius:g} m")
        return pose

    def _scan(self) -> None:
        self._ranges = self.laser(self.pose[None], self.np_random)[0].astype(np.float32)

    def _observe(self) -> NDArray[np.float32]:
        most = self.settings.laser.most
        seen = np.concatenate([np.nan_to_num(self._ranges, nan=most), self.state[0, [SPEED, TURN]]])
        return np.clip(seen.astype(np.float32), *self._limits)

    def _info(self) -> dict[str, Any]:
        return {"time": self.time, "bumped": self._bumped, "bumps": self._bumps, "covered": self._covered}
