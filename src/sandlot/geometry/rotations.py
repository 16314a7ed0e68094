"""Rotations in space, as matrices (..., 3, 3) from a body's axes to the world's."""

import numpy as np

from sandlot.typing import Array


def roll_pitch_yaw(rotation: Array) -> Array:
    """Angles (..., 3) [rad] about fixed x, then y, then z that make a rotation (..., 3, 3); pitch is in +-pi/2.

    With x forward, y left and z up (ROS REP-103), roll is positive with the left side up, pitch with the nose down, yaw
    to the left.
    """
    angles = np.empty(rotation.shape[:-1])
    # No ``out=``: NumPy has other loops for strided results, with other last digits.
    angles[..., 0] = np.arctan2(rotation[..., 2, 1], rotation[..., 2, 2])
    angles[..., 1] = -np.arcsin(np.minimum(np.maximum(rotation[..., 2, 0], -1.0), 1.0))
    angles[..., 2] = np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    return angles


def rotation_matrix(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation (3, 3) by angles about fixed x, then y, then z [rad]: URDF's ``rpy``, and ROS REP-103."""
    (sr, sp, sy), (cr, cp, cy) = np.sin([roll, pitch, yaw]), np.cos([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
