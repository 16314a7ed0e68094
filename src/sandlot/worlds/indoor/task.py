"""State and rules of the indoor world for a number of robots. `Indoor` has one of them, `IndoorVector` many.

Robots do not meet: each has the floor for itself, and its own people.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.errors import PlaceError, SettingError
from sandlot.physics import people
from sandlot.places.flats import random_flat
from sandlot.places.furniture import moved
from sandlot.places.plans import Plan, load_plan
from sandlot.robots.tracked_rover import TrackedRover
from sandlot.sensing.laser import Chance
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.indoor.bodies import Body, Generators, RoundBody, TrackedBody
from sandlot.worlds.indoor.floor import AROUND, Floor
from sandlot.worlds.indoor.missions import GOAL_BOUNDS, MISSIONS, Reach
from sandlot.worlds.indoor.settings import IndoorSettings

ACTION = "a speed [m/s] and a turn rate [rad/s]"
GAIT = people.Gait()
POSE = 4
"""How many numbers of an observation are the pose by odometry."""
NEAR = 2.0
"""A goal that is this far away is 1 at the normalised interface [m]: learners must resolve the last centimetres."""
Sensor: TypeAlias = Callable[[Array, Chance], Array]
"""Poses (n, 3) x, y [m], yaw [rad] and random generators in, ranges (n, beams) [m] out; NaN without a return."""


class IndoorTask:
    """Robots that drive, scan and do their task.

    Attributes:
        plan: Walls and boxes.
        floor: Where robots can be, and what each has covered.
        laser: Gives the ranges of a scan of round robots.
        body: The robots.
        mission: Their task.
        people: (count, people) who walk about, of `sandlot.physics.people.PERSON`.
        ranges: (count, beams) of each robot's last scan [m].
        steps: (count,) since the start.
        bumped: (count,) whether each touched a wall or a person in its last step.
        bumps: (count,) number of steps in which it did.
        path_lengths: (count,) length of the path that it has driven [m].
        covered: (count,) area of the floor that its body has covered [m^2].
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
        self.plan = find_plan(settings)
        self.floor = Floor(self.plan, settings.robot.radius, count)
        self.laser: Sensor = partial(settings.laser.scan, self.plan, threads=threads)
        if settings.fidelity == "learned":
            from sandlot.worlds.indoor.learned import learned_laser  # imports this module, to record a log in the world

            self.laser = learned_laser(settings, self.plan)
        for name in ("start", "goal"):
            if (pose := getattr(settings, name)) is not None:
                self.check(pose, name)
        self.all: IntArray = np.arange(count)
        self.body: Body
        if isinstance(settings.robot, TrackedRover):
            self.body = TrackedBody(settings.robot, settings.encoders, settings.lidar, count)
        else:
            self.body = RoundBody(settings.robot, settings.laser.bearings, count)
        self.people = np.zeros((count, settings.people), people.PERSON)
        self._room = Floor(self.plan, max(GAIT.radius, settings.robot.radius)) if settings.people else self.floor
        self.mission = MISSIONS[settings.task](settings, self.floor, count)
        self.ranges = np.full((count, settings.scanner.beams), np.nan, np.float32)
        self.steps, self.bumps = np.zeros((2, count), np.int64)
        self.bumped, self.covered, self.path_lengths = np.zeros(count, np.bool_), np.zeros(count), np.zeros(count)
        self._observed = spaces(settings)[0]

    @property
    def state(self) -> Any:
        """True state of the robots: (count,)."""
        return self.body.state

    def check(self, start: object, name: str = "start") -> Array:
        """Refuse a start or goal that is not a pose, or where there is no room.

        Returns:
            (3,) x, y [m], yaw [rad].
        """
        try:
            pose = np.asarray(start, np.float64)
        except (TypeError, ValueError):
            pose = np.empty(0)
        if pose.shape != (3,) or not np.isfinite(pose).all():
            raise SettingError(f"{name} is x [m], y [m] and yaw [rad]")
        (x, y), radius, bounds = pose[:2], self.settings.robot.radius, self.plan.bounds
        if not ((pose[:2] > bounds[:2]) & (pose[:2] < bounds[2:])).all():
            raise PlaceError(f"{name}: ({x:g}, {y:g}) is outside of the plan, from {bounds[:2]} to {bounds[2:]} m")
        if self.plan.clearance(pose[:2]) < radius:
            raise PlaceError(f"{name}: at ({x:g}, {y:g}) there is no room for a robot of radius {radius:g} m")
        return pose

    def restart(self, which: IntArray, poses: Array, rng: Sequence[np.random.Generator]) -> None:
        """Put some robots at poses (n, 3) [m, m, rad], at rest, and let them scan; each has its own generator."""
        self.body.restart(which, poses, rng)
        self.steps[which] = self.bumps[which] = 0
        self.bumped[which], self.path_lengths[which] = False, 0.0
        self.floor.forget(which)
        self.covered[which] = self.floor.cover(which, np.ascontiguousarray(poses[:, :2]))
        for k, pose, chance in zip(which.tolist(), poses, rng, strict=True):
            if self.settings.people:
                self.people[k] = self._meet(pose, chance)
        self.mission.restart(which, poses, rng)
        self._scan(which, rng)

    def _meet(self, pose: Array, rng: np.random.Generator) -> Any:
        """People at random free places, none of them at the robot, if there is such a place."""
        away = self.settings.robot.radius + GAIT.radius + GAIT.distance
        places: list[Array] = []
        while len(places) < self.settings.people:
            for _ in range(100):
                place = self._room.draw_pose(rng)[:2]
                if np.hypot(*(place - pose[:2])) > away:
                    break
            places.append(place)
        return people.start(np.array(places), rng.integers(2**64, size=len(places), dtype=np.uint64))

    def drive(self, wanted: Array, rng: Generators) -> Array:
        """Drive all robots for one step, and let those with a generator scan.

        Args:
            wanted: (count, 2) commanded speed [m/s] and turn rate [rad/s].
            rng: (count) generators.

        Returns:
            (count,) rewards.
        """
        period, before = self.settings.period, self.poses[:, :2]
        if self.settings.people:
            self.bumped = np.zeros(len(self.all), np.bool_)
            for k in self.all.tolist():
                one = slice(k, k + 1)
                walk_around(self, k, period)
                walls = self.surroundings(k).walls
                self.bumped[one] = self.body.drive(one, wanted[one], rng[one], walls, period)
        else:
            self.bumped = self.body.drive(slice(None), wanted, rng, self.plan.walls, period)
        self.steps += 1
        self.bumps += self.bumped
        self.path_lengths += np.hypot(*(self.poses[:, :2] - before).T)
        new = self.floor.cover(self.all, np.ascontiguousarray(self.poses[:, :2]))
        self.covered += new
        running = np.array([k for k, each in enumerate(rng) if each is not None], np.int64)
        self._scan(running, [each for each in rng if each is not None])
        return self.mission.reward(self.poses, new, self.bumped)

    def surroundings(self, robot: int) -> Plan:
        """The plan with the people around a robot as round walls."""
        if not self.settings.people:
            return self.plan
        plan, around = self.plan, self.people[robot]
        circles = np.column_stack([around["x"], around["y"], np.full(len(around), GAIT.radius)])
        shine = np.concatenate([plan.shine, np.zeros(len(around))])
        return replace(plan, circles=np.concatenate([plan.circles, circles]), shine=shine)

    def _scan(self, which: IntArray, rng: Sequence[np.random.Generator]) -> None:
        """Let some robots scan."""
        if isinstance(self.body, TrackedBody):
            for k, chance in zip(which.tolist(), rng, strict=True):
                self.ranges[k] = self.body.sweep(k, self.surroundings(k), chance)
        elif self.settings.people and self.settings.fidelity == "fast":
            for k, chance in zip(which.tolist(), rng, strict=True):
                poses = self.poses[k : k + 1]
                self.ranges[k] = self.settings.laser.scan(self.surroundings(k), poses, chance, threads=1)[0]
        else:
            self.ranges[which] = self.laser(self.poses[which], rng)
        if self.settings.task == "explore":
            for k in which.tolist():
                self.mission.look(k, self.body.beams(k), self.ranges[k].astype(np.float64))

    @property
    def poses(self) -> Array:
        """True poses of the robots: (count, 3) x, y [m], yaw [rad]."""
        return np.stack([self.state.x, self.state.y, self.state.yaw], axis=-1)

    @property
    def odometry(self) -> Array:
        """Poses of the robots by odometry: (count, 3) x, y [m], yaw [rad]."""
        known = self.body.measured
        return np.stack([known.odometry_x, known.odometry_y, known.odometry_yaw], axis=-1)

    @property
    def goals(self) -> Array | None:
        """Goals of the robots: (count, 3) x, y [m], yaw [rad]; None if they have none."""
        return self.mission.goals if isinstance(self.mission, Reach) else None

    @property
    def time(self) -> Array:
        """Since the start: (count,) [s]."""
        return self.steps.astype(np.float64) * self.settings.period

    def observe(self) -> NDArray[np.float32]:
        """Observations of the robots, as `Indoor` describes them: (count, beams + 2 and more)."""
        scanner, known = self.settings.scanner, self.body.measured
        beams, max_range = scanner.beams, np.float32(scanner.max_range)
        seen = np.empty((len(self.all), self._observed.shape[0]), np.float32)
        seen[:, :beams] = np.where(np.isnan(self.ranges), max_range, self.ranges)
        seen[:, beams], seen[:, beams + 1] = known.speed, known.turn_rate
        done = beams + 2 + self.mission.observed
        if self.mission.observed:
            seen[:, beams + 2 : done] = self.mission.observe(self.odometry)
        if self.settings.observe_pose:
            x, y, yaw = self.odometry.T
            seen[:, done : done + POSE] = np.column_stack([x, y, np.cos(yaw), np.sin(yaw)])
            done += POSE
        if self.settings.observe_coverage:
            seen[:, done:] = self.floor.around(self.poses)
        return np.clip(seen, self._observed.low, self._observed.high, out=seen)

    def ends(self) -> tuple[BoolArray, BoolArray]:
        """Which robots have come to the end of their task, and whose episodes are cut off: (count,) each."""
        return self.mission.ends(self.time, self.bumped)

    def values(self) -> Mapping[str, NDArray[Any]]:
        """What ``info`` holds: (count,) each."""
        common = {"time": self.time, "bumped": self.bumped, "bumps": self.bumps, "covered": self.covered}
        return {**common, **self.mission.values()}

    def outcomes(self) -> dict[str, Array]:
        """Results so far, as `Indoor` names them: (count,) each."""
        away, nothing = self.poses[:, :2] - self.odometry[:, :2], np.full(len(self.all), np.nan)
        return {
            "covered": self.covered.copy(),
            "covered_share": self.covered / self.floor.area,
            "path_length": self.path_lengths.copy(),
            "bumps": self.bumps.astype(np.float64),
            "drift": np.hypot(*away.T),
            **dict.fromkeys(("reached", "goal_path", "seen_share"), nothing),
            **self.mission.outcomes(),
        }


def walk_around(task: IndoorTask, robot: int, interval: float) -> None:
    """Let the people around a robot walk for an interval [s]."""
    one = slice(robot, robot + 1)
    places = np.ascontiguousarray(task.poses[one, :2])
    people.walk(task.people[one], places, task.settings.robot.radius, task.plan.walls, interval, GAIT)


def find_plan(settings: IndoorSettings) -> Plan:
    """The plan of a world, with its furniture moved if the settings say so."""
    random = settings.plan == "random"
    plan = random_flat(settings.plan_seed) if random else load_plan(settings.plan, settings.resolution)
    return plan if settings.furniture is None else moved(plan, settings.furniture)


def spaces(settings: IndoorSettings) -> tuple[Box, Box]:
    """The observation and the action space of one robot."""
    top, scanner = np.array([settings.robot.top_speed, settings.robot.top_turn], np.float32), settings.scanner
    # Noise may make a range longer than the maximum.
    far = np.full(scanner.beams, 2.0 * scanner.max_range, np.float32)
    goal = GOAL_BOUNDS[: MISSIONS[settings.task].observed].astype(np.float32)
    pose = np.array([*GOAL_BOUNDS[:2], 1.0, 1.0], np.float32)[: POSE * settings.observe_pose]
    around = np.ones(len(AROUND) * settings.observe_coverage, np.float32)
    high = np.concatenate([far, top, goal, pose, around])
    low = -high
    low[: scanner.beams] = 0.0
    return Box(low, high, dtype=np.float32), Box(-top, top, dtype=np.float32)


def scale(settings: IndoorSettings) -> Array:
    """What a normalised observation is divided by, as long as the observation."""
    far, top = settings.scanner.max_range, (settings.robot.top_speed, settings.robot.top_turn)
    goal = np.array([NEAR, NEAR, np.pi])[: MISSIONS[settings.task].observed]
    pose = np.array([far, far, 1.0, 1.0])[: POSE * settings.observe_pose]
    around = np.ones(len(AROUND) * settings.observe_coverage)
    return np.concatenate([np.full(settings.scanner.beams, far), top, goal, pose, around])
