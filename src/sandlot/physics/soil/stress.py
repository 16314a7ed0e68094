"""Stresses between soil and a body, node by node, and what they do to both.

A node under a body is pressed down to the body's lowest point above it. The normal stress is elastic up to yield, and
Bekker's from there on. Shear stress grows with slip as Janosi and Hanamoto describe, up to the limit of Mohr and
Coulomb. Stresses act on the covered fraction of a cell. Under a moving body they act along the normal of the undeformed
ground, as in other soil contact models.

The loops that take most of the time have no branches, so that they compile to vector instructions.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import TRACK, Three
from sandlot.physics.soil.batch import BATCH_SIZE, add_up, belt_directions, gather, scatter
from sandlot.physics.soil.ground import Ground
from sandlot.physics.soil.kinds import POWER_STEP, SoilParameters
from sandlot.physics.soil.patch import Patch, patch_width, slopes

CREEP_SPEED, CREEP_DAMPING = 0.01, 5.0
"""Slip slower than this [m/s] is damped by this fraction of the shear strength per speed [s/m], so that a body comes to
rest instead of swinging on the soil's shear."""


class Motion(NamedTuple):
    """How a body and its belt move.

    Attributes:
        angular: Angular velocity [rad/s].
        linear: Velocity of the point ``about`` [m/s].
        about: Point of the body [m].
        centre: Centre of mass of the body [m].
        belt_speed: Speed of the belt [m/s].
    """

    angular: Three
    linear: Three
    about: Three
    centre: Three
    belt_speed: float


class Response(NamedTuple):
    """How soil responds to one body in one step.

    Attributes:
        step: Number of the step.
        dt: Length of the step [s].
        spacing: Distance of nodes [m].
        modulus: Bekker's modulus for this patch, kc / width + kphi [Pa/m^n].
        stiffness: Elastic stiffness [Pa/m].
        rebound_speed: Speed of separation at which the elastic stress is halved [m/s].
        rest: Direction of the stress: from 0, along the normal of the undeformed ground, to 1, along that of the
            hollow under the body.
    """

    step: float
    dt: float
    spacing: float
    modulus: float
    stiffness: float
    rebound_speed: float
    rest: float


@kernel(error_model="numpy", allocates=False)
def bekker_modulus(soil: SoilParameters, contact: NDArray[np.void], spacing: float) -> float:
    """Bekker's modulus for a patch [Pa/m^n]."""
    modulus = soil.kphi
    if soil.kc != 0.0:
        modulus += soil.kc / patch_width(contact, spacing)
    return modulus


@kernel(error_model="numpy", allocates=False, fastmath={"contract"})
def press(batch: np.void, count: int, soil: SoilParameters, response: Response, motion: Motion) -> None:
    """Press and shear a batch of nodes: their new states, and the forces on the body.

    Args:
        batch: Record of BATCH, changed in place.
        count: Number of nodes in it.
        soil: Parameters of the soil.
        response: How it responds to this body.
        motion: How the body moves.
    """
    last, powers = len(soil.powers) - 2, soil.powers
    (w_x, w_y, w_z), (v_x, v_y, v_z), (a_x, a_y, a_z) = motion.angular, motion.linear, motion.about
    stiffness, modulus, belt, rest = response.stiffness, response.modulus, motion.belt_speed, response.rest
    cohesion, friction, damping, cell = soil.cohesion, soil.friction, soil.damping, response.spacing * response.spacing
    per_shear, per_stiffness, per_rebound = 1.0 / soil.shear, 1.0 / stiffness, 1.0 / response.rebound_speed
    per_creep = 1.0 / CREEP_SPEED**2
    # Loops over the whole batch, whose last places may be unused, compile to vector instructions. The one that looks up
    # powers does not.
    for k in range(BATCH_SIZE):
        slope_x, slope_y = batch["slope_x"][k], batch["slope_y"][k]
        stretch = math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
        batch["depth"][k] = max((batch["undeformed"][k] - batch["z"][k]) / stretch, 0.0)
        batch["stretch"][k] = stretch
    for k in range(count):
        at = batch["depth"][k] * (1.0 / POWER_STEP)
        low = min(int(at), last)
        below, above = powers[low], powers[low + 1]
        batch["yield_stress"][k] = modulus * (below + (at - low) * (above - below))
    for k in range(BATCH_SIZE):
        undeformed, sinkage, loose, z = (
            batch["undeformed"][k],
            batch["sinkage"][k],
            batch["loose"][k],
            batch["z"][k],
        )
        depth, plastic, stretch = batch["depth"][k], batch["yield_stress"][k], batch["stretch"][k]
        up = 1.0 / stretch
        slope_x, slope_y = batch["slope_x"][k], batch["slope_y"][k]
        n_x, n_y = -slope_x * up, -slope_y * up
        # Loose soil is displaced without resistance.
        firm_height = undeformed - sinkage
        displaced = max(min(loose, firm_height + loose - z), 0.0)
        # The stress is elastic from the deformed surface on, but does not exceed Bekker's.
        elastic = stiffness * (firm_height - z) * up
        stress = max(min(elastic, plastic), 0.0)
        more = max((depth - stress * per_stiffness) * stretch - sinkage, 0.0) if elastic > plastic else 0.0
        batch["sinkage"][k] = sinkage + more
        batch["loose"][k] = loose - displaced
        # Soil beside the body in its cell is pushed aside as the body covers more of the cell.
        part, before = batch["covered"][k], batch["covered_before"][k]
        beside = (batch["height"][k] - before * (firm_height + loose)) / max(1.0 - before, 1e-9)
        grown, pressed = max(part - before, 0.0), firm_height + loose - more - displaced
        batch["pressed"][k] = min(part, before) * (more + displaced)
        batch["pushed"][k] = grown * max(beside - pressed, 0.0)
        firm = 1.0 if elastic > 0.0 else 0.0
        batch["elastic_energy"][k] = 0.5 * stress * stress * per_stiffness * batch["covered"][k] * cell
        # Velocity of the body's surface.
        x, y, z = batch["x"][k] - a_x, batch["y"][k] - a_y, z - a_z
        vx = v_x + w_y * z - w_z * y + belt * batch["belt_x"][k]
        vy = v_y + w_z * x - w_x * z + belt * batch["belt_y"][k]
        vz = v_z + w_x * y - w_y * x + belt * batch["belt_z"][k]
        separation = vx * n_x + vy * n_y + vz * up
        stress = firm * max(stress / (1.0 + max(separation, 0.0) * per_rebound) - damping * separation, 0.0)
        vx, vy, vz = vx - separation * n_x, vy - separation * n_y, vz - separation * up
        # The mobilised fraction of the shear strength follows slip. This rational function is exp(-slip / K) to 1 in
        # 1000 up to 1.
        square = vx * vx + vy * vy + vz * vz
        speed = math.sqrt(square)
        slip = min(speed * response.dt * per_shear, 2.0)
        old = (12.0 - slip * (6.0 - slip)) / (12.0 + slip * (6.0 + slip))
        new = (1.0 - old) / max(speed, 1e-12)
        sx, sy = batch["shear_x"][k] * old + vx * new, batch["shear_y"][k] * old + vy * new
        batch["shear_x"][k], batch["shear_y"][k] = firm * sx, firm * sy
        sz = -(sx * n_x + sy * n_y) * stretch
        slow = 1.0 + square * per_creep
        creep = CREEP_DAMPING / (slow * slow)
        limit = firm * cohesion + stress * friction
        area = batch["covered"][k] * cell * stretch
        n_x += rest * up * (slope_x - batch["hollow_x"][k])
        n_y += rest * up * (slope_y - batch["hollow_y"][k])
        batch["force_x"][k] = area * (stress * n_x - limit * (sx + creep * vx))
        batch["force_y"][k] = area * (stress * n_y - limit * (sy + creep * vy))
        batch["force_z"][k] = area * (stress * up - limit * (sz + creep * vz))


@kernel(error_model="numpy", allocates=False)
def tread(
    ground: Ground,
    soil: SoilParameters,
    shape: np.void,
    load: np.void,
    patch: Patch,
    batch: np.void,
    response: Response,
    motion: Motion,
) -> int:
    """Press and shear all nodes of a patch.

    Args:
        ground: Changed in place.
        soil: Parameters of the soil.
        shape: Record of `sandlot.physics.soil.contacts.SOIL_SHAPE`.
        load: Record of `sandlot.physics.soil.contacts.SOIL_LOAD`, added to.
        patch: Nodes that the shape touches.
        batch: Room for a batch.
        response: How the soil responds to the body.
        motion: How the body moves.

    Returns:
        The number of nodes at the edge of the patch.
    """
    for k in range(len(patch.indices)):
        ground.nodes[patch.indices[k]]["contact"] = response.step
    count = slopes(ground, patch, response.step)
    for first in range(0, len(patch.indices), BATCH_SIZE):
        index, contact = patch.indices[first : first + BATCH_SIZE], patch.contact[first : first + BATCH_SIZE]
        gather(ground, index, contact, batch)
        if shape["kind"] == TRACK:
            belt_directions(batch, len(index), shape)
        press(batch, len(index), soil, response, motion)
        scatter(ground, index, batch, response.step)
        add_up(batch, len(index), motion.centre, load)
    return count
