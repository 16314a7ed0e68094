"""What a rover does in its three modes (6.2), with its `Wheels`, its map and its pilot."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.control.navigation.driving import Mobility
from sandlot.control.navigation.navigator import Mode as NavigatorMode
from sandlot.control.navigation.navigator import Navigator
from sandlot.control.navigation.near import Avoidance
from sandlot.control.navigation.pilot import Pilot
from sandlot.control.navigation.precise import PreciseManeuvers
from sandlot.errors import LinkError
from sandlot.link.data import describe
from sandlot.link.messages import MAX_DURATION, CorrectedMove, Descriptor, Direction, ManualMove, Mode, SetWaypoint
from sandlot.link.wheels import Wheels
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.grids.geometry import Grid
from sandlot.mapping.grids.reputation import ReputationMap
from sandlot.recordings.scans import Pose, Scan

MM = 1000.0
"""Millimetres of a metre."""
SIDES: dict[Direction, tuple[float, float]] = {
    "forwards": (1.0, 1.0),
    "backwards": (-1.0, -1.0),
    "left": (-1.0, 1.0),
    "right": (1.0, -1.0),
}
"""Which way the left and the right track run."""
NAMES: dict[Mode, NavigatorMode] = {"MANUAL": "manual", "SEMI": "semi-autonomous", "AUTO": "autonomous"}
SIZE, RESOLUTION = 40.0, 0.05
"""Sides of the map, and of a cell [m]."""


def new_map() -> CellMap:
    """An empty map with the place where mapping begins in its middle."""
    cells = round(SIZE / RESOLUTION)
    return ReputationMap(Grid((-0.5 * SIZE, -0.5 * SIZE), RESOLUTION, (cells, cells)))


class Modes:
    """The rover's mode, and what it knows.

    Attributes:
        mode: Of autonomy.
        pilot: Maps and drives; None in the manual mode.
        pose: Where the rover believes to be: in its map, or by odometry in the manual mode.
    """

    def __init__(self, wheels: Wheels, avoidance: Avoidance | None = None) -> None:
        """Begin in the manual mode.

        Args:
            wheels: Of the rover.
            avoidance: If given, it steers near obstacles in the other modes.
        """
        self._wheels, self._avoidance = wheels, avoidance
        self.mode: Mode = "MANUAL"
        self.pilot: Pilot | None = None
        self.pose = Pose(0.0, 0.0, 0.0)

    def change(self, mode: Mode) -> None:
        """Change the mode. A map begins where the manual mode is left; the others share it."""
        if mode == "MANUAL":
            self.pilot = None
        elif self.pilot is None:
            chassis = self._wheels.chassis
            mobility = Mobility(radius=chassis.radius, top_speed=chassis.top_speed)
            self.pilot = Pilot(self._wheels, Navigator(new_map(), mobility, NAMES[mode], self._avoidance))
            self.pose = Pose(0.0, 0.0, 0.0)
        else:
            self.pilot.navigator.set_mode(NAMES[mode])
        self.mode = mode

    def move(self, order: ManualMove) -> str:
        """Let the tracks run; returns a report.

        Raises:
            LinkError: In another mode.
        """
        if self.mode != "MANUAL":
            raise LinkError(f"manual moves need the mode MANUAL; the mode is {self.mode}")
        seconds, speed = min(order.duration, MAX_DURATION), self._wheels.chassis.top_speed
        left, right = SIDES[order.direction]
        try:
            self._wheels.drive(left * speed, right * speed, seconds)
        finally:
            self._wheels.halt()
        return "" if seconds == order.duration else f"capped at {MAX_DURATION:g} s"

    def correct(self, order: CorrectedMove) -> str:
        """Move or turn, measure and correct; returns a report.

        Raises:
            LinkError: In the autonomous mode, or if the maneuver failed.
        """
        if self.mode == "AUTO":
            raise LinkError("corrected moves need the mode MANUAL or SEMI; the mode is AUTO")
        try:
            maneuvers = PreciseManeuvers(self._wheels)
            if order.mvt_type == "linear":
                outcome = maneuvers.move(order.distance / MM)
            else:
                outcome = maneuvers.turn(math.radians(order.distance))
        finally:
            self._wheels.halt()
        if outcome.reason:
            raise LinkError(outcome.reason)
        return f"{outcome.corrections} corrections, last measured error {MM * outcome.error:.0f} mm"

    def aim(self, order: SetWaypoint) -> None:
        """Set the waypoint.

        Raises:
            SandlotError: In another mode, or outside of the map.
        """
        if self.mode != "SEMI" or self.pilot is None:
            raise LinkError(f"a waypoint needs the mode SEMI; the mode is {self.mode}")
        self.pilot.navigator.go_to(order.x / MM, order.y / MM)

    def steps(self) -> Iterator[None]:
        """Drive to the waypoint, or explore, scan by scan, until the navigator stops."""
        assert self.pilot is not None
        for step in self.pilot.run(math.inf):
            self.pose = step.pose
            yield

    def follow(self, scans: list[Scan]) -> None:
        """Use scans that were made during a corrected move."""
        if self.pilot is not None:
            for scan in scans:
                self.pose = self.pilot.take(scan).pose

    def map(self, number: int, time: float) -> tuple[Descriptor, NDArray[Any]]:
        """The known part of the map: its kinds of cells and their reputation from 0 to 255.

        Raises:
            LinkError: In the manual mode, which has no map.
        """
        if self.pilot is None:
            raise LinkError("there is no map in the mode MANUAL")
        cells = self.pilot.navigator.cells
        rows, columns = cells.window
        darkness = np.round(255.0 * np.clip(cells.sureness((rows, columns)), 0.0, 1.0)).astype(np.uint8)
        array = np.stack([cells.kinds[rows, columns], darkness])
        x, y = cells.grid.origin
        side = cells.grid.resolution
        return describe(
            array,
            data="MAP",
            names=("kind", "reputation"),
            time=time,
            resolution=MM * side,
            corner=(MM * (x + columns.start * side), MM * (y + rows.start * side)),
            pose=in_link_units(self.pose),
            N=number,
        ), array


def samples(scan: Scan, max_range: float) -> NDArray[np.float32]:
    """Angle [degree] and range [mm] of the samples of a scan up to a range [mm]: (n, 2)."""
    with np.errstate(invalid="ignore"):
        near = MM * scan.ranges <= max_range
    return np.column_stack([np.degrees(scan.bearings[near]), MM * scan.ranges[near]]).astype(np.float32)


def in_link_units(pose: Pose) -> tuple[float, float, float]:
    """A pose in the units of the link: x, y [mm] and yaw [degree]."""
    return MM * pose.x, MM * pose.y, math.degrees(pose.yaw)
