"""Recorded drives as the nets of a learned rover are trained on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sandlot.geometry.planar import wrap
from sandlot.physics.soil import SoilKind
from sandlot.robots.rover import wheel_speeds
from sandlot.surrogates.terrain.feet import FOOT
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array, IntArray

SYMMETRIC = 1e-6
"""Feet and samples of a symmetric rover agree to this [m]."""


@dataclass(frozen=True, eq=False)
class Drive:
    """One recorded episode of T frames after the rover was put down. In the first of them it settles on the ground.

    Attributes:
        position: (T + 1, 3) of the chassis, without jumps where the ground wraps [m].
        attitude: (T + 1, 3) roll, pitch and yaw [rad].
        wheels: (T + 1, 2) speeds of the left and the right wheels [rad/s].
        commands: (T, 2) forward speed [m/s] and turn rate [rad/s] until the next frame.
        seen: (T, width) the ground of each frame below where the rover is one frame later, as `look` gives
            it.
        planes: (T, 3) of the same ground: slopes ahead and to the left, and height in the middle [m].
        soil: (inputs,) as `soil_inputs` gives it.
        interval: Between frames [s].
        kind: Of soil; None for other ground.
        deforms: Whether the ground yields.
    """

    position: Array
    attitude: Array
    wheels: Array
    commands: Array
    seen: Array
    planes: Array
    soil: Array
    interval: float
    kind: SoilKind | None = None
    deforms: bool = True

    @property
    def motion(self) -> Array:
        """Horizontal speed ahead and to the left [m/s] and turn rate [rad/s] until each next frame: (T, 3)."""
        yaw = self.attitude[:, 2]
        turn = wrap(np.diff(yaw))
        middle, (dx, dy) = yaw[:-1] + 0.5 * turn, np.diff(self.position[:, :2], axis=0).T
        c, s = np.cos(middle), np.sin(middle)
        return np.column_stack([c * dx + s * dy, c * dy - s * dx, turn]) / self.interval

    @property
    def rests(self) -> Array:
        """Height above the plane [m], and pitch and roll relative to it [rad], one frame later: (T, 3)."""
        ahead, left, middle = self.planes.T
        roll, pitch, _ = self.attitude[1:].T
        return np.column_stack([self.position[1:, 2] - middle, pitch + np.arctan(ahead), roll - np.arctan(left)])

    def drive_inputs(self, shape: Shape) -> Array:
        """Inputs of the net that moves the rover, in frames 1 to T - 1: (T - 1, inputs), as `step.drive_inputs`."""
        frames = len(self.commands) - 1
        speed, turn_rate = self.commands[1:].T
        targets = wheel_speeds(speed, turn_rate, shape.base, shape.radius, shape.top_speed)
        return np.column_stack(
            [
                self.attitude[1:-1, :2],
                self.rests[:-1, 0],
                self.seen[:-1],
                np.broadcast_to(self.soil, (frames, len(self.soil))),
                self.motion[:-1],
                self.wheels[1:-1],
                targets,
            ]
        )

    def moves(self) -> Array:
        """What that net shall give: changes of the motion and of the wheels' speeds: (T - 1, 5)."""
        return np.column_stack([np.diff(self.motion, axis=0), np.diff(self.wheels[1:], axis=0)])

    def rest_inputs(self) -> Array:
        """Inputs of the net that puts the rover on the ground: (T, inputs), as `step.rest_inputs`."""
        frames = len(self.commands)
        return np.column_stack(
            [
                self.seen,
                np.broadcast_to(self.soil, (frames, len(self.soil))),
                self.planes[:, :2],
                self.motion,
                self.wheels[1:],
            ]
        )


def mirrored(drive: Drive, order: IntArray) -> Drive:
    """The same drive in a mirror, with left and right exchanged.

    Args:
        drive: Recorded.
        order: (width,) of what is seen, where each is found in the mirror.
    """
    flip = np.array([-1.0, 1.0, -1.0])
    return replace(
        drive,
        position=drive.position * (1.0, -1.0, 1.0),
        attitude=drive.attitude * flip,
        wheels=drive.wheels[:, ::-1],
        commands=drive.commands * (1.0, -1.0),
        seen=drive.seen[:, order],
        planes=drive.planes * (1.0, -1.0, 1.0),
    )


def turned(drive: Drive, order: IntArray) -> Drive:
    """The same drive of a rover whose back is called its front; arguments as of `mirrored`."""
    roll, pitch, yaw = drive.attitude.T
    return replace(
        drive,
        attitude=np.column_stack([-roll, -pitch, wrap(yaw + np.pi)]),
        wheels=-drive.wheels[:, ::-1],
        commands=drive.commands * (-1.0, 1.0),
        seen=drive.seen[:, order],
        planes=drive.planes * (-1.0, -1.0, 1.0),
    )


def order_after(shape: Shape, signs: tuple[float, float]) -> IntArray | None:
    """Where samples and groups are found after x and y were multiplied by signs; None if a rover is not symmetric.

    Args:
        shape: Of the rover.
        signs: Of x and y.
    """
    away = np.abs(shape.samples[:, None] * signs - shape.samples[None]).sum(axis=2)
    samples = away.argmin(axis=0)
    feet = np.stack([shape.feet[name] for name in FOOT.names or ()], axis=1)
    moved = feet * (*signs, 1.0, 1.0, 1.0, 1.0)
    if (
        away.min(axis=0).max() > SYMMETRIC
        or np.abs(moved[:, None] - feet[None]).sum(axis=2).min(axis=0).max() > SYMMETRIC
    ):
        return None
    groups = np.abs(shape.groups[:, samples][:, None] - shape.groups[None]).sum(axis=2).argmin(axis=0)
    return np.concatenate([samples, len(samples) + samples, 2 * len(samples) + groups])


def with_symmetries(drives: Sequence[Drive], shape: Shape) -> list[Drive]:
    """Drives, and what they look like with left and right, or front and back, exchanged, as far as the rover is so."""
    found = list(drives)
    for change, signs in ((mirrored, (1.0, -1.0)), (turned, (-1.0, -1.0))):
        order = order_after(shape, signs)
        if order is not None:
            found += [change(drive, order) for drive in found]
    return found
