"""Thousands of climbing robots at once to train a policy in: each another robot, on another obstacle.

Robots differ in masses, lengths, friction and motors, and perceive the ground with noise. An obstacle that is passed is
followed by a higher one of its kind, one that is not by a lower one.
"""

import numpy as np
from pydantic import Field

from sandlot.control.climbing.senses import (
    ACTIONS,
    AXLES,
    BEHIND,
    CELL,
    FEATURES,
    PITCH,
    PITCH_RATE,
    SPEED,
    STATES,
    UP,
    sense,
    steer,
)
from sandlot.learning.obstacle_pool import DISTANCE, LEVELS, NAMES, Pool, SteepStairs
from sandlot.physics.climbing.elevation import elevations
from sandlot.physics.climbing.ground import Ground
from sandlot.robots.climber import Climber
from sandlot.robots.climbers import INTERVAL, Start
from sandlot.robots.fast_climbers import FastClimbers, record
from sandlot.settings import Settings
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.obstacles.task import BEYOND, PROGRESS, UPRIGHT

FALLEN = -0.2
"""Cosine of the tilt beyond which a robot has fallen; stricter than in the world, to keep policies away from it."""
STEEP = np.deg2rad(50.0)
"""Pitch from which a descent is a dive, which succeeds in one model and fails in another [rad]."""
GENTLE = 0.4
"""Speed of sinking of a descent without a drop [m/s]."""


class Randomness(Settings):
    """How much robots and their perception differ; each a range to either side.

    Attributes:
        size: Share of lengths.
        mass: Share of masses.
        motor: Share of torques, thrusts and speeds.
        load: Place of the body's mass centre [m].
        friction: Share of the friction of belts and body.
        bias: Height of the whole profile, and its shift along x, for an episode [m].
        noise: Standard deviation of each cell, at each step [m].
        angle: Standard deviation of pitch and axle angles, at each step [rad].
    """

    size: float = Field(0.06, ge=0.0, le=0.5)
    mass: float = Field(0.2, ge=0.0, le=0.9)
    motor: float = Field(0.15, ge=0.0, le=0.9)
    load: float = Field(0.02, ge=0.0, le=0.2)
    friction: float = Field(0.25, ge=0.0, le=0.9)
    bias: float = Field(0.02, ge=0.0, le=0.2)
    noise: float = Field(0.01, ge=0.0, le=0.2)
    angle: float = Field(0.01, ge=0.0, le=0.2)


class Reward(Settings):
    """What a step is worth, per metre of progress.

    Attributes:
        passed: For passing the obstacle.
        fallen: Taken off for falling.
        stuck: Taken off for getting stuck.
        height: Per metre of height.
        time: Taken off for each step.
        torque: Taken off for each step with full torque of both axles.
        turning: Taken off per squared pitch rate [s^2/rad^2].
        tilt: Taken off for each step in which the robot stands upright or beyond.
        dive: Taken off for each step in which its nose points down by more than `STEEP`.
        drop: Taken off per squared speed of sinking beyond `GENTLE` [s^2/m^2].
    """

    passed: float = 1.0
    fallen: float = 2.0
    stuck: float = 0.5
    height: float = 0.3
    time: float = 0.003
    torque: float = 0.003
    turning: float = 0.001
    tilt: float = 0.02
    dive: float = 0.03
    drop: float = 0.1


class ClimbBatch:
    """A batch of robots for `sandlot.learning.ppo`: `reset` once, then `step`; robots that end begin again.

    Attributes:
        count: How many robots.
        features: Number of observations of each.
        actions: Number of its actions.
        levels: (count,) present level of each robot's obstacle.
        kinds: (count,) index of its kind in `NAMES`.
        outcomes: (kinds, 2) episodes that ended since the last reading, and how many of them passed.
    """

    features, actions = FEATURES, ACTIONS

    def __init__(
        self,
        climber: Climber,
        count: int,
        rng: np.random.Generator,
        *,
        randomness: Randomness | None = None,
        reward: Reward | None = None,
        each: int = 40,
        steep: SteepStairs | None = None,
        patience: float = 4.0,
        seconds: float = 30.0,
        step: float = 0.005,
        threads: int = 1,
    ) -> None:
        """Draw robots and obstacles.

        Args:
            climber: The robot that all others are like.
            count: How many robots.
            rng: All randomness comes from it.
            randomness: How robots differ.
            reward: What a step is worth.
            each: Obstacles of each kind and level.
            steep: Steep stairs and their share; none if left out.
            patience: A robot that has not come further for so long is stuck [s].
            seconds: An episode is truncated after this long [s].
            step: Of the physics [s].
            threads: Among which the robots are divided.
        """
        self.count, self._rng = count, rng
        self._limit, self._patience = round(seconds / INTERVAL), round(patience / INTERVAL)
        self._randomness, self._reward = randomness or Randomness(), reward or Reward()
        self._nominal, self.pool = record(climber)[0], Pool(each, rng, steep or SteepStairs())
        self.climbers = FastClimbers(climber, [self.pool.courses[0]] * count, step=step, threads=threads)
        segments, cells, extent = (np.zeros((count, *part.shape[1:]), part.dtype) for part in self.pool.ground)
        self.climbers.ground = Ground(segments, cells, extent)
        self.kinds = np.searchsorted(np.cumsum(self.pool.shares), (np.arange(count) + 0.5) / count)
        self.levels = rng.integers(0, 3, size=count)
        self.outcomes = np.zeros((len(NAMES), 2), np.int64)
        self._targets, self._speeds = np.zeros((count, 2)), np.zeros(count)
        self._bias, self._finish = np.zeros((count, 2)), np.zeros(count)
        self._furthest, self._since, self._age = np.zeros(count), np.zeros(count, np.int64), np.zeros(count, np.int64)

    def reset(self) -> Array:
        """Begin all episodes; returns the observations (count, features)."""
        self._begin(np.arange(self.count))
        # Robots that all begin at once would also all end at once.
        self._age[:] = self._rng.integers(0, self._limit // 2, self.count)
        return self._observe()

    def step(self, actions: Array) -> tuple[Array, Array, BoolArray, BoolArray]:
        """Simulate until the next command.

        Args:
            actions: (count, actions)

        Returns:
            Observations after the step (count, features), of robots that begin again those of their new beginning;
            rewards (count,); which robots ended, and which ran out of time instead (count,).
        """
        climbers, reward = self.climbers, self._reward
        before, low = np.minimum(self._x, self._finish), self._z
        self._targets, self._speeds = steer(actions, climbers.axles, self._targets)
        belts = SPEED * self._speeds
        climbers.command(np.column_stack([self._targets, belts, belts]))
        self._look()
        exploded = climbers.exploded
        effort = np.square(climbers.axle_torques / self._nominal.axle_torque).mean(axis=1)
        gained = np.minimum(self._x, self._finish) - before + reward.height * (self._z - low)
        gained -= reward.time + reward.torque * effort + reward.turning * np.square(self._states[:, PITCH_RATE])
        gained -= reward.tilt * (self._tilt < 0.2) + reward.dive * (self._states[:, PITCH] > STEEP)
        gained -= reward.drop * np.square(np.maximum(-self._states[:, UP] - GENTLE, 0.0))
        self._age += 1
        advanced = self._x > self._furthest + PROGRESS
        self._furthest = np.where(advanced, self._x, self._furthest)
        self._since = np.where(advanced, 0, self._since + 1)
        passed, fallen = (self._x >= self._finish) & (self._tilt > UPRIGHT), self._tilt < FALLEN
        stuck = (self._since >= self._patience) & ~passed & ~fallen
        gained += reward.passed * passed - reward.fallen * fallen - reward.stuck * stuck
        gained[exploded] = 0.0
        ended = passed | fallen | stuck | exploded
        late = (self._age >= self._limit) & ~ended
        over = np.flatnonzero(ended | late)
        if over.size:
            np.add.at(self.outcomes, self.kinds[over], np.stack([np.ones(over.size, np.int64), passed[over]], 1))
            self._promote(over, passed[over], late[over])
            self._begin(over)
        return self._observe(), gained, ended, late

    def _promote(self, which: IntArray, passed: BoolArray, late: BoolArray) -> None:
        """Choose the level of the next obstacles; past the highest any level. Those who ran out of time keep theirs."""
        levels = self.levels[which] + np.where(passed, 1, np.where(late, 0, -1))
        anywhere = self._rng.integers(0, LEVELS, which.size)
        self.levels[which] = np.where(levels >= LEVELS, anywhere, np.maximum(levels, 0))

    def _begin(self, which: IntArray) -> None:
        """Begin episodes with other robots on other obstacles."""
        rng, climbers = self._rng, self.climbers
        chosen = self.pool.pick(self.kinds[which], self.levels[which], rng)
        for mine, pool in zip(climbers.ground, self.pool.ground, strict=True):
            mine[which] = pool[chosen]
        courses = [self.pool.courses[k] for k in chosen]
        for k, course in zip(which.tolist(), courses, strict=True):
            climbers.courses[k] = course
        self._draw_robots(which)
        axles = rng.uniform(-0.5, 0.8, (which.size, 2)) * (rng.uniform(size=(which.size, 1)) < 0.5)
        places = rng.uniform(-0.2, DISTANCE - 0.55, which.size)
        climbers.restart(which, None, [Start(x, 0.0, tuple(row)) for x, row in zip(places, axles, strict=True)])
        self._finish[which] = [course.end + BEYOND for course in courses]
        self._targets[which], self._speeds[which] = axles, 0.0
        self._bias[which] = rng.uniform(-1.0, 1.0, (which.size, 2)) * self._randomness.bias
        self._age[which], self._since[which], self._furthest[which] = 0, 0, places
        self._look()

    def _draw_robots(self, which: IntArray) -> None:
        given, rng, robots, nominal = self._randomness, self._rng, self.climbers.robots, self._nominal

        def share(names: tuple[str, ...], spread: float) -> None:
            for name in names:
                robots[name][which] = nominal[name] * rng.uniform(1.0 - spread, 1.0 + spread, which.size)

        share(("half_span", "wheel", "tip", "reach"), given.size)
        share(("body_mass", "front_mass", "body_inertia", "front_inertia"), given.mass)
        robots.back_mass[which], robots.back_inertia[which] = robots.front_mass[which], robots.front_inertia[which]
        share(("axle_speed", "axle_torque", "thrust", "belt_speed"), given.motor)
        share(("grip", "belly_grip"), given.friction)
        for name in ("load_x", "load_z"):
            robots[name][which] = nominal[name] + rng.uniform(-given.load, given.load, which.size)

    def _look(self) -> None:
        """Read the robots once for each step."""
        climbers = self.climbers
        position = climbers.position
        self._x, self._z = position[:, 0], position[:, 2]
        attitude, self._axles = climbers.attitude, climbers.axles
        self._tilt = np.cos(attitude[:, 1])
        self._states = np.concatenate([attitude[:, :2], climbers.velocity, climbers.rates, self._axles], axis=1)

    def _observe(self) -> Array:
        given, rng = self._randomness, self._rng
        profile = np.empty((self.count, FEATURES - STATES))
        starts = np.column_stack([self._x - (BEHIND - 0.5) * CELL, self._z]) + self._bias
        elevations(self.climbers.ground, np.arange(self.count), starts, np.ones(self.count), CELL, profile)
        profile += given.noise * rng.standard_normal(profile.shape)
        states = self._states.copy()
        states[:, [PITCH, AXLES, AXLES + 1]] += given.angle * rng.standard_normal((self.count, 3))
        return sense(states, self._targets, self._speeds, profile)
