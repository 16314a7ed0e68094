"""Puts rovers of a MuJoCo model down on uneven ground."""

import math
from collections.abc import Callable

import mujoco
import numpy as np

from sandlot.robots.rover_model import RoverModel
from sandlot.typing import Array

CLEARANCE = 0.002
"""Rovers are put down this high above the ground [m]."""
SETTLING = 0.3
"""Rovers stand still for this long before the first frame [s]."""
SPOTS = 15
"""Points along each side of a square in which the ground under a rover is sampled."""


def extents(rovers: RoverModel, data: mujoco.MjData) -> tuple[Array, Array]:
    """How far the solid parts of each rover reach around and below its chassis: (rovers,) and (rovers,) [m]."""
    model = rovers.model
    mujoco.mj_kinematics(model, data)
    reach, below = np.zeros(len(rovers.rovers)), np.zeros(len(rovers.rovers))
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    solid, roots = (model.geom_contype | model.geom_conaffinity) != 0, model.body_rootid[model.geom_bodyid]
    for k, parts in enumerate(rovers.rovers):
        for geom in np.flatnonzero(solid & (roots == model.body_rootid[parts.chassis])):
            box = model.geom_aabb[geom, :3] + corners * model.geom_aabb[geom, 3:]
            points = box @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom] - data.xpos[parts.chassis]
            reach[k] = max(reach[k], np.hypot(points[:, 0], points[:, 1]).max())
            below[k] = max(below[k], -points[:, 2].min())
    return reach, below


def put(rovers: RoverModel, data: mujoco.MjData, rover: int, position: Array, rotation: Array) -> None:
    """Move a rover's chassis to a position (3,) [m] and a rotation (3, 3)."""
    start = rovers.rovers[rover].qpos
    data.qpos[start : start + 3] = position
    mujoco.mju_mat2Quat(data.qpos[start + 3 : start + 7], np.ascontiguousarray(rotation).ravel())


def pose_on(
    height_at: Callable[[Array], Array], x: float, y: float, yaw: float, reach: float, below: float
) -> tuple[Array, Array]:
    """Position (3,) [m] and rotation (3, 3) of a rover just above the ground, tilted as the ground slopes under it.

    Args:
        height_at: Heights (n,) [m] of the ground at places (n, 2) [m].
        x: Of its chassis [m].
        y: Of its chassis [m].
        yaw: [rad]
        reach: As `extents` gives it [m].
        below: As `extents` gives it [m].
    """
    steps = np.linspace(-reach, reach, SPOTS)
    spots = np.array([(a, b) for a in steps for b in steps if np.hypot(a, b) <= reach])
    under = height_at(spots + np.array([x, y]))
    (a, b, c), *_ = np.linalg.lstsq(np.column_stack([spots, np.ones(len(spots))]), under, rcond=None)
    above = float(np.max(under - spots @ (a, b) - c))
    up = np.array([-a, -b, 1.0]) / math.sqrt(1.0 + a * a + b * b)
    ahead = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    ahead -= ahead @ up * up
    ahead /= np.linalg.norm(ahead)
    rotation = np.column_stack([ahead, np.cross(up, ahead), up])
    return np.array([x, y, c + above]) + (below + CLEARANCE) * up, rotation
