"""What goes on indoors, for a number of robots at once. `Indoor` is one of them, `IndoorVector` many.

Robots do not meet: each has the floor for itself.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.places.plans import load_plan
from sandlot.robots.round_robot import HEADING, SPEED, TURN, X, Y
from sandlot.sensing.laser import Chance
from sandlot.typing import Array, IntArray
from sandlot.worlds.indoor.floor import Floor
from sandlot.worlds.indoor.settings import IndoorSettings

ACTION = "a speed [m/s] and a turn [rad/s]"
Sensor: TypeAlias = Callable[[Array, Chance], Array]
"""Poses (n, 3) x, y [m], heading [rad] and chance in, ranges (n, beams) [m] out, not a number where none came back."""


class IndoorTask:
    """Robots that drive, see and cover the floor.

    Attributes:
        plan: Walls and boxes.
        floor: Where robots can be, and where each has been.
        laser: What is asked for ranges.
        state: (count, 8) of the robots, as in `sandlot.robots.round_robot`.
        ranges: (count, beams) what each saw last [m].
        steps: (count,) since the start.
        bumped: (count,) whether each touched a wall in its last step.
        bumps: (count,) in how many steps it did.
        covered: (count,) floor that its body has been on [m^2].
    """

    def __init__(self, settings: IndoorSettings, count: int = 1, threads: int | None = None) -> None:
        """Make the robots; `restart` puts them on the floor.

        Args:
            settings: Of the world.
            count: How many robots.
            threads: Of the laser, as in `sandlot.sensing.rays.cast`.

        Raises:
            SandlotError: If the plan or the model cannot be read, or there is no room.
        """
        self.settings = settings
        self.plan = load_plan(settings.plan, settings.resolution)
        self.floor = Floor(self.plan, settings.robot.radius, count)
        self.laser: Sensor = lambda poses, rng: settings.laser.scan(self.plan, poses, rng, threads)
        if settings.fidelity == "learned":
            from sandlot.worlds.indoor.learned import learned_laser  # it lets a robot wander about this world

            self.laser = learned_laser(settings, self.plan)
        if settings.start is not None:
            self.check(settings.start)
        self.all: IntArray = np.arange(count)
        self.state = np.zeros((count, 8))
        self.ranges = np.full((count, settings.laser.beams), np.nan, np.float32)
        self.steps, self.bumps = np.zeros((2, count), np.int64)
        self.bumped, self.covered = np.zeros(count, np.bool_), np.zeros(count)
        self._observed = spaces(settings)[0]

    def place(self, start: object, rng: np.random.Generator) -> Array:
        """Where a robot starts: (3,) [m, m, rad]; drawn, unless ``start`` says it."""
        return self.floor.draw_pose(rng) if start is None else self.check(start)

    def check(self, start: object) -> Array:
        """Refuse a start that is none, or has no room."""
        try:
            pose = np.asarray(start, np.float64)
        except (TypeError, ValueError):
            pose = np.empty(0)
        if pose.shape != (3,) or not np.isfinite(pose).all():
            raise SandlotError("start is x [m], y [m] and heading [rad]")
        (x, y), radius, bounds = pose[:2], self.settings.robot.radius, self.plan.bounds
        if not ((pose[:2] > bounds[:2]) & (pose[:2] < bounds[2:])).all():
            raise SandlotError(f"start: ({x:g}, {y:g}) is outside of the plan, from {bounds[:2]} to {bounds[2:]} m")
        if self.plan.clearance(pose[:2]) < radius:
            raise SandlotError(f"start: at ({x:g}, {y:g}) there is no room for a robot of radius {radius:g} m")
        return pose

    def restart(self, which: IntArray, poses: Array) -> None:
        """Put some robots at poses (n, 3) [m, m, rad], at rest; they have not seen anything yet."""
        self.state[which] = self.settings.robot.start(poses)
        self.steps[which] = self.bumps[which] = 0
        self.bumped[which] = False
        self.floor.forget(which)
        self.covered[which] = self.floor.cover(which, np.ascontiguousarray(poses[:, :2]))

    def drive(self, wanted: Array, slips: Array) -> Array:
        """Drive for one interval, all of them.

        Args:
            wanted: (count, 2) speed [m/s] and turn [rad/s].
            slips: (count, 2) shares of both that are lost.

        Returns:
            (count,) floor that is covered for the first time [m^2].
        """
        given, walls = self.settings, (self.plan.segments, self.plan.circles)
        self.bumped = given.robot.drive(self.state, wanted, slips, *walls, given.interval)
        self.steps += 1
        self.bumps += self.bumped
        new = self.floor.cover(self.all, self.state[:, [X, Y]])
        self.covered += new
        return new

    def scan(self, which: IntArray, rng: Chance) -> None:
        """Let some robots see."""
        self.ranges[which] = self.laser(self.poses[which], rng)

    @property
    def poses(self) -> Array:
        """Where the robots are: (count, 3) x, y [m], heading [rad]."""
        return self.state[:, [X, Y, HEADING]]

    @property
    def time(self) -> Array:
        """Since the start: (count,) [s]."""
        return self.steps.astype(np.float64) * self.settings.interval

    def observe(self) -> NDArray[np.float32]:
        """What the robots know, as `Indoor` describes it: (count, beams + 2)."""
        beams, most = self.settings.laser.beams, np.float32(self.settings.laser.most)
        seen = np.empty((len(self.all), beams + 2), np.float32)
        seen[:, :beams] = np.where(np.isnan(self.ranges), most, self.ranges)
        seen[:, beams:] = self.state[:, [SPEED, TURN]]
        return np.clip(seen, self._observed.low, self._observed.high, out=seen)


def spaces(settings: IndoorSettings) -> tuple[Box, Box]:
    """What a robot observes, and what it can be told."""
    top = np.array([settings.robot.top_speed, settings.robot.top_turn], np.float32)
    # Noise may make a range longer than the laser sees.
    far = np.full(settings.laser.beams, 2.0 * settings.laser.most, np.float32)
    low, high = np.concatenate([0.0 * far, -top]), np.concatenate([far, top])
    return Box(low, high, dtype=np.float32), Box(-top, top, dtype=np.float32)
