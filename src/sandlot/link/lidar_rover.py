"""A simulated rover with an emulated lidar: its scans are bytes on a line, which the driver of real lidars decodes.

The lidar measures in real time, so the rover also moves in real time: an order takes as long as it says.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import numpy as np

from sandlot.errors import DeviceError
from sandlot.geometry.planar import between, interpolate
from sandlot.link.lidar_emulator import PlanView
from sandlot.recordings.scans import Pose, Scan
from sandlot.robots.driver import Sensed
from sandlot.sensing.rplidar.device import KINDS, Device
from sandlot.sensing.rplidar.driver import open_lidar
from sandlot.sensing.rplidar.faults import Faults
from sandlot.sensing.rplidar.reading import LidarTurns
from sandlot.sensing.rplidar.serving import serve_tcp, serve_terminal
from sandlot.typing import Array
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.settings import IndoorSettings

PIECE = 0.02
"""An order is simulated in pieces of this length [s]."""
TURN = 2.0
"""Longest time for a turn of the lidar [s]."""
REMEMBERED = 5.0
"""How long poses are kept; the lidar and its line are at most so late [s]."""
RATE = 0.1
"""Speed and turn rate are those of odometry over this time [s]."""


class Trace:
    """Poses over time; one thread adds, others read."""

    def __init__(self, begin: float, pose: Array) -> None:
        """Begin with a pose (3,) at a time [s]."""
        self._known = deque([(begin, pose)])
        self._lock = threading.Lock()

    def add(self, end: float, pose: Array) -> None:
        """Be at a pose (3,) at a time [s]; not before the last one."""
        with self._lock:
            if end <= self._known[-1][0]:
                self._known.pop()
            self._known.append((end, pose))
            while len(self._known) > 2 and self._known[1][0] < end - REMEMBERED:
                self._known.popleft()

    def __call__(self, times: Array) -> Array:
        """Poses (n, 3) at times (n,) [s]; before the first and after the last pose the robot rests."""
        with self._lock:
            ends, poses = np.array([end for end, _ in self._known]), np.array([pose for _, pose in self._known])
        if len(ends) == 1:
            return np.repeat(poses, len(times), axis=0)
        low = np.clip(np.searchsorted(ends, times, side="right") - 1, 0, len(ends) - 2)
        share = np.clip((times - ends[low]) / (ends[low + 1] - ends[low]), 0.0, 1.0)
        return interpolate(poses[low], poses[low + 1], share)


class LidarRover:
    """A tracked rover in a floor plan, with an emulated RPLIDAR; a `sandlot.robots.driver.Driver`.

    Attributes:
        chassis: Size, speed and encoders.
        truth: What the rover cannot know.
        device: The emulated lidar.
        address: Of its line: a pseudo-terminal, or ``HOST:PORT``.
    """

    def __init__(self, settings: IndoorSettings, seed: int = 0, faults: Faults | None = None, kind: str = "A1") -> None:
        """Switch the rover and its lidar on.

        Args:
            settings: Of the indoor world; its robot is the tracked one.
            seed: Of start, slip and errors.
            faults: Of the line of the lidar.
            kind: Of lidar, one of `sandlot.sensing.rplidar.device.KINDS`.
        """
        self._rover, self.truth = simulate(settings, seed)
        self.chassis = self._rover.chassis
        self._begin = time.monotonic()
        self._true, self._odometry = Trace(self._begin, self.truth.pose), Trace(self._begin, np.zeros(3))
        self._speeds, self._until, self._simulated = (0.0, 0.0), self._begin, 0.0
        self._last = Sensed(0.0, Pose(0.0, 0.0, 0.0), (0, 0), ())
        lidar = settings.lidar.model_copy(update={"turns": KINDS[kind].turns})
        self.device = Device(PlanView(self.truth.plan, self._true, lidar, seed), KINDS[kind], faults, seed=seed)
        self._parts = ExitStack()
        try:
            served = self._parts.enter_context(serve_terminal(self.device))
            port, tcp = served.address, None
        except DeviceError:  # this system has no pseudo-terminals
            served = self._parts.enter_context(serve_tcp(self.device))
            port, tcp = None, served.address
        self.address = served.address
        try:
            self._turns = LidarTurns(lambda: open_lidar(port, tcp))
        except BaseException:
            self._parts.close()
            raise
        self._parts.callback(self._turns.close)

    def drive(self, left: float, right: float, seconds: float) -> Sensed:
        """Let the tracks run at these speeds [m/s] for a time [s]; they go on until the next order."""
        self._catch_up()
        scans, left_over = list[Scan](), seconds
        while left_over > 1e-9:
            piece = min(PIECE, left_over)
            self._speeds = left, right
            self._follow(partial(self._rover.drive, left, right, piece))
            left_over -= piece
            scans += self._take()
        return self._sensed(scans)

    def halt(self) -> Sensed:
        """Switch both motors off, and return when the tracks are at rest."""
        self._catch_up()
        self._speeds = 0.0, 0.0
        self._follow(self._rover.halt)
        return self._sensed(self._take())

    def scan(self, turns: int = 1) -> Sensed:
        """Halt, and let the lidar make so many whole turns at rest; only these are returned.

        Raises:
            DeviceError: If the lidar sends nothing.
        """
        self.halt()
        rested, scans = time.monotonic() - self._begin, list[Scan]()
        while len(scans) < turns:
            time.sleep(0.25 * PIECE)
            scans += [scan for scan in self._take() if scan.began >= rested]
            if time.monotonic() - self._begin > rested + TURN * (turns + 1):
                raise DeviceError(f"the lidar made {len(scans)} of {turns} turns; check its power and its cable")
        return self._sensed(scans[:turns])

    def close(self) -> None:
        """Switch the lidar off."""
        self._parts.close()

    def _catch_up(self) -> None:
        """Simulate the time since the last order, in which the tracks went on; at rest nothing changes."""
        now = time.monotonic()
        if self._speeds == (0.0, 0.0):
            for trace, pose in ((self._true, self.truth.pose), (self._odometry, _array(self._last.odometry))):
                trace.add(now, pose)
            self._until = now
        elif now - self._until > self.chassis.tick:
            self._follow(partial(self._rover.drive, *self._speeds, now - self._until))

    def _follow(self, order: Callable[[], Sensed]) -> None:
        """Execute an order of the simulated rover, and wait until it would be over."""
        known = len(self.truth.path)
        sensed = order()
        seconds = sensed.time - self._simulated
        poses = self.truth.path[known:]
        for k, pose in enumerate(poses, 1):
            self._true.add(self._until + seconds * k / len(poses), pose)
        self._until, self._simulated, self._last = self._until + seconds, sensed.time, sensed
        self._odometry.add(self._until, _array(sensed.odometry))
        wait = self._until - time.monotonic()
        if wait > 0.0:
            time.sleep(wait)

    def _take(self) -> list[Scan]:
        """The turns of the lidar since the last call, with odometry at their ends."""
        found = []
        for scan in self._turns.take():
            before, pose = self._odometry(np.array([scan.time - RATE, scan.time]))
            x, y, yaw = pose.tolist()
            ahead, _, turn = between(before, pose).tolist()
            found.append(
                replace(
                    scan,
                    time=scan.time - self._begin,
                    odometry=Pose(x, y, yaw),
                    speed=ahead / RATE,
                    turn_rate=turn / RATE,
                )
            )
        return found

    def _sensed(self, scans: list[Scan]) -> Sensed:
        return Sensed(time.monotonic() - self._begin, self._last.odometry, self._last.counts, tuple(scans))


def _array(pose: Pose) -> Array:
    return np.array([pose.x, pose.y, pose.yaw])
