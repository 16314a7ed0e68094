"""The robots of the indoor world behind one interface: a round robot with a laser, or a tracked rover with a lidar."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from sandlot.geometry.walls import Walls
from sandlot.places.plans import Plan
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.vocabulary import quantity
from sandlot.robots.round_robot import ROBOT, RoundRobot
from sandlot.robots.tracked_rover import TRACKED, TrackedRover
from sandlot.sensing.spinning_lidar import SpinningLidar, along
from sandlot.sensing.track_encoders import ODOMETRY, TrackEncoders
from sandlot.typing import Array, BoolArray, IntArray

Generators: TypeAlias = Sequence[np.random.Generator | None]
"""One for each robot; none for a robot whose episode has ended and that will be restarted."""
ODOMETER = ("odometry_x", "odometry_y", "odometry_yaw")


class Body(Protocol):
    """A number of robots of one kind.

    Attributes:
        state: (count,) true poses ``x``, ``y`` [m], ``yaw`` [rad], and what else drives them.
        measured: (count,) of odometry ``odometry_x``, ``odometry_y`` [m], ``odometry_yaw`` [rad], ``speed`` [m/s] and
            ``turn_rate`` [rad/s].
        quantities: Of a frame, besides its time.
    """

    state: Any
    quantities: dict[str, Quantity]

    @property
    def measured(self) -> Any:
        """What the robots know of their motion."""

    def restart(self, which: IntArray, poses: Array, rng: Sequence[np.random.Generator]) -> None:
        """Put some robots at poses (n, 3) [m, m, rad], at rest."""

    def drive(self, robots: slice, commands: Array, rng: Generators, walls: Walls, interval: float) -> BoolArray:
        """Drive robots (n) by commands (n, 2) [m/s, rad/s]; returns whether each touched a wall: (n,)."""

    def beams(self, robot: int) -> Array:
        """Where each beam of a robot's last scan was measured from, and its direction: (beams, 3) [m, m, rad]."""

    def frame(self, robot: int) -> Frame:
        """The present values of ``quantities`` of one robot."""


class RoundBody:
    """Round robots, whose laser measures all beams at once."""

    def __init__(self, robot: RoundRobot, bearings: Array, count: int) -> None:
        self._robot, self._bearings = robot, bearings
        self.state = robot.start(np.zeros((count, 3)))
        self.quantities = {name: quantity(name) for name in ROBOT.names or ()}

    @property
    def measured(self) -> Any:
        """The state also holds odometry."""
        return self.state

    def restart(self, which: IntArray, poses: Array, rng: Sequence[np.random.Generator]) -> None:
        """Put some robots at poses, at rest."""
        self.state[which] = self._robot.start(poses)

    def drive(self, robots: slice, commands: Array, rng: Generators, walls: Walls, interval: float) -> BoolArray:
        """Drive robots for one interval; each draws its slip."""
        draws = np.zeros((len(rng), 2))
        for k, each in enumerate(rng):
            if each is not None:
                each.standard_normal(out=draws[k])
        return self._robot.drive(self.state[robots], commands, self._robot.slips(draws), walls, interval)

    def beams(self, robot: int) -> Array:
        """All from the centre of the robot."""
        x, y, yaw = (self.state[name][robot] for name in ("x", "y", "yaw"))
        return np.column_stack([np.full((len(self._bearings), 2), (x, y)), yaw + self._bearings])

    def frame(self, robot: int) -> Frame:
        """All of the state."""
        return {name: self.state[name][robot] for name in self.quantities}


class TrackedBody:
    """Tracked rovers, whose lidar turns once in each step.

    Attributes:
        traces: (count, steps + 1, 3) poses over the last step [m, m, rad].
    """

    def __init__(self, rover: TrackedRover, encoders: TrackEncoders, lidar: SpinningLidar, count: int) -> None:
        self._rover, self._encoders, self._lidar = rover, encoders, lidar
        self.state = np.zeros(count, TRACKED).view(np.recarray)
        self._odometry = np.zeros(count, ODOMETRY).view(np.recarray)
        self.traces: Array = np.zeros((count, 1, 3))
        known = (*ODOMETER, "speed", "turn_rate", "count_left", "count_right")
        self.quantities = {name: quantity(name) for name in ("x", "y", "yaw", *known[:5])}
        self.quantities |= {name: quantity(name, dtype="int64") for name in known[5:]}

    @property
    def measured(self) -> Any:
        """By the encoders."""
        return self._odometry

    def restart(self, which: IntArray, poses: Array, rng: Sequence[np.random.Generator]) -> None:
        """Put some rovers at poses, at rest; each draws the start of its random numbers."""
        streams = np.reshape([each.integers(2**64, size=2, dtype=np.uint64) for each in rng], (-1, 2))
        self.state[which] = self._rover.start(poses, streams[:, 0])
        self._odometry[which] = self._encoders.start(poses, streams[:, 1])
        self.traces[which] = poses[:, None, :]

    def drive(self, robots: slice, commands: Array, rng: Generators, walls: Walls, interval: float) -> BoolArray:
        """Drive rovers for one turn of the lidar."""
        trace, bumped = self._rover.drive(self.state[robots], self._rover.tracks(commands), walls, interval)
        self._encoders.read(self._odometry[robots], trace[:, :, 3:], self._rover.turning_width, interval)
        if self.traces.shape[1] != trace.shape[1]:  # the first step
            self.traces = np.repeat(self.traces[:, -1:], trace.shape[1], axis=1)
        self.traces[robots] = trace[:, :, :3]
        return bumped

    def sweep(self, robot: int, plan: Plan, rng: np.random.Generator) -> Array:
        """Ranges (beams,) of a rover's last step [m]."""
        return self._lidar.sweep(plan, self.traces[robot], rng)

    def beams(self, robot: int) -> Array:
        """From where the rover was when each beam was measured."""
        lidar = self._lidar
        poses = along(self.traces[robot], 1.0 - lidar.ages / lidar.period)
        poses[:, 2] += lidar.bearings
        return poses

    def frame(self, robot: int) -> Frame:
        """True pose, odometry, speeds and counts."""
        both = {name: self.state[name][robot] for name in ("x", "y", "yaw")}
        return both | {name: self._odometry[name][robot] for name in self.quantities if name not in both}
