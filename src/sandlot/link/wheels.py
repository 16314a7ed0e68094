"""The only way to the motors: a rover (`Driver`) whose orders run in short pieces and can be stopped from any thread.

A thread of its own brakes: it waits for nothing but the piece that runs. So a rover halts at once, also while a
controller calculates. A simulated rover is paced by the clock.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from sandlot.link.queue import Entry
from sandlot.recordings.scans import Scan
from sandlot.robots.driver import Chassis, Driver, Sensed

LONGEST = 0.02
"""Of a piece of an order [s]."""
LATE = 0.7
"""Moving tracks are stopped if there is no new order for so long [s]: whoever drives takes too long to decide."""
CHECK = 0.05
"""Between two looks at what must be watched [s]."""
KEPT = 1024
"""Times of braking that are remembered."""
AGAIN = 0.005
"""Before a halt that failed is tried again [s]."""
SWITCH_OFF = 4.0
"""For so long a halt that fails is tried again when the rover is switched off [s]."""


class HaltedError(Exception):
    """An order was stopped before its end."""


class Wheels:
    """A `Driver` that can be stopped.

    Attributes:
        chassis: Of the rover.
        moving: Whether the last order lets the tracks run.
        late: How often tracks were stopped because no new order came in time.
        entry: The order that moves now; its ``stop`` ends it.
        between: Called after each piece with what was sensed.
        watch: Called 20 times a second by the braking thread.
        braked: When `brake` had its effect, the last times, by `time.monotonic` [s].
    """

    def __init__(self, driver: Driver, pace: float = 0.0) -> None:
        """Take a rover at rest.

        Args:
            driver: The rover.
            pace: Simulated seconds in a second; 0 for a real rover, or to simulate as fast as possible.
        """
        self._driver, self._pace = driver, pace
        self.chassis: Chassis = driver.chassis
        self.moving, self.late = False, 0
        self.entry: Entry | None = None
        self.between: Callable[[Sensed], None] = lambda sensed: None
        self.watch: Callable[[], None] = lambda: None
        self.braked: deque[float] = deque(maxlen=KEPT)
        self._lock, self._stop, self._woken = threading.Lock(), threading.Event(), threading.Event()
        self._ordered = time.monotonic()
        self._epoch: tuple[float, float] | None = None
        self._then: deque[Callable[[], None]] = deque()
        self._closed = False
        self._thread = threading.Thread(target=self._brake, name="brake", daemon=True)
        self._thread.start()

    def drive(self, left: float, right: float, seconds: float) -> Sensed:
        """Let the tracks run at these speeds [m/s] for a time [s]; they go on until the next order.

        Raises:
            HaltedError: If the order was stopped.
        """
        tick = self.chassis.tick
        left_over, piece = max(round(seconds / tick), 1), max(int(LONGEST / tick), 1)
        scans: list[Scan] = []
        while left_over > 0:
            ticks = min(piece, left_over)
            with self._lock:
                self._check()
                self.moving = left != 0.0 or right != 0.0
                self._ordered = time.monotonic() + 3600.0  # the piece itself is not late
                try:
                    sensed = self._driver.drive(left, right, ticks * tick)
                finally:
                    self._ordered = time.monotonic()
            left_over -= ticks
            scans += sensed.scans
            self._after(sensed)
        return Sensed(sensed.time, sensed.odometry, sensed.counts, tuple(scans))

    def halt(self) -> Sensed:
        """Switch both motors off, and return when the tracks are at rest; this is never refused."""
        with self._lock:
            sensed = self._driver.halt()
            self.moving = False
        self.between(sensed)
        return sensed

    def scan(self, turns: int = 1) -> Sensed:
        """Halt, and let the lidar make so many whole turns at rest.

        Raises:
            HaltedError: If the order was stopped.
        """
        scans: list[Scan] = []
        for _ in range(turns):
            with self._lock:
                self._check()
                self.moving = False
                sensed = self._driver.scan(1)
            scans += sensed.scans
            self._after(sensed)
        return Sensed(sensed.time, sensed.odometry, sensed.counts, tuple(scans))

    def brake(self, after: Callable[[], None] | None = None) -> None:
        """Stop the motors as soon as the present piece of an order is over; does not wait for that.

        Args:
            after: Called by the braking thread when the motors are off.
        """
        if after is not None:
            self._then.append(after)
        self._stop.set()
        self._woken.set()

    def close(self) -> None:
        """Stop the motors for good."""
        self._closed = True
        self.brake()
        self._thread.join(timeout=SWITCH_OFF + 1.0)

    def _check(self) -> None:
        if self._closed or (self.entry is not None and self.entry.stop):
            raise HaltedError(self.entry.stop if self.entry is not None and self.entry.stop else "switched off")

    def _after(self, sensed: Sensed) -> None:
        self.between(sensed)
        if self._pace <= 0.0:
            return
        now = time.monotonic()
        if self._epoch is None or now - self._epoch[0] - (sensed.time - self._epoch[1]) / self._pace > 0.25:
            self._epoch = now, sensed.time  # it rested or is too slow: begin anew rather than hurry
        wait = self._epoch[0] + (sensed.time - self._epoch[1]) / self._pace - now
        if wait > 0.0:
            self._woken.wait(wait)

    def _brake(self) -> None:
        while not self._closed:
            if self._stop.wait(CHECK):
                self._stop.clear()
                if self._halt():
                    self._woken.clear()
                    while self._then:
                        with suppress(Exception):  # nothing may end this thread
                            self._then.popleft()()
            elif self.moving and time.monotonic() - self._ordered > LATE:
                self.late += 1
                self._halt()
            try:
                self.watch()
            except Exception:  # a rover that nobody watches must not move
                self._halt()
        end = time.monotonic() + SWITCH_OFF
        while not self._halt() and time.monotonic() < end:
            pass

    def _halt(self) -> bool:
        """Stop the motors, or try again soon; returns whether they are off."""
        with self._lock:
            if self.moving:
                try:
                    self._driver.halt()
                except Exception:  # of a pin or a sensor: nothing may end this thread
                    time.sleep(AGAIN)
                    self._stop.set()
                    return False
                self.moving = False
            self.braked.append(time.monotonic())
        return True
