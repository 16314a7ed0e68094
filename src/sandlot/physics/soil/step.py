"""A step of a MuJoCo simulation on soil, compiled: soil and bodies act on each other, then MuJoCo integrates."""

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.attachment import apply_loads, update_pose
from sandlot.physics.mujoco_bridge import Addresses, AppliedForces, Simulation, call, keep_forces, restore_forces
from sandlot.physics.shapes import Three
from sandlot.physics.soil.contacts import Contacts
from sandlot.physics.soil.find import find
from sandlot.physics.soil.ground import Ground, release
from sandlot.physics.soil.kinds import SoilParameters
from sandlot.physics.soil.patch import Patch
from sandlot.physics.soil.rims import spill
from sandlot.physics.soil.slides import slide
from sandlot.physics.soil.stress import Motion, Response, bekker_modulus, tread

MIN_CHECKS, QUEUE_PER_STEP = 32, 8
"""A step checks this many queued nodes for slides, or one in so many of all queued nodes if that is more."""
REBOUND_SPEED = 0.03
"""Speed of separation at which the elastic stress is halved [m/s], since soil does not bounce. It is higher for a light
body, which the loss of stress would otherwise stop more than once in a step."""
REST_SPEED = 0.03
"""Under bodies slower than about this [m/s], stress acts along the normal of the hollow that they have made; under
faster ones, along the normal of the undeformed ground. The latter would not push a body back to the middle of its
hollow."""
REST_DAMPING, REST_DAMPING_SPEED = 3.0, 0.1
"""Rate at which soil damps the motion of a body [1/s] that is slower than this [m/s]."""
MAX_REPAID = 0.1
"""Maximum fraction of its momentum that a body loses in a step to repay energy."""


@kernel(error_model="numpy", allocates=False)
def body_motion(shape: np.void, simulation: Simulation) -> Motion:
    """How the body and the belt of a shape move."""
    body, dof = shape["body"], shape["dof"]
    v, about, centre = simulation.cvel[body], simulation.subtree_com[shape["root"]], simulation.xipos[body]
    belt_speed = simulation.qvel[dof] * shape["size"][1] if dof >= 0 else 0.0
    return Motion(
        (v[0], v[1], v[2]),
        (v[3], v[4], v[5]),
        (about[0], about[1], about[2]),
        (centre[0], centre[1], centre[2]),
        belt_speed,
    )


@kernel(error_model="numpy", allocates=False)
def velocity_at(motion: Motion, px: float, py: float, pz: float) -> Three:
    """Velocity of a point of a body [m/s]."""
    w, v = motion.angular, motion.linear
    x, y, z = px - motion.about[0], py - motion.about[1], pz - motion.about[2]
    return v[0] + w[1] * z - w[2] * y, v[1] + w[2] * x - w[0] * z, v[2] + w[0] * y - w[1] * x


@kernel(error_model="numpy", allocates=False)
def squared_speed(shape: np.void, motion: Motion) -> float:
    """Square of the speed at which a body would have its kinetic energy if it did not rotate [m^2/s^2]."""
    w, (vx, vy, vz) = motion.angular, velocity_at(motion, motion.centre[0], motion.centre[1], motion.centre[2])
    ratio = shape["inertia"] / shape["mass"]
    return vx * vx + vy * vy + vz * vz + ratio * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])


@kernel(error_model="numpy", allocates=False)
def dissipate(shape: np.void, load: np.void, motion: Motion, dt: float) -> None:
    """Let a body come to rest: soil damps slow motion, and takes back energy that it gave but had not stored.

    Stress along the normal of the ground, not of the body, can do work on a round body that slides in its own hollow
    though nothing was stored there, so that it would rock forever. The work of the soil is therefore compared with its
    stored energy, and the difference taken back: a passivity controller (Hannaford and Ryu 2002).

    Args:
        shape: Record of SOIL_SHAPE.
        load: Record of SOIL_LOAD; forces and energy debt are changed.
        motion: How its body moves.
        dt: Length of the step [s].
    """
    force, torque, mass, inertia = load["force"], load["torque"], shape["mass"], shape["inertia"]
    w, (vx, vy, vz) = motion.angular, velocity_at(motion, motion.centre[0], motion.centre[1], motion.centre[2])
    power = force[0] * vx + force[1] * vy + force[2] * vz + torque[0] * w[0] + torque[1] * w[1] + torque[2] * w[2]
    power += load["belt_force"] * motion.belt_speed
    debt = max(load["energy_debt"] + power * dt + load["elastic_energy"] - load["energy_before"], 0.0)
    square = squared_speed(shape, motion)
    twice_energy = mass * square
    if twice_energy > 0.0:
        rate = min(debt / (twice_energy * dt), MAX_REPAID / dt)
        debt -= rate * twice_energy * dt
        rate += REST_DAMPING / (1.0 + square / (REST_DAMPING_SPEED * REST_DAMPING_SPEED)) ** 2
        force[0] -= rate * mass * vx
        force[1] -= rate * mass * vy
        force[2] -= rate * mass * vz
        for k in range(3):
            torque[k] -= rate * inertia * w[k]
    load["energy_debt"] = debt


@kernel(error_model="numpy", allocates=False)
def clear(load: np.void) -> None:
    """Set the loads of the last step to zero, but keep the record of energy."""
    for k in range(3):
        load["force"][k] = load["torque"][k] = 0.0
    load["drive_torque"] = load["belt_force"] = load["elastic_energy"] = 0.0
    load["displaced"] = load["displaced_x"] = load["displaced_y"] = 0.0


@kernel(error_model="numpy", allocates=False)
def exchange(ground: Ground, soil: SoilParameters, contacts: Contacts, simulation: Simulation, dt: float) -> None:
    """Let soil and bodies act on each other for one step: loads into ``contacts``, ruts and rims into the ground."""
    counters, patches, total, edge_end = contacts.counters, contacts.patches, 0, 0
    counters["step"] += 1.0
    step = counters["step"]
    for k in range(len(contacts.shapes)):
        shape, load = contacts.shapes[k], contacts.loads[k]
        update_pose(shape, simulation)
        count = find(ground, shape, contacts.mesh, patches, total, step)
        rebound_speed = max(REBOUND_SPEED, 4.0 * dt * load["force"][2] / shape["effective_mass"])
        clear(load)
        shape["edge_start"] = edge_end
        if count > 0:
            patch = Patch(
                patches.indices[total : total + count], patches.contact[total : total + count], contacts.edge[edge_end:]
            )
            motion = body_motion(shape, simulation)
            rest = 1.0 / (1.0 + squared_speed(shape, motion) / (REST_SPEED * REST_SPEED)) ** 2
            modulus = bekker_modulus(soil, patch.contact, ground.spacing)
            response = Response(step, dt, ground.spacing, modulus, shape["stiffness"], rebound_speed, rest)
            edge_end += tread(ground, soil, shape, load, patch, contacts.batch[0], response, motion)
            dissipate(shape, load, motion, dt)
            load["drive_torque"] = load["belt_force"] * shape["size"][1]
        shape["edge_end"] = edge_end
        load["energy_before"] = load["elastic_energy"]
        total += count
    release(ground, contacts.before[: counters["touched"]], step)
    for k in range(len(contacts.shapes)):
        shape, load = contacts.shapes[k], contacts.loads[k]
        volume = load["displaced"]
        if volume > 0.0:
            counters["rim"] += 1.0
            edge, position = contacts.edge[shape["edge_start"] : shape["edge_end"]], shape["position"]
            source = (load["displaced_x"] / volume, load["displaced_y"] / volume)
            velocity = velocity_at(body_motion(shape, simulation), position[0], position[1], position[2])
            spill(ground, edge, step, counters["rim"], volume, source, velocity, contacts.rim)
    for k in range(total):
        contacts.before[k] = patches.indices[k]
    counters["touched"] = total
    slide(ground, soil.repose, step, max(MIN_CHECKS, ground.queue["count"] // QUEUE_PER_STEP))


@kernel(error_model="numpy", allocates=False, nogil=True)
def advance(
    ground: Ground,
    soil: SoilParameters,
    contacts: Contacts,
    simulation: Simulation,
    user: AppliedForces,
    addresses: Addresses,
    dt: float,
    steps: int,
) -> None:
    """Make steps of a simulation on soil.

    Args:
        ground: Changed in place.
        soil: Parameters of the soil.
        contacts: What touches it.
        simulation: Arrays of the simulation.
        user: Room for the forces that the user applies.
        addresses: Where the simulation and MuJoCo's functions are.
        dt: Length of a step [s].
        steps: Number of steps.
    """
    keep_forces(simulation, user)
    for _ in range(steps):
        call(addresses.mj_step1, addresses.model, addresses.data)
        exchange(ground, soil, contacts, simulation, dt)
        apply_loads(contacts.shapes, contacts.loads, simulation)
        call(addresses.mj_step2, addresses.model, addresses.data)
        restore_forces(simulation, user)
