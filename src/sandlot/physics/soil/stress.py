"""Stresses between soil and a body, node by node, at the end of a step.

A node under a body is pressed down to the body's lowest point above it. The normal stress is elastic up to yield, and
Bekker's from there on. Shear stress grows with slip as Janosi and Hanamoto describe, up to the limit of Mohr and
Coulomb. Stresses act on the covered fraction of a cell. Under a moving body they act along the normal of the undeformed
ground, as in other soil contact models.

Where the body will be at the end of the step depends on its velocity, and that on the stresses. So these are functions
of the velocity here, with their derivatives, and `sandlot.physics.soil.balance` finds the velocity. Elastic stress is
that of the end of the step, which damps vibrations that are faster than the steps. Where soil yields, the stress is the
mean along a path, so that a body that falls loses the same energy with any step. MuJoCo's velocities are those of the
middle of a step, so the path is that from the middle of the last step to the middle of this one: the work along it is
the change of kinetic energy.

The loops that take most of the time have no branches, so that they compile to vector instructions.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import whole_vectors
from sandlot.physics.soil.kinds import POWER_STEP, SoilParameters
from sandlot.physics.soil.motion import Motion
from sandlot.physics.soil.patch import patch_width

CREEP_SPEED, CREEP_DAMPING = 0.01, 5.0
"""Slip slower than this [m/s] is damped by this fraction of the shear strength per speed [s/m], so that a body comes to
rest instead of swinging on the soil's shear."""
REBOUND_SPEED = 0.06
"""Soil does not push a body that leaves it faster than this [m/s], since ground like this does not bounce: with any
step and any mass, a body that falls rebounds by no more than 0.2 mm. Slower separation lowers the elastic stress."""
SHORT_PATH = 0.3
"""Along paths shorter than this fraction of the depth, the mean of Bekker's stress is that of both ends."""
LAYER_STIFFNESS = 1e10
"""Of a firm layer [Pa/m], as that of rigid ground."""
STEEPEST = 1.0
"""Stress of a hollow acts along a normal whose slope differs from that of the ground by no more than this."""
NO_PATH = 1e-9
"""Paths shorter than this [m] have no length."""
MAX_MODULUS = 1e30
"""Bekker's modulus of ground that never yields [Pa/m^n]: finite, so that its product with a depth of 0 is 0."""


class Response(NamedTuple):
    """How soil responds to one body in one step.

    Attributes:
        dt: Length of the step [s].
        spacing: Distance of nodes [m].
        modulus: Bekker's modulus for this patch, kc / width + kphi [Pa/m^n].
        rest: Direction of the stress: from 0, along the normal of the undeformed ground, to 1, along that of the
            hollow under the body.
    """

    dt: float
    spacing: float
    modulus: float
    rest: float


@kernel(error_model="numpy", allocates=False)
def bekker_modulus(soil: SoilParameters, contact: NDArray[np.void], spacing: float) -> float:
    """Bekker's modulus for a patch [Pa/m^n]."""
    modulus = soil.kphi
    if soil.kc != 0.0:
        modulus += soil.kc / patch_width(contact, spacing)
    return min(modulus, MAX_MODULUS)


@kernel(error_model="numpy", allocates=False, inline="always")
def power(soil: SoilParameters, depth: float) -> float:
    """A depth, but no more than that of the firm layer, to the power of Bekker's n [m^n]; 0 above the surface."""
    at = min(max(depth, 0.0), soil.firm_layer) * (1.0 / POWER_STEP)
    low = min(max(int(at), 0), len(soil.powers) - 2)  # of NaN, any
    below = soil.powers[low]
    return below + (at - low) * (soil.powers[low + 1] - below)


@kernel(error_model="numpy", allocates=False)
def prepare(batch: np.void, count: int, soil: SoilParameters, response: Response, motion: Motion) -> None:
    """Find the depths that do not depend on how the body will move in this step.

    Args:
        batch: Record of BATCH with nodes of a body that is where ``motion`` moves it in this step; changed in place.
        count: Number of nodes in it.
        soil: Parameters of the soil.
        response: How it responds to this body.
        motion: How the body is expected to move.
    """
    (w_x, w_y, w_z), (v_x, v_y, v_z), (a_x, a_y, a_z) = motion.angular, motion.linear, motion.centre
    belt, dt, modulus, per_stiffness = motion.belt_speed, response.dt, response.modulus, 1.0 / soil.elastic
    rest = response.rest
    for k in range(whole_vectors(count)):
        slope_x, slope_y = batch["slope_x"][k], batch["slope_y"][k]
        stretch = math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
        up = 1.0 / stretch
        x, y, z = batch["x"][k] - a_x, batch["y"][k] - a_y, batch["z"][k] - a_z
        vx = v_x + w_y * z - w_z * y + belt * batch["belt_x"][k]
        vy = v_y + w_z * x - w_x * z + belt * batch["belt_y"][k]
        vz = v_z + w_x * y - w_y * x + belt * batch["belt_z"][k]
        # Direction of the stress.
        n_x = -(slope_x + rest * min(max(batch["hollow_x"][k] - slope_x, -STEEPEST), STEEPEST)) * up
        n_y = -(slope_y + rest * min(max(batch["hollow_y"][k] - slope_y, -STEEPEST), STEEPEST)) * up
        batch["push_x"][k], batch["push_y"][k] = n_x, n_y
        separation = vx * n_x + vy * n_y + vz * up
        batch["now"][k] = (batch["undeformed"][k] - batch["z"][k]) * up + dt * separation
        batch["start"][k] = batch["now"][k] + 0.5 * dt * separation
        batch["firm"][k], batch["stretch"][k] = batch["sinkage"][k] * up, stretch
    for k in range(count):
        # Two iterations suffice, because deformed soil is much stiffer than Bekker's curve.
        firm = batch["firm"][k]
        depth = firm + modulus * power(soil, firm) * per_stiffness
        depth = firm + modulus * power(soil, depth) * per_stiffness
        start = batch["start"][k]
        batch["yield_depth"][k] = depth
        batch["begin"][k] = max(depth, start)
        batch["begin_stress"][k] = modulus * power(soil, start) if start > depth else soil.elastic * (depth - firm)


@kernel(error_model="numpy", allocates=False)
def press(batch: np.void, count: int, soil: SoilParameters, response: Response, motion: Motion) -> None:
    """Find the forces of a batch of nodes on a body that moves in some way, and how they depend on its velocity.

    The derivatives are made symmetric: that of shear by normal stress is left out.

    Args:
        batch: Record of BATCH, as `prepare` leaves it; changed in place.
        count: Number of nodes in it.
        soil: Parameters of the soil.
        response: How it responds to this body.
        motion: How the body moves.
    """
    (w_x, w_y, w_z), (v_x, v_y, v_z), (a_x, a_y, a_z) = motion.angular, motion.linear, motion.centre
    stiffness, modulus, belt, dt = soil.elastic, response.modulus, motion.belt_speed, response.dt
    cohesion, friction, damping, cell = soil.cohesion, soil.friction, soil.damping, response.spacing * response.spacing
    per_shear, per_rebound, per_creep = 1.0 / soil.shear, 1.0 / REBOUND_SPEED, 1.0 / CREEP_SPEED**2
    layer, per_power, never, per_dt = soil.firm_layer, 1.0 / (soil.exponent + 1.0), 1e-18 * modulus, 1.0 / dt
    # Loops over whole vectors, whose last places may be unused, compile to vector instructions. The one that looks up
    # powers does not.
    for k in range(whole_vectors(count)):
        x, y, z = batch["x"][k] - a_x, batch["y"][k] - a_y, batch["z"][k] - a_z
        vx = v_x + w_y * z - w_z * y + belt * batch["belt_x"][k]
        vy = v_y + w_z * x - w_x * z + belt * batch["belt_y"][k]
        vz = v_z + w_x * y - w_y * x + belt * batch["belt_z"][k]
        separation = vx * batch["push_x"][k] + vy * batch["push_y"][k] + vz / batch["stretch"][k]
        batch["depth"][k] = batch["now"][k] - 0.5 * dt * separation
    for k in range(count):
        batch["plastic"][k] = modulus * power(soil, batch["depth"][k])
    for k in range(whole_vectors(count)):
        slope_x, slope_y, stretch, start = (
            batch["slope_x"][k],
            batch["slope_y"][k],
            batch["stretch"][k],
            batch["start"][k],
        )
        up = 1.0 / stretch
        n_x, n_y = -slope_x * up, -slope_y * up
        depth, firm, plastic, first = batch["depth"][k], batch["firm"][k], batch["plastic"][k], batch["yield_depth"][k]
        # Velocity of the body's surface.
        x, y, z = batch["x"][k] - a_x, batch["y"][k] - a_y, batch["z"][k] - a_z
        vx = v_x + w_y * z - w_z * y + belt * batch["belt_x"][k]
        vy = v_y + w_z * x - w_x * z + belt * batch["belt_y"][k]
        vz = v_z + w_x * y - w_y * x + belt * batch["belt_z"][k]
        push_x, push_y = batch["push_x"][k], batch["push_y"][k]
        separation = vx * push_x + vy * push_y + vz * up
        # The stress is elastic from the deformed surface on, but does not exceed the mean yield stress along the path.
        end = depth - 0.5 * dt * separation
        elastic, beyond = stiffness * (end - firm), LAYER_STIFFNESS * max(end - layer, 0.0)
        deepest, first_stress = min(depth, layer), stiffness * (first - firm)
        begin, begin_stress, path = batch["begin"][k], batch["begin_stress"][k], deepest - start
        way, per_path = max(deepest - begin, 0.0), 1.0 / max(path, NO_PATH)
        long_mean = (deepest * plastic - begin * begin_stress) * per_power / max(way, NO_PATH)
        mean = 0.5 * (begin_stress + plastic) if way < SHORT_PATH * deepest else long_mean
        ramp = max(min(deepest, first) - max(start, firm), 0.0)
        last = plastic if deepest > first else first_stress
        limit = ((first_stress * ramp + mean * way) * per_path if path > NO_PATH else last) + never
        slope = 0.5 * max(last - limit, 0.0) * per_path if deepest > firm else 0.0
        yields = elastic > limit
        inside = 1.0 if elastic > 0.0 else 0.0
        stress = (limit if yields else max(elastic, 0.0)) + beyond
        slope = (slope if yields else stiffness) + (LAYER_STIFFNESS if beyond > 0.0 else 0.0)
        batch["stress"][k] = min(stiffness * max(depth - firm, 0.0), last + never)
        root = max(1.0 - max(separation, 0.0) * per_rebound, 0.0)
        left = root * root
        loss = 2.0 * stress * root * per_rebound if separation > 0.0 else 0.0
        # A body that comes from above the soil is damped only where it is in it.
        stress = stress * left + damping * min(-separation, (end - firm) * per_dt)
        pushes = inside if stress > 0.0 else 0.0
        stress = pushes * max(stress, 0.0)
        normal = pushes * (slope * dt * left + loss + damping)
        along = vx * n_x + vy * n_y + vz * up
        vx, vy, vz = vx - along * n_x, vy - along * n_y, vz - along * up
        # The mobilised fraction of the shear strength follows slip. This rational function is exp(-slip / K) to 1 in
        # 1000 up to 1.
        square = vx * vx + vy * vy + vz * vz
        speed = math.sqrt(square)
        slip = min(speed * dt * per_shear, 2.0)
        old = (12.0 - slip * (6.0 - slip)) / (12.0 + slip * (6.0 + slip))
        per_speed = 1.0 / max(speed, 1e-12)
        new = (1.0 - old) * per_speed if speed > 1e-12 else dt * per_shear
        shear_x, shear_y = batch["shear_x"][k], batch["shear_y"][k]
        shear_z = -(shear_x * n_x + shear_y * n_y) * stretch
        along = (shear_x * vx + shear_y * vy + shear_z * vz) * per_speed
        sx, sy = shear_x * old + vx * new, shear_y * old + vy * new
        batch["new_shear_x"][k], batch["new_shear_y"][k] = inside * sx, inside * sy
        sz = -(sx * n_x + sy * n_y) * stretch
        slow = 1.0 + square * per_creep
        creep = CREEP_DAMPING / (slow * slow)
        strength = inside * cohesion + stress * friction
        area = batch["covered"][k] * cell * stretch
        # Derivatives by velocity: across the slip, along it, and along the normal.
        across = area * strength * (new + creep)
        less = area * strength * (max(old * dt * per_shear * (1.0 - along), 0.0) - new) * per_speed * per_speed
        more = area * normal
        c_xx = across * (1.0 - n_x * n_x) + more * push_x * push_x + less * vx * vx
        c_xy = more * push_x * push_y - across * n_x * n_y + less * vx * vy
        c_xz = (more * push_x - across * n_x) * up + less * vx * vz
        c_yy = across * (1.0 - n_y * n_y) + more * push_y * push_y + less * vy * vy
        c_yz = (more * push_y - across * n_y) * up + less * vy * vz
        c_zz = across + (more - across) * up * up + less * vz * vz
        force_x = area * (stress * push_x - strength * (sx + creep * vx))
        force_y = area * (stress * push_y - strength * (sy + creep * vy))
        force_z = area * (stress * up - strength * (sz + creep * vz))
        batch["c_xx"][k], batch["c_xy"][k], batch["c_xz"][k] = c_xx, c_xy, c_xz
        batch["c_yy"][k], batch["c_yz"][k], batch["c_zz"][k] = c_yy, c_yz, c_zz
        batch["force_x"][k], batch["force_y"][k], batch["force_z"][k] = force_x, force_y, force_z
        batch["torque_x"][k], batch["torque_y"][k] = y * force_z - z * force_y, z * force_x - x * force_z
        batch["torque_z"][k] = x * force_y - y * force_x
        # Cross products of the arm with the columns, and of the arm with the rows of these.
        xx, xy, xz = y * c_xz - z * c_xy, y * c_yz - z * c_yy, y * c_zz - z * c_yz
        yx, yy, yz = z * c_xx - x * c_xz, z * c_xy - x * c_yz, z * c_xz - x * c_zz
        zx, zy, zz = x * c_xy - y * c_xx, x * c_yy - y * c_xy, x * c_yz - y * c_xz
        batch["turn_xx"][k], batch["turn_xy"][k], batch["turn_xz"][k] = xx, xy, xz
        batch["turn_yx"][k], batch["turn_yy"][k], batch["turn_yz"][k] = yx, yy, yz
        batch["turn_zx"][k], batch["turn_zy"][k], batch["turn_zz"][k] = zx, zy, zz
        batch["spin_xx"][k], batch["spin_yx"][k], batch["spin_zx"][k] = (
            y * xz - z * xy,
            z * xx - x * xz,
            x * xy - y * xx,
        )
        batch["spin_yy"][k], batch["spin_zy"][k], batch["spin_zz"][k] = (
            z * yx - x * yz,
            x * yy - y * yx,
            x * zy - y * zx,
        )


@kernel(error_model="numpy", allocates=False)
def deform(batch: np.void, count: int, soil: SoilParameters, response: Response) -> None:
    """Deform the nodes of a batch as the body does at the end of the step.

    Args:
        batch: Record of BATCH, as `press` leaves it; changed in place.
        count: Number of nodes in it.
        soil: Parameters of the soil.
        response: How it responds to this body.
    """
    per_stiffness, cell, layer = 1.0 / soil.elastic, response.spacing * response.spacing, soil.firm_layer
    for k in range(whole_vectors(count)):
        stretch, sinkage, loose, stress = (
            batch["stretch"][k],
            batch["sinkage"][k],
            batch["loose"][k],
            batch["stress"][k],
        )
        firm_height = batch["undeformed"][k] - sinkage
        # Loose soil is displaced without resistance.
        displaced = max(min(loose, firm_height + loose - batch["undeformed"][k] + batch["depth"][k] * stretch), 0.0)
        rest = min(batch["depth"][k], layer) - batch["plastic"][k] * per_stiffness
        yields = rest > batch["firm"][k]
        more = max(rest * stretch - sinkage, 0.0) if yields else 0.0
        # A fill is displaced down to the pressed soil below it, which carries from the next step on.
        fill = batch["fill"][k]
        more = min(more, fill) if fill > 0.0 else more
        batch["fill"][k] = max(fill - more, 0.0)
        batch["sinkage"][k] = sinkage + more
        batch["loose"][k] = loose - displaced
        # Soil beside the body in its cell is pushed aside as the body covers more of the cell.
        part, before = batch["covered"][k], batch["covered_before"][k]
        beside = (batch["height"][k] - before * (firm_height + loose)) / max(1.0 - before, 1e-9)
        grown, pressed = max(part - before, 0.0), firm_height + loose - more - displaced
        batch["pressed"][k] = min(part, before) * (more + displaced)
        batch["pushed"][k] = grown * max(beside - pressed, 0.0)
        batch["elastic_energy"][k] = 0.5 * stress * stress * per_stiffness * part * cell * stretch
