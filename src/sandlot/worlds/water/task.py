"""The task of the water world for a batch of bodies. `Water` has one body, `WaterVector` many."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.control.snake.steering import OBSERVED
from sandlot.errors import SettingError, quote
from sandlot.robots.ball import Ball
from sandlot.robots.snake import link_centres
from sandlot.robots.swimmer_models import make_swimmers
from sandlot.robots.swimmers import MAX_RATE
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.water.settings import WaterSettings

REACHED = 2.0
"""A target is reached within this distance of the head link's centre [m] (section 7.3)."""
TOUCH = 0.05
"""A ball this close to the body, in ball radii, counts as touched: it may have bounced off between commands."""
FAR = 1e6
"""Bound of the observations that have no bound of their own [m, s, rad]."""
BODY_LENGTHS, USUAL_RATE = 0.1, 10.0
"""Speed of a body [body lengths/s] and rate of a joint [rad/s] that are 1 in a normalised observation."""
MAX_DRAWS = 1000
"""Attempts to place a target."""


class WaterTask:
    """Bodies, each with its own target: a ball, or at ``fast`` a mark to swim to.

    Attributes:
        swimmers: The bodies.
        centre: (count, 2) the bodies' centres of mass [m].
        centres: (count, links, 2) the links' centres [m].
        directions: (count, links) the links' yaw [rad].
        reached: (count,) which heads are at their targets.
        exploded: (count,) which simulations are invalid.
        touched: (count,) which bodies have touched their ball since the start.
        arrived: (count,) which heads have been at their targets since the start.
        arrival: (count, 5) `progress` when that was first so.
        tracking_error: (count,) by how much joints missed their last command, root of the mean square [rad].
    """

    def __init__(self, settings: WaterSettings, count: int = 1, threads: int = 1) -> None:
        """Make the bodies; `restart` places their targets.

        Args:
            settings: Of the world.
            count: How many bodies.
            threads: At ``reference``, the number of bodies that are simulated at the same time.

        Raises:
            SettingError: If the step is too long for the reference, or for its ball, or there is no room for a target.
        """
        self.settings, self.count = settings, count
        ball = Ball(settings.ball_radius, settings.ball_mass, settings.ball_drag)
        bodies = (settings.snake, count, settings.current, np.zeros((count, 2)), ball)
        self.swimmers = make_swimmers(settings.fidelity, *bodies, threads=threads)
        self.arrival = np.zeros((count, 5))
        self.touched, self.arrived = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        self.tracking_error = np.zeros(count)
        self._potential = np.zeros(count)
        self._destination = np.asarray(settings.destination)
        self._destinations = np.tile(self._destination, (count, 1))
        if settings.target is None:
            self.draw(np.random.default_rng(0))
        else:
            self.check(np.asarray(settings.target))

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw a target that neither overlaps the straight body nor is reached already: (2,) [m].

        Raises:
            SettingError: If there is no room for one.
        """
        max_distance = self.settings.distance
        for _ in range(MAX_DRAWS):
            radius, angle = max_distance * np.sqrt(rng.uniform()), rng.uniform(0.0, 2.0 * np.pi)
            target = self._destination + radius * np.array([np.cos(angle), np.sin(angle)])
            head = np.array([-0.5 * self.settings.snake.length, 0.0])
            if self._room(target) > 0.0 and np.linalg.norm(target - head) > REACHED:
                return target
        raise SettingError(f"distance={max_distance:g} leaves no room for a target beside the body; allowed: more")

    def check(self, target: object) -> Array:
        """Return a target as an array: (2,) [m].

        Raises:
            SettingError: If it is not a point or, at ``reference``, overlaps the straight body.
        """
        try:
            mark = np.asarray(target, np.float64)
        except (TypeError, ValueError):
            mark = np.empty(0)
        if mark.shape != (2,) or not np.isfinite(mark).all():
            given = target.tolist() if isinstance(target, np.ndarray) else target
            raise SettingError(f"target={quote(given)} is not possible; allowed: x, y [m]")
        room = self._room(mark)
        if self.swimmers.solid_balls and room <= 0.0:
            x, y = mark
            raise SettingError(f"target=[{x:g}, {y:g}] lies inside the body; allowed: {-room:.2g} m further away")
        return mark

    def _room(self, target: Array) -> float:
        """Gap between a ball there and the straight body [m]."""
        snake = self.settings.snake
        ahead = max(-snake.arclength - target[0], target[0], 0.0)
        beside = max(abs(target[1]) - 0.5 * snake.width, 0.0)
        return float(np.hypot(ahead, beside)) - self.settings.ball_radius

    def restart(self, which: IntArray, targets: Array) -> None:
        """Put these bodies back to the start, with targets at ``targets`` (which, 2) [m]."""
        self.touched[which], self.arrived[which], self.tracking_error[which] = False, False, 0.0
        self.swimmers.restart(which, targets)
        self._update()
        self._potential = self._potential.copy()
        self._potential[which] = self._distances()[which]

    def command(self, targets: Array) -> Array:
        """Give commands for so many steps as the settings say; a body whose episode ends meanwhile stays as it is.

        A body that explodes gets no reward, as its position is invalid.

        Args:
            targets: (count, joints) [rad].

        Returns:
            (count,) rewards [m].
        """
        rewards = self._step(targets, None)
        for _ in range(self.settings.skip - 1):
            terminated, truncated = self.ends()
            running = ~(terminated | truncated)
            if not running.any():
                break
            rewards += self._step(targets, running)
        return rewards

    def _step(self, targets: Array, running: BoolArray | None) -> Array:
        """Simulate until the next command; returns the rewards (count,), 0 for those that do not run."""
        if running is None:
            self.swimmers.command(targets)
        else:
            self.swimmers.command(targets, running)
        self._update()
        before, self._potential = self._potential, np.where(self.exploded, self._potential, self._distances())
        limit = self.settings.snake.max_angle
        missed = self.swimmers.angles - np.clip(targets, -limit, limit)
        error = np.sqrt((missed * missed).mean(axis=1))
        valid = ~self.exploded if running is None else ~self.exploded & running
        self.tracking_error = np.where(valid, error, self.tracking_error)
        if self.settings.tracking_penalty == 0.0:
            return before - self._potential
        return before - self._potential - np.where(valid, self.settings.tracking_penalty * error, 0.0)

    def _update(self) -> None:
        """Compute the attributes that are derived from the bodies, once for each command, as some are costly."""
        swimmers = self.swimmers
        self.centre, self.directions, self.exploded = swimmers.centre, swimmers.directions, swimmers.exploded
        self.centres = link_centres(self.centre, self.directions, swimmers.snake.length)
        self._to_target = _length(self.centres[:, 0] - self.targets)
        self.reached = self._to_target <= REACHED
        new = self.reached & ~self.arrived
        if new.any():
            self.arrival[new] = self.progress()[new]
            self.arrived |= new
        if swimmers.solid_balls:
            self.touched |= self._gaps() <= TOUCH * self.settings.ball_radius

    def _gaps(self) -> Array:
        """Gap between every body and its ball: (count,) [m]."""
        away = self.targets[:, None] - self.centres
        c, s = np.cos(self.directions), np.sin(self.directions)
        snake = self.settings.snake
        along = np.abs(away[..., 0] * c + away[..., 1] * s) - 0.5 * snake.length
        across = np.abs(away[..., 1] * c - away[..., 0] * s) - 0.5 * snake.width
        nearest = np.hypot(np.maximum(along, 0.0), np.maximum(across, 0.0)).min(axis=1)
        return nearest - self.settings.ball_radius

    def _distances(self) -> Array:
        """From head to target and, with a ball, from there to the destination: (count,) [m]."""
        if not self.swimmers.solid_balls:
            return self._to_target
        return self._to_target + _length(self.targets - self._destination)

    @property
    def targets(self) -> Array:
        """Where the balls, or the marks, are: (count, 2) [m]."""
        return self.swimmers.balls

    @property
    def in_region(self) -> BoolArray:
        """Which balls lie in the region around the destination: (count,)."""
        return _length(self.targets - self._destination) <= self.settings.region

    @property
    def delivered(self) -> BoolArray:
        """Which balls lie in the region after the snake has touched them and is clear of them: (count,)."""
        clear = self.settings.ball_radius + 2.0 * self.settings.snake.length
        nearest = _length(self.centres - self.targets[:, None]).min(axis=1)
        return self.in_region & self.touched & (nearest > clear)

    @property
    def done(self) -> BoolArray:
        """Which bodies have completed the task: (count,)."""
        return self.delivered if self.swimmers.solid_balls else self.reached

    def ends(self) -> tuple[BoolArray, BoolArray]:
        """Which bodies have completed the task, and which have exploded: (count,) each."""
        return self.done & ~self.exploded, self.exploded

    def values(self) -> Mapping[str, NDArray[Any]]:
        """What ``info`` holds: (count,) each."""
        succeeded = self.done & ~self.exploded
        return {
            "time": self.swimmers.time,
            "exploded": self.exploded,
            "is_success": succeeded,
            "tracking_error": self.tracking_error.copy(),
        }

    def outcomes(self) -> dict[str, Array]:
        """Results so far, as `Water` names them: (count,) each."""
        arrived, nothing = self.arrived, np.full(self.count, np.nan)
        time, x, y, direction, drive = np.where(arrived[:, None], self.arrival, self.progress()).T
        distance = np.hypot(x + 0.5 * self.settings.snake.arclength, y)
        return {
            "distance": distance,
            "speed": np.divide(distance, time, out=np.zeros(self.count), where=time > 0.0),
            "turn": direction,
            "drive": drive,
            "reached": arrived.astype(np.float64),
            "reach_time": np.where(arrived, time, np.nan),
            "delivered": self.delivered.astype(np.float64) if self.swimmers.solid_balls else nothing,
        }

    def progress(self) -> Array:
        """Time [s], centre of mass [m], mean yaw of the links [rad] and drive: (count, 5)."""
        swimmers = self.swimmers
        return np.column_stack([swimmers.time, self.centre, swimmers.heading, swimmers.drive])

    def observe(self) -> Array:
        """The observations, as `Water` describes them: (count, 8 + 2 joints), whatever the interface."""
        swimmers = self.swimmers
        fixed: tuple[Array, ...]
        if self.settings.interface == "normalised":
            fixed = self._egocentric()
        else:
            fixed = (swimmers.time[:, None], self.centre, swimmers.head[:, None], self.targets, self._destinations)
        seen = np.concatenate((*fixed, swimmers.angles, swimmers.rates), axis=1)
        if self.exploded.any():  # a state may be NaN or huge; the last observation is within its space all the same
            high = bounds(self.settings)
            seen = np.clip(np.nan_to_num(seen), -high, high)
        return seen

    def _egocentric(self) -> tuple[Array, ...]:
        """Phase, velocity [m/s], target and destination [m] in the frame of the head link: (count, 2) each."""
        phase = 2.0 * np.pi / self.settings.phase_period * self.swimmers.time
        c, s = np.cos(self.swimmers.head), np.sin(self.swimmers.head)

        def turned(vectors: Array) -> Array:
            x, y = vectors.T
            return np.column_stack([c * x + s * y, c * y - s * x])

        head = self.centres[:, 0]
        ahead = (turned(self.swimmers.velocity), turned(self.targets - head), turned(self._destinations - head))
        return (np.column_stack([np.cos(phase), np.sin(phase)]), *ahead)


def bounds(settings: WaterSettings) -> Array:
    """Largest magnitudes of what is observed: (8 + 2 joints,)."""
    joints = settings.snake.joints
    return np.concatenate([np.full(OBSERVED, FAR), np.full(joints, np.pi), np.full(joints, MAX_RATE)])


def scale(settings: WaterSettings) -> Array:
    """What a normalised observation is divided by: (8 + 2 joints,)."""
    snake = settings.snake
    long = np.full(4, snake.arclength)
    fixed = np.concatenate([np.ones(2), np.full(2, BODY_LENGTHS * snake.arclength), long])
    return np.concatenate([fixed, np.full(snake.joints, snake.max_angle), np.full(snake.joints, USUAL_RATE)])


def _length(vectors: Array) -> Array:
    return np.sqrt(vectors[..., 0] ** 2 + vectors[..., 1] ** 2)
