"""What a robot's parameters amount to in every step: computed once for each command."""

from typing import Any, NamedTuple

from sandlot.kernels import kernel


class Constants(NamedTuple):
    """Of one robot.

    The mass centre, seen from the middle of the body, is (gx, gz) in the body's axes, plus gf along the front tracks,
    minus gk along the rear ones. The inertia of the three rates is a symmetric matrix: the diagonal, and couplings that
    depend on the angles.
    """

    mass: float  # [kg]
    gx: float  # [m]
    gz: float
    gf: float
    gk: float
    body: float  # diagonal of the inertia, with the motors of the axles [kg*m^2]
    front: float
    back: float
    front_x: float  # coupling of body and front tracks, in the body's axes [kg*m^2]
    front_z: float
    back_x: float  # of body and rear tracks
    back_z: float
    tracks: float  # of front and rear tracks
    per_mass: float  # 1 / mass
    per_belt: float  # 1 / inertia of the belts of a pair
    axle_limit: float  # largest impulse of an axle in a step [N*m*s]
    axle_soft: float  # change of an axle's rate error by a unit impulse [rad/s / (N*m*s)]
    belt_limit: float  # largest impulse of the belts of a pair in a step, at standstill [N*s]
    belt_slope: float  # how it falls with the speed [kg]
    belt_soft: float  # change of the belts' speed error by a unit impulse [1/kg]
    belt_mass: float  # impulse that changes the belts' speed error by one [kg]


@kernel(error_model="numpy", allocates=False)
def constants(robot: Any, step: float) -> Constants:
    """Find the constants of a robot, a record of `ROBOT`, for steps of a length [s]."""
    span, hip, arm = robot.half_span, robot.hip, 0.5 * robot.reach
    mb, mf, mk = robot.body_mass, robot.front_mass, robot.back_mass
    mass = mb + mf + mk
    gx, gz = (mb * robot.load_x + (mf - mk) * span) / mass, (mb * robot.load_z + (mf + mk) * hip) / mass
    gf, gk = mf * arm / mass, mk * arm / mass
    # Mass centres of body, front and rear tracks from that of the robot, as they turn with the body (x, z) and tracks.
    bx, bz = robot.load_x - gx, robot.load_z - gz
    px, pz, qx, qz = span - gx, hip - gz, -span - gx, hip - gz
    af, ak, motor = arm - gf, arm - gk, robot.axle_inertia
    body = robot.body_inertia + mb * (bx * bx + bz * bz) + mf * (px * px + pz * pz) + mk * (qx * qx + qz * qz)
    belt_soft, per_belt = 1.0 / (robot.belt_damping * step), 1.0 / robot.belt_inertia
    return Constants(
        mass,
        gx,
        gz,
        gf,
        gk,
        body + 2.0 * motor,
        robot.front_inertia + mf * af * af + (mb + mk) * gf * gf + motor,
        robot.back_inertia + mk * ak * ak + (mb + mf) * gk * gk + motor,
        mf * af * px - gf * (mb * bx + mk * qx),
        mf * af * pz - gf * (mb * bz + mk * qz),
        gk * (mb * bx + mf * px) - mk * ak * qx,
        gk * (mb * bz + mf * pz) - mk * ak * qz,
        gk * (mf * af - mb * gf) + mk * gf * ak,
        1.0 / mass,
        per_belt,
        robot.axle_torque * step,
        1.0 / (robot.axle_damping * step),
        robot.thrust * step,
        robot.thrust * step / robot.belt_speed,
        belt_soft,
        1.0 / (per_belt + belt_soft),
    )
