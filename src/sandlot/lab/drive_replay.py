"""The drive of a rover, as `sandlot rover serve --record` writes it, as moments to be shown: one for each scan."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sandlot.errors import RecordingError
from sandlot.geometry.planar import compose, invert
from sandlot.lab.maps_tab import HEIGHT, PATH, RADIUS, flat
from sandlot.mapping.submaps import place
from sandlot.recordings.streams import read_samples
from sandlot.typing import Array
from sandlot.worlds.replay import Moment
from sandlot.worlds.scene import FRONT, RETURN, ROBOT, WALL, Item, Lines, Points, Scene, Shape, upright

PLAN = (60, 120, 200)
"""Colour of the path that the rover intends to take."""
OCCUPIED = 50
"""Cells of a map from this value on are walls or obstacles, of 100."""


@dataclass
class Known:
    """What the messages so far have said.

    Attributes:
        odometry: (3,) pose by odometry [m, m, rad].
        offset: (3,) pose of the origin of odometry in the map.
        cells: (n, 2) middles of occupied cells of the last map [m].
        plan: (n, 2) the intended path [m].
        driven: (2,) each, places of the rover at earlier scans [m].
        voltage: Of the batteries [V].
    """

    odometry: Array = field(default_factory=lambda: np.zeros(3))
    offset: Array = field(default_factory=lambda: np.zeros(3))
    cells: Array = field(default_factory=lambda: np.zeros((0, 2)))
    plan: Array = field(default_factory=lambda: np.zeros((0, 2)))
    driven: list[Array] = field(default_factory=list)
    voltage: float = math.nan

    def take(self, topic: str, message: Any) -> None:
        """Learn from a message that is no scan."""
        match topic:
            case "/odom":
                self.odometry = _pose(message.pose.pose)
            case "/pose":
                self.offset = compose(_pose(message.pose), invert(self.odometry))
            case "/path":
                self.plan = np.array([_pose(each.pose)[:2] for each in message.poses]).reshape(-1, 2)
            case "/map":
                info = message.info
                rows, columns = np.nonzero(np.reshape(message.data, (info.height, info.width)) >= OCCUPIED)
                corner = _pose(info.origin)[:2]
                self.cells = corner + (np.column_stack([columns, rows]) + 0.5) * info.resolution
            case "/battery":
                self.voltage = float(message.voltage)

    def scene(self, scan: Any) -> tuple[Scene, Array]:
        """What there is to draw with a scan, and the pose (3,) of the rover in the map."""
        pose = compose(self.offset, self.odometry)
        self.driven.append(pose[:2])
        ranges = np.asarray(scan.ranges, np.float64)
        bearings = scan.angle_min + scan.angle_increment * np.arange(len(ranges))
        back = np.isfinite(ranges)
        points = np.column_stack([ranges * np.cos(bearings), ranges * np.sin(bearings)])[back]
        returns = place(points, pose)
        x, y, yaw = pose.tolist()
        items: list[Item] = [Shape("robot", "cylinder", (RADIUS, HEIGHT), *upright(x, y, yaw=yaw), ROBOT)]
        ahead = x + 0.7 * RADIUS * math.cos(yaw), y + 0.7 * RADIUS * math.sin(yaw)
        items.append(Shape("front", "sphere", (0.4 * RADIUS,), *upright(*ahead, HEIGHT), FRONT))
        if len(self.cells):
            items.append(Points("map", flat(self.cells), 0.05, WALL))
        if len(returns):
            items.append(Points("scan", flat(returns), 0.04, RETURN))
        for name, way, colour in (("path", np.array(self.driven), PATH), ("plan", self.plan, PLAN)):
            if len(way) > 1:
                items.append(Lines(name, np.stack([flat(way[:-1]), flat(way[1:])], axis=1), colour, 2.0))
        seen = np.concatenate([self.cells, returns, pose[None, :2]])
        low, high = seen.min(axis=0) - 0.5, seen.max(axis=0) + 0.5
        focus, reach = np.array([x, y, 0.0]), 0.45 * float(np.max(high - low))
        return Scene(tuple(items), low, high, 640, focus=focus, reach=reach), pose


def drive_moments(path: Path, most: int, progress: Callable[[int, int], None]) -> list[Moment]:
    """Replay a drive; of long ones, every so many scans that at most ``most`` moments are kept.

    Raises:
        RecordingError: If it cannot be read, or has no scans.
    """
    total = sum(topic == "/scan" for topic, _, _ in read_samples(path))
    if total == 0:
        raise RecordingError(f"{path} has no scans; it is replayed if it has the topic /scan")
    return list(_moments(path, total, max(-(-total // most), 1), progress))


def _moments(path: Path, total: int, every: int, progress: Callable[[int, int], None]) -> Iterator[Moment]:
    known, begin, number = Known(), math.nan, 0
    for topic, time, message in read_samples(path):
        if topic != "/scan":
            known.take(topic, message)
            continue
        begin = time if math.isnan(begin) else begin
        if number % every == 0:
            scene, pose = known.scene(message)
            x, y, yaw = pose.tolist()
            yield Moment(number, time - begin, 0, scene, {"x": x, "y": y, "yaw": yaw, "voltage": known.voltage})
        number += 1
        progress(number, total)


def _pose(message: Any) -> Array:
    """(3,) of a pose in the plane."""
    at, turn = message.position, message.orientation
    return np.array([at.x, at.y, 2.0 * math.atan2(turn.z, turn.w)])
