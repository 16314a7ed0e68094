"""Lets a rover navigate by what it senses: scans to a mapper, its poses to a navigator, commands to the tracks."""

from collections.abc import Iterator
from typing import NamedTuple

from sandlot.control.navigation.driving import STOP, Command
from sandlot.control.navigation.navigator import Navigator
from sandlot.mapping.mapper import Mapper
from sandlot.recordings.scans import Pose, Scan
from sandlot.robots.driver import Driver

LOST = 30
"""After so many scans in a row that fit nowhere, the rover stops for good."""
BLIND = 1.0
"""Without a scan for so long, the rover stops [s]."""
CARRIED = "lost: the scans no longer fit the map; the rover may have been carried"


class Step(NamedTuple):
    """What a pilot did with a scan.

    Attributes:
        time: Of the scan [s].
        pose: Where the rover believes to be.
        command: What it does next.
        rebuilt: Whether a loop was closed and the map was built again.
    """

    time: float
    pose: Pose
    command: Command
    rebuilt: bool


class Pilot:
    """Drives a rover by its own estimate of where it is.

    When the mapper closes a loop, all earlier poses change: the map is then built again from all scans. Where the
    mapper refuses a scan, the rover stops until one fits again. If the mapper has begun a new part of its map, which
    nothing connects with the part before, the rover may have been carried: it stays where it is and reports that.

    Attributes:
        driver: The rover.
        navigator: Decides.
        mapper: Knows where the rover is; its first scan is at the origin of the map.
    """

    def __init__(self, driver: Driver, navigator: Navigator, mapper: Mapper | None = None) -> None:
        """Take a rover at rest."""
        self.driver, self.navigator, self.mapper = driver, navigator, mapper or Mapper()
        self._closed = self._restarts = 0
        self._lost = 0

    def run(self, seconds: float) -> Iterator[Step]:
        """Drive until the navigator stops or the time is over, scan by scan; then halt.

        Args:
            seconds: At most so long [s].
        """
        sensed = self.driver.scan()
        end, seen = sensed.time + seconds, sensed.time
        try:
            while True:
                for scan in sensed.scans:
                    step = self.take(scan)
                    yield step
                    command = step.command
                if sensed.scans:
                    seen = sensed.time
                elif sensed.time - seen > BLIND:
                    self.navigator.halt()
                    self.navigator.report = f"the lidar has sent nothing for {BLIND:g} s"
                if self.navigator.state != "driving" or sensed.time >= end:
                    break
                tracks = self.driver.chassis.tracks(*command)
                sensed = self.driver.drive(*tracks, self.navigator.mobility.interval)
        finally:  # also after an error, or if the caller takes no more steps: tracks go on until the next order
            self.driver.halt()

    def take(self, scan: Scan) -> Step:
        """Use a scan: update pose and map, and decide what to do."""
        estimate = self.mapper.add(scan)
        rebuilt = len(self.mapper.loops.found) > self._closed
        if rebuilt:
            self._closed = len(self.mapper.loops.found)
            rebuilt = self.navigator.rebuild(self.mapper.trajectory())
        if problem := estimate.reason or self._apart():
            self._lost += 1
            if self._lost >= LOST:
                self.navigator.halt()
            self.navigator.report = problem
            return Step(scan.time, estimate.pose, STOP, rebuilt)
        self._lost = 0
        return Step(scan.time, estimate.pose, self.navigator.step(scan, estimate.pose), rebuilt)

    def _apart(self) -> str:
        """Why the pose is not one in the map, if the mapper has begun a part that nothing connects with the others."""
        if self.mapper.restarts > self._restarts and self.mapper.loops.parts(self.mapper.submaps) > 1:
            return CARRIED
        self._restarts = self.mapper.restarts
        return ""
