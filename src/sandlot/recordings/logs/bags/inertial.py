"""Yaw by the inertial unit of a robot: from its orientation, or by integrating its turn rate."""

import math
from typing import Any

from sandlot.recordings.logs.bags.decoding import frame_name, measured_at
from sandlot.recordings.logs.bags.messages import Message
from sandlot.recordings.logs.bags.trajectory import Moment, Trajectory
from sandlot.recordings.logs.bags.transforms import FrameTree, rotation_matrix
from sandlot.recordings.scans import Pose

MAX_PAUSE = 1.0
"""A turn rate is not integrated over longer pauses [s]."""


class InertialUnit:
    """The messages of one topic.

    A unit without orientation says so by a covariance of -1. Then its turn rate about its own z axis is integrated, in
    the order of the file. Whether it is so is decided by its first message.

    Attributes:
        first: When the first message was logged [ns].
    """

    def __init__(self, first: int, content: Any) -> None:
        self.first, self.frame = first, frame_name(content.header.frame_id)
        self._integrates = float(content.orientation_covariance[0]) < 0.0
        self._sign = 1.0
        self._yaws = Trajectory()
        self._last: tuple[int, float] | None = None

    def take(self, message: Message, content: Any) -> None:
        """Add a message.

        Raises:
            ValueError: Its orientation or its turn rate is not finite, or its time is impossible.
        """
        time = measured_at(content.header, message)
        if self._integrates:
            yaw = self._integrate(time, float(content.angular_velocity.z))
        else:
            axes = rotation_matrix(content.orientation)
            yaw = math.atan2(float(axes[1, 0]), float(axes[0, 0]))  # of its x axis: also of a unit upside down
        self.first = min(self.first, message.time)
        self._yaws.put(time, message.time, Moment(Pose(0.0, 0.0, yaw)))

    def _integrate(self, time: int, rate: float) -> float:
        if not math.isfinite(rate):
            raise ValueError("a turn rate is not finite")
        before, yaw = self._last or (time, 0.0)
        elapsed = (time - before) / 1e9
        if 0.0 < elapsed <= MAX_PAUSE:
            yaw += rate * elapsed
        self._last = (max(time, before), yaw)
        return yaw

    def finish(self, frames: FrameTree, base: str) -> None:
        """All messages are known; after this, yaws can be asked for."""
        self._yaws.finish()
        mount = frames.lookup(base, self.frame)
        if self._integrates and mount is not None and mount[2, 2] < 0.0:
            self._sign = -1.0  # it is upside down

    def yaw(self, time: int, logged: int) -> float:
        """Yaw from an unknown offset, interpolated [rad]; NaN before all messages, after all, and in pauses."""
        return self._sign * self._yaws.at(time, logged).pose.yaw if self._yaws.covers(time) else math.nan
