"""Writes scans as an MCAP file of ROS 2, for Foxglove, RViz and every tool that reads bags.

``/scan`` holds the ranges, ``/odom`` the pose by odometry, ``/tf`` the best known pose (``map`` to ``odom`` to
``base_link``) and ``/tf_static`` the laser's position.
"""

import math
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as BagWriter

from sandlot.errors import RecordingError
from sandlot.geometry.planar import compose, invert
from sandlot.recordings.logs.bags.decoding import TYPES, typestore
from sandlot.recordings.scans import NUMBERS, Pose
from sandlot.typing import Array

TOPICS = {"/scan": "LaserScan", "/odom": "Odometry", "/tf": "TFMessage", "/tf_static": "TFMessage"}


class McapWriter:
    """An MCAP file that is being written.

    Args:
        path: Of the file; a hidden directory beside it holds the file until it is complete.
        bearings: (beams,) evenly spaced [rad].
        laser: Position of the laser on the robot, x and y [m].
        start: Added to every time [s].
        max_range: The largest range [m].

    Raises:
        RecordingError: The bearings are not evenly spaced, as LaserScan needs.
    """

    def __init__(self, path: Path, bearings: Array, laser: tuple[float, float], start: float, max_range: float) -> None:
        if len(bearings) == 0:
            raise RecordingError("the recording has no beams, which LaserScan needs; export it as .csv")
        steps = np.diff(bearings)
        step = float((bearings[-1] - bearings[0]) / max(len(bearings) - 1, 1))
        if len(steps) and abs(steps - step).max() > abs(step) / 10:
            raise RecordingError("the bearings are not evenly spaced, which LaserScan needs; export it as .csv")
        self.path, self.laser, self.start = path, laser, start
        self._angles = {
            "angle_min": float(bearings[0]),
            "angle_max": float(bearings[-1]),
            "angle_increment": step,
            "time_increment": 0.0,
            "scan_time": 0.0,
            "range_min": 0.0,
            "range_max": 1.01 * max_range + 0.01,
        }
        self._folder = path.with_name(f".{path.stem}.bag")
        self._types = typestore("cdr")
        self._bag = BagWriter(self._folder, version=9, storage_plugin=StoragePlugin.MCAP)
        self._bag.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        self._static = False
        self._logged = -1

    def __enter__(self) -> Self:
        self._bag.open()
        self._connections = {
            topic: self._bag.add_connection(topic, TYPES[kind], typestore=self._types) for topic, kind in TOPICS.items()
        }
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._bag.close()
                (self._folder / f"{self._folder.name}.mcap").replace(self.path)
            else:
                self._bag.abort()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def write(self, block: xr.Dataset) -> None:
        """Write the frames of a part of a recording."""
        rows = np.column_stack([block[name] for name in NUMBERS]).tolist()
        for (time, x, y, yaw, odometry_x, odometry_y, odometry_yaw, speed, turn_rate), ranges in zip(
            rows, block["ranges"].values, strict=True
        ):
            stamp = self._nanoseconds(time)
            # Readers go by the time of logging, so frames keep their order even if their times go back.
            self._logged = max(self._logged + 1, stamp)
            odometry = Pose(odometry_x, odometry_y, odometry_yaw)
            self._write_pose(stamp, Pose(x, y, yaw), odometry, speed, turn_rate)
            self._write_ranges(stamp, ranges)

    def _nanoseconds(self, time: float) -> int:
        stamp = round(self.start * 1e9) + round(time * 1e9)
        if not 0 <= stamp < 2**31 * 10**9:
            raise RecordingError(
                f"a time of {time:g} s after {self.start:g} s cannot be written; ROS counts from 1970 to 2038"
            )
        return stamp

    def _write_pose(self, stamp: int, best: Pose, odometry: Pose, speed: float, turn_rate: float) -> None:
        transforms = []
        if not all(map(math.isfinite, odometry)):
            odometry = best
        if not self._static:
            self._static = True
            mounted = [self._transform(stamp, "base_link", "laser", Pose(*self.laser, 0.0))]
            self._send("/tf_static", transforms=mounted)
        if all(map(math.isfinite, odometry)):
            position, orientation = _point(odometry), self._quaternion(odometry.yaw)
            pose = self._make(
                "geometry_msgs/msg/Pose",
                position=self._make("geometry_msgs/msg/Point", **position),
                orientation=orientation,
            )
            linear, angular = (self._vector(x, z) for x, z in ((speed, 0.0), (0.0, turn_rate)))
            twist = self._make("geometry_msgs/msg/Twist", linear=linear, angular=angular)
            unknown = np.zeros(36)
            self._send(
                "/odom",
                header=self._header(stamp, "odom"),
                child_frame_id="base_link",
                pose=self._make("geometry_msgs/msg/PoseWithCovariance", pose=pose, covariance=unknown),
                twist=self._make("geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=unknown),
            )
            transforms.append(self._transform(stamp, "odom", "base_link", odometry))
            if all(map(math.isfinite, best)):
                correction = Pose(*compose(best, invert(odometry)).tolist())
                transforms.insert(0, self._transform(stamp, "map", "odom", correction))
            self._send("/tf", transforms=transforms)

    def _write_ranges(self, stamp: int, ranges: NDArray[np.float32]) -> None:
        seen = np.where(np.isnan(ranges), np.float32(np.inf), ranges).astype(np.float32)
        none = np.zeros(0, np.float32)
        header = self._header(stamp, "laser")
        self._send("/scan", header=header, **self._angles, ranges=seen, intensities=none)

    def _send(self, topic: str, **fields: Any) -> None:
        name = TYPES[TOPICS[topic]]
        self._bag.write(
            self._connections[topic], self._logged, self._types.serialize_cdr(self._make(name, **fields), name)
        )

    def _make(self, name: str, **fields: Any) -> Any:
        return self._types.types[name](**fields)

    def _header(self, stamp: int, frame: str) -> Any:
        time = self._make("builtin_interfaces/msg/Time", sec=stamp // 10**9, nanosec=stamp % 10**9)
        return self._make("std_msgs/msg/Header", stamp=time, frame_id=frame)

    def _vector(self, x: float, z: float) -> Any:
        return self._make("geometry_msgs/msg/Vector3", x=x, y=0.0, z=z)

    def _quaternion(self, yaw: float) -> Any:
        return self._make("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=math.sin(yaw / 2), w=math.cos(yaw / 2))

    def _transform(self, stamp: int, parent: str, child: str, pose: Pose) -> Any:
        translation = self._make("geometry_msgs/msg/Vector3", **_point(pose))
        transform = self._make(
            "geometry_msgs/msg/Transform", translation=translation, rotation=self._quaternion(pose.yaw)
        )
        return self._make(
            "geometry_msgs/msg/TransformStamped",
            header=self._header(stamp, parent),
            child_frame_id=child,
            transform=transform,
        )


def _point(pose: Pose) -> dict[str, float]:
    return {"x": pose.x, "y": pose.y, "z": 0.0}
