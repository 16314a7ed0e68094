"""A rover without physics, and a server around it in a thread of its own."""

import asyncio
import math
import threading
import time
from contextlib import contextmanager

import numpy as np

from sandlot.link.proofs import new_token
from sandlot.link.server import Server
from sandlot.recordings.scans import Pose, Scan
from sandlot.robots.driver import Chassis, Sensed

TURN = 0.2
"""Time of a turn of the lidar [s]."""
BEARINGS = np.linspace(-math.pi, math.pi, 90, endpoint=False)


class ToyRover:
    """Drives as it is told, in an empty square room; keeps every order."""

    def __init__(self, tick=0.01, blocking=False):
        self.chassis = Chassis(0.15, 0.3, 0.4, 0.001, tick)
        self.time, self.x, self.yaw, self.speeds, self.orders = 0.0, 0.0, 0.0, (0.0, 0.0), []
        self.blocking = blocking
        self.halted_at = 0.0

    def drive(self, left, right, seconds):
        if (left, right) != self.speeds:
            self.orders.append((left, right))
        self.speeds = left, right
        if self.blocking:
            time.sleep(seconds)
        self.x += 0.5 * (left + right) * seconds
        self.yaw += (right - left) / 0.4 * seconds
        completed = math.floor((self.time + seconds) / TURN) > math.floor(self.time / TURN)
        return self._sensed(seconds, (self._turn(self.time + seconds),) if completed else ())

    def halt(self):
        self.speeds, self.halted_at = (0.0, 0.0), time.monotonic()
        self.orders.append("halt")
        return self._sensed(self.chassis.tick, ())

    def scan(self, turns=1):
        self.speeds = 0.0, 0.0
        scans = []
        for _ in range(turns):
            self.time += TURN
            scans.append(self._turn(self.time))
        return self._sensed(0.0, tuple(scans))

    def _turn(self, time):
        """A turn of the lidar; the room moves with the rover, which therefore seems to stand."""
        angle = BEARINGS + self.yaw
        ranges = 2.0 / np.maximum(np.abs(np.cos(angle)), np.abs(np.sin(angle)))
        return Scan(time, ranges.astype(np.float32), BEARINGS, odometry=self._pose())

    @property
    def moving(self):
        return self.speeds != (0.0, 0.0)

    def _pose(self):
        return Pose(self.x, 0.0, self.yaw)

    def _sensed(self, seconds, scans):
        self.time += seconds
        return Sensed(self.time, self._pose(), (0, 0), scans)


class Served:
    """A server that runs in a thread."""

    def __init__(self, driver, token=None, port=0, tls=None, **options):
        self.driver, self.token = driver, token or new_token()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.server = Server(driver, self.token, **options)
        self._await(self.server.open("127.0.0.1", port, tls))
        self.port = self.server.address[1]

    def _await(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20.0)

    def close(self):
        self._await(self.server.close())
        self.loop.call_soon_threadsafe(self.loop.stop)

    def kill(self):
        """End as a killed process does: sockets vanish, and nobody drives any more."""
        for connection in list(self.server.connections):
            self.loop.call_soon_threadsafe(connection._transport.abort)
        self.close()


@contextmanager
def serving(driver=None, **options):
    served = Served(driver or ToyRover(), **options)
    try:
        yield served
    finally:
        served.close()


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)
