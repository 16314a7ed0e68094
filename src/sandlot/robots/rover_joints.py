"""Joints of a rover that nothing drives: those of casters may turn freely, those that steer a wheel may not."""

import warnings
from collections.abc import Sequence

import numpy as np

from sandlot.errors import RobotError, RobotWarning, quote
from sandlot.robots.rigid_parts import Parts
from sandlot.robots.rover_steering import upright
from sandlot.robots.urdf_elements import Joint
from sandlot.settings import nearest

TRAIL = 0.1
"""A wheel that rolls less than this share of its radius behind its swivel axis is steered, not a caster."""


def check_free(parts: Parts, driven: Sequence[str], free: Sequence[str], file: str) -> None:
    """Name the joints that nothing drives.

    Args:
        parts: Of the rover.
        driven: Names of joints of wheels, and of those that steer them.
        free: Names of joints that are meant to turn freely.
        file: For messages.

    Raises:
        RobotError: If one of them would have to steer a wheel, or ``free`` names no joint that turns.

    Warns:
        RobotWarning: If there are others than those in ``free``.
    """
    joints: dict[str, int] = {part.joint.name: k for k, part in enumerate(parts.parts) if part.joint}
    for name in free:
        if name not in joints:
            raise RobotError(f'{file}: free: joint "{quote(name)}" does not turn; {nearest(name, list(joints))}')
    loose = [name for name in joints if name not in driven]
    for name in loose:
        if (wheel := _steered(joints[name], parts)) is not None:
            raise RobotError(
                f'{file}: joint "{name}" steers wheel "{wheel.child}", which is in neither left nor right, so nothing '
                f'holds it; add the wheel there, or hold it straight: freeze = ["{name}"]'
            )
    if unnamed := [name for name in loose if name not in free]:
        names, every = (", ".join(f'"{name}"' for name in some) for some in (unnamed, loose))
        warnings.warn(
            f"{file}: no motor drives joint {names}; if it is to turn freely, as that of a caster, add to the "
            f"settings: free = [{every}]; to hold it, freeze = [{names}]",
            RobotWarning,
            stacklevel=5,
        )


def _steered(part: int, parts: Parts) -> Joint | None:
    """The joint of a wheel that rolls right below the upright joint of a part, if there is one."""
    if not upright(part, parts):
        return None
    for k, child in enumerate(parts.parts):
        shapes = child.collision or child.visual
        if child.parent != part or not child.joint or upright(k, parts) or not shapes or k == part:
            continue
        radius = max(shape.extent(np.zeros(3), child.joint.axis)[0] for shape in shapes)
        rolling = np.cross(parts.poses[k][0] @ child.joint.axis, [0.0, 0.0, 1.0])
        if abs((parts.poses[k][1] - parts.poses[part][1]) @ rolling) < TRAIL * radius:
            return child.joint
    return None
