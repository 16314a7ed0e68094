"""What the reference adds to MuJoCo's steps of a climbing robot, compiled: its motors, and belts that feel contacts."""

from sandlot.kernels import kernel
from sandlot.typing import Array, BoolArray, IntArray

FACE = 0.9
"""Least cosine between the normal of a contact and that of the flat part of a belt or of the body."""
SOFT = 1e-12
"""Stiffness that leaves a contact without force."""
AXLES, BELTS = 7, 8
"""First of the axles among the positions of a model, and of the belts among its speeds."""


@kernel(error_model="numpy", allocates=False, nogil=True)
def command_motors(
    targets: Array,
    motors: Array,
    positions: Array,
    speeds: Array,
    controls: Array,
    limits: Array,
    geoms: IntArray,
    belt_of: IntArray,
    per_speed: Array,
    surfaces: Array,
) -> None:
    """Set what the motors are to do in a step, and the surface velocities of the belts.

    Args:
        targets: (4,) angles of both axles [rad], speeds of the left and the right belts [m/s].
        motors: (4,) gain [1/s] and largest rate of the axles [rad/s], thrust at standstill [N] and speed without load
            of the belts [m/s].
        positions: (nq,) of the model.
        speeds: (nv,) of the model.
        controls: (6,) wanted rates of the axles and speeds of the belts, written here.
        limits: (6, 2) least and largest force of each motor; those of the belts are written here.
        geoms: (geoms,) of the belts.
        belt_of: (all geoms,) number of each geom's belt.
        per_speed: (geoms, 6) surface velocity at a belt speed of 1 m/s.
        surfaces: (all geoms, 6) surface velocities, written here.
    """
    gain, top, thrust, free = motors[0], motors[1], motors[2], motors[3]
    for k in range(2):
        controls[k] = min(max(gain * (targets[k] - positions[AXLES + k]), -top), top)
    for k in range(4):
        line = thrust * speeds[BELTS + k] / free
        controls[2 + k], limits[2 + k, 0], limits[2 + k, 1] = targets[2 + k % 2], -thrust - line, thrust - line
    for row in range(len(geoms)):
        speed = speeds[BELTS + belt_of[geoms[row]]]
        for k in range(6):
            surfaces[geoms[row], k] = per_speed[row, k] * speed


@kernel(error_model="numpy", allocates=False, nogil=True)
def couple_belts(
    geoms: IntArray,
    frames: Array,
    first: IntArray,
    flat: BoolArray,
    belt_of: IntArray,
    turns: Array,
    left: Array,
    jacobian: Array,
    stiffness: Array,
    softness: Array,
) -> None:
    """Leave out contacts at the edges of flat parts, and let the others act on the belts.

    Edges of flat parts lie within round ones. Their contacts would clamp a corner of the ground between both, with
    forces of 1e5 N that throw the robot. The other contacts of belts get the belts' columns of the Jacobian: how the
    slip changes with the speed of the belt.

    Args:
        geoms: (contacts, 2) that touch.
        frames: (contacts, 9) normal and both tangents.
        first: (contacts,) row of each contact's normal, negative for none; the tangents follow.
        flat: (all geoms,) whether it is a flat part of the robot.
        belt_of: (all geoms,) number of each geom's belt, or -1.
        turns: (all geoms, 9) rotation of each geom.
        left: (3,) direction of the robot's left.
        jacobian: (rows * speeds,) of the contacts, changed in place.
        stiffness: (rows,) changed in place.
        softness: (rows,) its inverse, changed in place.
    """
    speeds = len(jacobian) // max(len(stiffness), 1)
    for n in range(len(first)):
        row = first[n]
        if row < 0:
            continue
        part = geoms[n, 0] if flat[geoms[n, 0]] else geoms[n, 1]
        nx, ny, nz = frames[n, 0], frames[n, 1], frames[n, 2]
        if flat[part] and abs(nx * turns[part, 2] + ny * turns[part, 5] + nz * turns[part, 8]) < FACE:
            for k in range(3):
                stiffness[row + k], softness[row + k] = SOFT, 1.0 / SOFT
        belt = max(belt_of[geoms[n, 0]], belt_of[geoms[n, 1]])
        if belt < 0:
            continue
        # MuJoCo's normal points from the first geom to the second, its slip is the motion of the second past the first.
        # The outward normal of the belt is that normal for a first geom, and its opposite for a second one; the belt
        # moves along left x outward. Both signs cancel.
        x, y, z = left[2] * ny - left[1] * nz, left[0] * nz - left[2] * nx, left[1] * nx - left[0] * ny
        for k in range(1, 3):
            along = x * frames[n, 3 * k] + y * frames[n, 3 * k + 1] + z * frames[n, 3 * k + 2]
            jacobian[(row + k) * speeds + BELTS + belt] = along
