"""An emulated lidar in a floor plan: what it measures comes from the rays of the indoor world.

`emulate` makes the device on a robot that wanders; `sandlot.sensing.rplidar.serving` puts it behind a port. On a rover
that is simulated elsewhere, give `PlanView` a function of its poses.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sandlot.control.wandering import Wander, Wanderer
from sandlot.geometry.planar import interpolate
from sandlot.places.plans import Plan
from sandlot.robots.round_robot import RoundRobot
from sandlot.sensing.laser import Laser
from sandlot.sensing.rplidar.answers import Health
from sandlot.sensing.rplidar.device import HEALTHY, KINDS, Device
from sandlot.sensing.rplidar.faults import Faults
from sandlot.sensing.spinning_lidar import NEAR, SpinningLidar
from sandlot.settings import build
from sandlot.typing import Array
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.task import IndoorTask

Poses: TypeAlias = Callable[[Array], Array]
"""Poses (n, 3) x, y [m], yaw [rad] of the lidar at times (n,) [s], which never go back by more than a turn."""
RADIUS, SPEED, TURN_RATE = 0.2, 0.3, 0.5
"""Of the robot that wanders [m, m/s, rad/s]."""
TICK = 0.1
"""Time between its steps [s]."""
REMEMBERED = 100
"""Its last steps."""


class PlanView:
    """What a lidar measures in a floor plan.

    Args:
        plan: Walls and furniture.
        poses: Of the lidar.
        lidar: Its errors and its range; the other settings are not used.
        seed: Of the errors.
    """

    def __init__(self, plan: Plan, poses: Poses, lidar: SpinningLidar | None = None, seed: int = 0) -> None:
        self._plan, self._poses, self._lidar = plan, poses, lidar or SpinningLidar()
        self._rng = np.random.default_rng(seed)
        given = self._lidar
        faults = {name: getattr(given, name) for name in ("max_range", "missing", "specular", "divergence", "mixed")}
        # Three neighbouring beams: edges between them may mix.
        angle = 3.0 * given.field_of_view / given.beams
        self._beams = Laser(beams=3, field_of_view=angle, noise=0.0, noise_growth=0.0, **faults)

    def __call__(self, bearings: Array, times: Array) -> Array:
        """Ranges (n,) [m], NaN without a return, of beams in directions (n,) [rad] at times (n,) [s]."""
        poses, given = self._poses(times).copy(), self._lidar
        poses[:, 2] += bearings
        ranges = np.ascontiguousarray(self._beams.scan(self._plan, poses, self._rng, threads=1)[:, 1])
        deviation = np.where(ranges <= NEAR, given.noise, given.noise_growth * ranges)
        ranges += deviation * self._rng.standard_normal(len(ranges))
        ranges[~(ranges >= given.min_range)] = np.nan
        return ranges


class Walk:
    """Poses of a robot that wanders through the indoor world, from the time on that is asked for first.

    Args:
        plan: Name or path of a floor plan.
        seed: Of its start and its turns.
        moving: Whether it moves at all.

    Attributes:
        plan: Walls and furniture.
    """

    def __init__(self, plan: str | Path, seed: int = 0, moving: bool = True) -> None:
        laser = Laser(beams=90, noise=0.0, noise_growth=0.0)
        body = RoundRobot(radius=RADIUS, top_speed=SPEED, top_turn=TURN_RATE, turn_acceleration=1.0)
        settings = build(IndoorSettings, {"plan": plan, "robot": body, "laser": laser, "interval": TICK})
        self._task, self._rng = IndoorTask(settings, threads=1), np.random.default_rng(seed)
        self._task.restart(self._task.all, self._task.floor.draw_pose(self._rng)[None], [self._rng])
        wander = Wander(speed=SPEED, turn_rate=TURN_RATE, radius=RADIUS)
        self._wanderer = Wanderer(wander, laser.bearings, TICK, np.random.SeedSequence(seed))
        self.plan, self._moving = self._task.plan, moving
        self._begin = math.nan
        self._first, self._trace = 0, [self._task.poses[0]]  # number of the first step that is remembered

    def __call__(self, times: Array) -> Array:
        """Poses (n, 3) at times (n,) [s]."""
        if not len(times):
            return np.zeros((0, 3))
        if not self._moving:
            return np.repeat(self._trace[0][None], len(times), axis=0)
        if math.isnan(self._begin):
            self._begin = float(times[0])
        at = np.maximum((times - self._begin) / TICK - self._first, 0.0)
        while len(self._trace) < at.max() + 2.0:
            self._task.drive(self._wanderer(self._task.observe()[0])[None], [self._rng])
            self._trace.append(self._task.poses[0])
        low = at.astype(np.int64)
        trace = np.array(self._trace)
        poses = interpolate(trace[low], trace[low + 1], at - low)
        forgotten = max(len(self._trace) - REMEMBERED, 0)
        del self._trace[:forgotten]
        self._first += forgotten
        return poses


def emulate(
    plan: str | Path,
    kind: str = "A1",
    seed: int = 0,
    moving: bool = True,
    faults: Faults | None = None,
    health: Health = HEALTHY,
) -> Device:
    """A lidar on a robot that wanders through a floor plan.

    Args:
        plan: Name of a shipped plan, ``random``, or a path.
        kind: One of `sandlot.sensing.rplidar.device.KINDS`.
        seed: Of the walk, the errors of ranges, and the faults.
        moving: Whether the robot moves.
        faults: Of the line to the host.
        health: At the beginning.

    Raises:
        SandlotError: The plan cannot be read, or has no room.
    """
    walk, chosen = Walk(plan, seed, moving), KINDS[kind]
    lidar = SpinningLidar(max_range=chosen.modes[-1].max_range, turns=chosen.turns)
    return Device(PlanView(walk.plan, walk, lidar, seed), chosen, faults, health, seed)
