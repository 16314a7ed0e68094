"""Steered wheels: which joints steer them, and the angles and speeds at which no wheel slips.

Cars that steer in front (Ackermann) and robots that steer all wheels differ only in which wheels steer: every wheel
rolls about the same centre of turning.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sandlot.robots.rigid_parts import Parts
from sandlot.robots.urdf_elements import Joint
from sandlot.typing import Array, IntArray

if TYPE_CHECKING:
    from sandlot.robots.rover_layout import Wheel

UPRIGHT = 0.7
"""A joint steers if its axis has at least this component along z."""
STEEPEST = 0.5 * math.pi - 1e-3
"""Steering angles beyond this are those of a wheel that rolls backwards [rad]."""


@dataclass(frozen=True, eq=False)
class Steering:
    """The joints that steer m of a rover's n wheels.

    Attributes:
        joints: (m,) their names.
        parts: (m,) indices of the parts that they turn.
        signs: (m,) -1 where the axis in the URDF points down.
        limits: (m, 2) lowest and highest angle to the left [rad].
        pivots: (m, 2) x and y of their axes [m].
        wheels: (n, 2) x and y of all wheels [m].
        steers: (n,) index of the joint that steers each wheel; -1 for none.
        torque: (m,) maximum of each motor [N*m].
    """

    joints: tuple[str, ...]
    parts: tuple[int, ...]
    signs: Array
    limits: Array
    pivots: Array
    wheels: Array
    steers: IntArray
    torque: Array

    def command(self, linear: float, angular: float, radius: float, top_speed: float) -> tuple[Array, Array]:
        """Turn a commanded motion into that of joints and wheels.

        A curve that is too narrow for the steering becomes the narrowest that it allows; on the spot, such a rover
        stands still. If a wheel would be too fast, all are slowed down by the same factor.

        Args:
            linear: Forward speed [m/s] on the axle of the wheels that do not steer, or else amid all wheels.
            angular: Rate of turning to the left [rad/s].
            radius: Of the wheels [m].
            top_speed: Of the motors [rad/s].

        Returns:
            Angles of the joints (m,) [rad], as the URDF counts them, and speeds of the wheels (n,) [rad/s].
        """
        angles = self._angles(linear, angular)
        if not self._allowed(angles):
            bend = self._narrowest(math.copysign(1.0, linear * angular))
            angular = math.copysign(min(abs(linear) * bend, abs(angular)), angular) if linear else 0.0
            angles = np.clip(self._angles(linear, angular), *self.limits.T)
        turned = np.append(angles, 0.0)[self.steers]
        pivots = np.where(self.steers[:, None] < 0, self.wheels, np.append(self.pivots, [[0.0, 0.0]], 0)[self.steers])
        cos, sin, arm = np.cos(turned), np.sin(turned), self.wheels - pivots
        x = pivots[:, 0] + cos * arm[:, 0] - sin * arm[:, 1] - self._centre
        y = pivots[:, 1] + sin * arm[:, 0] + cos * arm[:, 1]
        speeds = ((linear - angular * y) * cos + angular * x * sin) / radius
        return self.signs * angles, speeds * min(1.0, top_speed / max(float(np.abs(speeds).max()), 1e-12))

    @property
    def _centre(self) -> float:
        """X of the line on which the centre of turning lies [m]."""
        rigid = self.wheels[self.steers < 0]
        return float(np.mean((rigid if len(rigid) else self.wheels)[:, 0]))

    def _angles(self, linear: float, angular: float) -> Array:
        """At which the wheels of each joint do not slip: (m,) [rad], between -pi/2 and pi/2."""
        x, y = self.pivots[:, 0] - self._centre, self.pivots[:, 1]
        along, across = linear - angular * y, angular * x
        still = np.hypot(along, across) < 1e-12
        return np.where(still, 0.0, np.arctan(across / np.where(np.abs(along) < 1e-12, 1e-12, along)))

    def _allowed(self, angles: Array) -> bool:
        low, high = self.limits.T
        return bool(((angles >= low - 1e-9) & (angles <= high + 1e-9)).all())

    def _narrowest(self, side: float) -> float:
        """Curvature [1/m] of the narrowest curve to the left or right, 1 or -1, at which no joint is at its limit."""
        x, y = self.pivots[:, 0] - self._centre, self.pivots[:, 1]
        low, high = np.clip(self.limits, -STEEPEST, STEEPEST).T
        slopes = np.tan(np.where(side * x > 0.0, np.maximum(high, 0.0), np.minimum(low, 0.0)))
        below = side * (x + y * slopes)
        bends = slopes / np.where(np.abs(below) < 1e-9, 1e-9, below)
        # Where the curvature is negative, the joint reaches no limit on this side.
        return float(bends[(bends >= 0.0) & (np.abs(x) > 1e-9)].min(initial=np.inf))


def find_steering(wheels: Sequence["Wheel"], parts: Parts, load: float) -> Steering | None:
    """Find the joints between chassis and wheels that steer; none if no wheel is steered.

    Args:
        wheels: All of a rover's.
        parts: Of the rover.
        load: Share of the robot's weight on a powered wheel [N]: motors of joints without an effort turn with this
            force at a wheel's rim.
    """
    above = [_steering_part(wheel.part, parts) for wheel in wheels]
    found = sorted({part for part in above if part is not None})
    if not found:
        return None
    joints: list[Joint] = [joint for part in found if (joint := parts.parts[part].joint)]
    axes = [upright(part, parts) for part in found]
    signs = np.sign(axes)
    free = (-STEEPEST, STEEPEST)
    limits = np.array([joint.limits or free for joint in joints]) * signs[:, None]
    return Steering(
        tuple(joint.name for joint in joints),
        tuple(found),
        signs,
        np.sort(limits, axis=1),
        np.array([parts.poses[part][1][:2] for part in found]),
        np.array([wheel.middle[:2] for wheel in wheels]),
        np.array([-1 if part is None else found.index(part) for part in above]),
        np.array([joint.effort or load * max(wheel.radius for wheel in wheels) for joint in joints]),
    )


def upright(part: int, parts: Parts) -> float:
    """Component along z of the axis of the joint above a part; 0 if it is closer to the horizontal."""
    joint = parts.parts[part].joint
    along = float((parts.poses[part][0] @ joint.axis)[2]) if joint else 0.0
    return along if abs(along) >= UPRIGHT else 0.0


def _steering_part(part: int, parts: Parts) -> int | None:
    """The part between this one and the chassis that a steering joint turns."""
    part = parts.parts[part].parent
    while parts.parts[part].joint:
        if upright(part, parts):
            return part
        part = parts.parts[part].parent
    return None
