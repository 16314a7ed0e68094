"""Writes all that is sent and sensed into an MCAP file as it comes (`sandlot.recordings.streams`).

Topics: ``/scan``, ``/odom`` and ``/tf`` of what the rover senses, ``/pose``, ``/path`` and ``/map`` of what it knows,
``/battery``, and as JSON ``/link/orders``, ``/link/results`` and ``/link/status``. A thread of its own writes; if the
disk is too slow, messages are left out and counted, and the rover goes on.
"""

import contextlib
import math
import queue
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.link.messages import Descriptor, Message, Status
from sandlot.mapping.grids.geometry import OBSTACLE, UNKNOWN
from sandlot.recordings.scans import Pose, Scan
from sandlot.recordings.streams import StreamWriter, flat_pose, stamped
from sandlot.robots.driver import Sensed

WAITING = 5000
"""Messages that may wait for the disk."""
TEXT = "std_msgs/msg/String"
BINS = 720
"""Beams of a scan whose bearings are not evenly spaced, as it is recorded."""


class Recorder:
    """Records a rover.

    Attributes:
        written: Number of messages in the file.
        lost: Number of messages that were left out.
    """

    def __init__(self, path: Path) -> None:
        """Begin a file.

        Raises:
            RecordingError: If it exists or cannot be written.
        """
        self._writer = StreamWriter(path)
        self._queue: queue.Queue[tuple[str, str, float, Mapping[str, Any]] | None] = queue.Queue(WAITING)
        self._begin, self._now = time.time(), 0.0
        self._placed = False
        self.written = self.lost = 0
        self._thread = threading.Thread(target=self._write, name="recorder", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write what waits, and end the file."""
        with contextlib.suppress(queue.Full):  # what still waits after this time is lost
            self._queue.put(None, timeout=30.0)
        self._thread.join(timeout=30.0)
        self._writer.close()

    def message(self, what: str, session: str, message: Message) -> None:
        """An order, or its result."""
        text = f'{{"session":"{session}","message":{message.model_dump_json()}}}'
        self._put(f"/link/{what}s", TEXT, self._now, {"data": text})

    def status(self, status: Status) -> None:
        """Where the rover is and what it does."""
        at, header = status.time, stamped(self._begin + status.time, "map")
        pose = flat_pose(status.x / 1000.0, status.y / 1000.0, math.radians(status.yaw))
        self._put("/link/status", TEXT, at, {"data": status.model_dump_json()})
        self._put("/pose", "geometry_msgs/msg/PoseStamped", at, {"header": header, "pose": pose})
        points = [{"header": header, "pose": flat_pose(x / 1000.0, y / 1000.0, 0.0)} for x, y in status.path]
        self._put("/path", "nav_msgs/msg/Path", at, {"header": header, "poses": points})

    def data(self, descriptor: Descriptor, array: NDArray[Any]) -> None:
        """A map, or telemetry; scans are recorded when they are sensed."""
        if descriptor.data == "MAP":
            self._map(descriptor, array)
        elif descriptor.data == "TELEMETRY":
            named = dict(zip(descriptor.names, array.tolist(), strict=True))
            cells = [value for name, value in named.items() if name.startswith("cell_")]
            fields = {
                "header": stamped(self._begin + descriptor.time, "base_link"),
                "voltage": sum(cells[:3]),
                "temperature": named.get("temperature [C]", math.nan),
                "percentage": named.get("charge", math.nan),
                "current": math.nan,
                "charge": math.nan,
                "power_supply_technology": 3,  # lithium polymer
                "present": True,
                "cell_voltage": np.array(cells, np.float32),
            }
            self._put("/battery", "sensor_msgs/msg/BatteryState", descriptor.time, fields)

    def sensed(self, sensed: Sensed) -> None:
        """What the rover has sensed in a piece of an order."""
        self._now = sensed.time
        header = stamped(self._begin + sensed.time, "odom")
        pose = sensed.odometry
        if not self._placed:
            self._placed = True
            mount = _transform(stamped(self._begin + sensed.time, "base_link"), "laser", Pose(0.0, 0.0, 0.0))
            self._put("/tf_static", "tf2_msgs/msg/TFMessage", sensed.time, {"transforms": [mount]})
        fields = {"header": header, "child_frame_id": "base_link", "pose": {"pose": flat_pose(*pose)}}
        self._put("/odom", "nav_msgs/msg/Odometry", sensed.time, fields)
        moved = _transform(header, "base_link", pose)
        self._put("/tf", "tf2_msgs/msg/TFMessage", sensed.time, {"transforms": [moved]})
        for scan in sensed.scans:
            self._scan(scan)

    def _scan(self, scan: Scan) -> None:
        bearings, ranges = evenly(scan)
        step = (bearings[-1] - bearings[0]) / max(len(bearings) - 1, 1)
        fields = {
            "header": stamped(self._begin + scan.time, "laser"),
            "angle_min": float(bearings[0]),
            "angle_max": float(bearings[-1]),
            "angle_increment": float(step),
            "range_min": 0.0,
            "range_max": 100.0,
            "ranges": np.where(np.isnan(ranges), np.inf, ranges),
        }
        self._put("/scan", "sensor_msgs/msg/LaserScan", scan.time, fields)

    def _map(self, descriptor: Descriptor, array: NDArray[Any]) -> None:
        kinds, reputation = array
        occupied = np.round(50.0 + reputation / 255.0 * 50.0)
        values = np.where(kinds == UNKNOWN, -1, np.where(kinds >= OBSTACLE, occupied, 0)).astype(np.int8)
        x, y = (each / 1000.0 for each in descriptor.corner)
        info = {
            "resolution": descriptor.resolution / 1000.0,
            "width": kinds.shape[1],
            "height": kinds.shape[0],
            "origin": flat_pose(x, y, 0.0),
        }
        header = stamped(self._begin + descriptor.time, "map")
        fields = {"header": header, "info": info, "data": values.ravel()}
        self._put("/map", "nav_msgs/msg/OccupancyGrid", descriptor.time, fields)

    def _put(self, topic: str, name: str, at: float, fields: Mapping[str, Any]) -> None:
        try:
            self._queue.put_nowait((topic, name, self._begin + at, fields))
        except queue.Full:
            self.lost += 1

    def _write(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                self._writer.write(*item)
                self.written += 1
            except Exception:  # a full disk, or a message that cannot be written, must not stop the rover
                self.lost += 1


def evenly(scan: Scan) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Bearings and ranges of a scan with even steps; the nearest range of each step if its own are uneven."""
    steps = np.diff(scan.bearings)
    if len(steps) and np.all(steps > 0.0) and np.ptp(steps) < 0.1 * abs(steps.mean()):
        return scan.bearings, scan.ranges
    bearings = (np.arange(BINS, dtype=np.float64) + 0.5) * (2.0 * math.pi / BINS) - math.pi
    ranges = np.full(BINS, np.inf, np.float32)
    seen = np.isfinite(scan.ranges)
    turned = np.mod(scan.bearings[seen] + math.pi, 2.0 * math.pi)
    np.minimum.at(ranges, np.minimum((turned * (BINS / (2.0 * math.pi))).astype(np.int64), BINS - 1), scan.ranges[seen])
    ranges[np.isinf(ranges)] = np.nan
    return bearings, ranges


def _transform(header: dict[str, Any], child: str, pose: Pose) -> dict[str, Any]:
    """A pose as ``geometry_msgs/msg/TransformStamped``."""
    placed = flat_pose(*pose)
    moved = {"translation": placed["position"], "rotation": placed["orientation"]}
    return {"header": header, "child_frame_id": child, "transform": moved}
