"""A step of a MuJoCo simulation on soil, compiled: soil and bodies act on each other, then MuJoCo integrates."""

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.attachment import apply_loads, update_pose
from sandlot.physics.mujoco_bridge import (
    Addresses,
    AppliedForces,
    Dynamics,
    Simulation,
    call,
    keep_forces,
    restore_forces,
)
from sandlot.physics.shapes import TRACK
from sandlot.physics.soil.balance import balance, finish
from sandlot.physics.soil.batch import BATCH_SIZE, belt_directions, gather, scatter
from sandlot.physics.soil.contacts import Contacts
from sandlot.physics.soil.ground import Ground, release
from sandlot.physics.soil.kinds import SoilParameters
from sandlot.physics.soil.parts import body_motion, jacobian, move_ahead
from sandlot.physics.soil.patch import Patch, slopes
from sandlot.physics.soil.rims import spill
from sandlot.physics.soil.search.find import drop_covered, find
from sandlot.physics.soil.search.nodes import RELEASE_GAP
from sandlot.physics.soil.slides import slide
from sandlot.physics.soil.stress import Motion, Response, bekker_modulus, deform, prepare, velocity_at

MIN_CHECKS, QUEUE_PER_STEP = 32, 8
"""A step checks this many queued nodes for slides, or one in so many of all queued nodes if that is more."""
REST_SPEED = 0.03
"""Under bodies slower than about this [m/s], stress acts along the normal of the hollow that they have made; under
faster ones, along the normal of the undeformed ground. The latter would not push a body back to the middle of its
hollow."""
REST_DAMPING, REST_DAMPING_SPEED = 3.0, 0.1
"""Rate at which soil damps the motion of a body [1/s] that is slower than this [m/s]."""
MAX_REPAID = 0.1
"""Maximum fraction of its momentum that a body loses in a step to repay energy."""
MAX_VALUE = 1e10
"""Velocities and accelerations from which on MuJoCo calls a simulation bad."""


@kernel(error_model="numpy", allocates=False)
def squared_speed(shape: np.void, motion: Motion) -> float:
    """Square of the speed at which a body would have its kinetic energy if it did not rotate [m^2/s^2]."""
    (vx, vy, vz), (wx, wy, wz) = motion.linear, motion.angular
    ratio = shape["inertia"] / shape["mass"]
    return vx * vx + vy * vy + vz * vz + ratio * (wx * wx + wy * wy + wz * wz)


@kernel(error_model="numpy", allocates=False)
def damping_rate(shape: np.void, load: np.void, square: float, dt: float) -> float:
    """Rate at which soil damps all motion of a body [1/s]: it damps slow motion, and takes back energy.

    Stress along the normal of the ground, not of the body, can do work on a round body that slides in its own hollow
    though nothing was stored there, so that it would rock forever. The work of the soil is therefore compared with its
    stored energy, and the difference taken back: a passivity controller (Hannaford and Ryu 2002).

    Args:
        shape: Record of SOIL_SHAPE.
        load: Record of SOIL_LOAD.
        square: As `squared_speed` gives it [m^2/s^2].
        dt: Length of the step [s].
    """
    twice_energy = shape["mass"] * square
    repaid = min(load["energy_debt"] / (twice_energy * dt), MAX_REPAID / dt) if twice_energy > 0.0 else 0.0
    return repaid + REST_DAMPING / (1.0 + square / (REST_DAMPING_SPEED * REST_DAMPING_SPEED)) ** 2


@kernel(error_model="numpy", allocates=False)
def clear(load: np.void) -> None:
    """Set the loads of the last step to zero, but keep the record of energy."""
    for k in range(3):
        load["force"][k] = load["torque"][k] = 0.0
    load["drive_torque"] = load["belt_force"] = load["elastic_energy"] = 0.0
    load["displaced"] = load["displaced_x"] = load["displaced_y"] = 0.0


@kernel(error_model="numpy", allocates=False)
def is_far(ground: Ground, shape: np.void, simulation: Simulation, motion: Motion, dt: float) -> bool:
    """Whether a sphere around a shape will be above all nodes at the end of the step."""
    geom, (_, _, v_z), (w_x, w_y, w_z) = shape["geom"], motion.linear, motion.angular
    if geom < 0:
        return False
    centre, about = simulation.geom_xpos[geom], motion.centre
    # The sphere is at rest in the frame of the body, whose points move by no more than this.
    reach = abs(centre[0] - about[0]) + abs(centre[1] - about[1]) + abs(centre[2] - about[2])
    moved = dt * (abs(v_z) + (abs(w_x) + abs(w_y) + abs(w_z)) * reach)
    return centre[2] - shape["radius"] - moved > ground.queue["highest"] + RELEASE_GAP


@kernel(error_model="numpy", allocates=False)
def touch(ground: Ground, contacts: Contacts, simulation: Simulation, dt: float) -> int:
    """Find the nodes that shapes will touch at the end of the step, if they move on as they do now; returns how many.

    Patches, batches and slopes are prepared for `balance`.
    """
    counters, patches, shapes, total = contacts.counters, contacts.patches, contacts.shapes, 0
    counters["step"] += 1.0
    step = counters["step"]
    for k in range(len(contacts.joints.trees)):
        contacts.joints.trees[k]["touches"] = 0
    # The last shapes come first: feet are the last bodies of legs, and hide nodes from the parts above them.
    for k in range(len(shapes) - 1, -1, -1):
        shape = shapes[k]
        if shape["patch_end"] > shape["patch_start"]:
            clear(contacts.loads[k])
        shape["patch_start"] = shape["patch_end"] = total
        motion = body_motion(shape, simulation)
        if is_far(ground, shape, simulation, motion, dt):
            continue
        update_pose(shape, simulation)
        move_ahead(shape, motion, dt)
        total += find(ground, shape, contacts.mesh, patches, total, step)
        shape["patch_end"] = total
        if total > shape["patch_start"] and shape["tree"] >= 0:
            contacts.joints.trees[shape["tree"]]["touches"] = 1
    return drop_covered(shapes, patches)


@kernel(error_model="numpy", allocates=False)
def collect(ground: Ground, soil: SoilParameters, contacts: Contacts, simulation: Simulation, dt: float) -> None:
    """Collect the nodes under all shapes into batches, and what else `balance` needs."""
    patches, edge_end, batch_end, step = contacts.patches, 0, 0, contacts.counters["step"]
    for k in range(len(contacts.shapes)):
        shape, load = contacts.shapes[k], contacts.loads[k]
        start, end = shape["patch_start"], shape["patch_end"]
        shape["edge_start"] = shape["edge_end"] = edge_end
        shape["batch_start"] = batch_end
        if end == start:
            continue
        motion = body_motion(shape, simulation)
        square = squared_speed(shape, motion)
        patch = Patch(patches.indices[start:end], patches.contact[start:end], contacts.edge[edge_end:])
        edge_end += slopes(ground, patch, step)
        shape["edge_end"] = edge_end
        load["rest"] = 1.0 / (1.0 + square / (REST_SPEED * REST_SPEED)) ** 2
        load["modulus"] = bekker_modulus(soil, patch.contact, ground.spacing)
        load["damping"] = damping_rate(shape, load, square, dt)
        for m in range(3):
            load["centre"][m] = motion.centre[m]
        response = Response(dt, ground.spacing, load["modulus"], load["rest"])
        for first in range(start, end, BATCH_SIZE):
            last = min(first + BATCH_SIZE, end)
            batch = contacts.batches[batch_end]
            gather(ground, patches.indices[first:last], patches.contact[first:last], batch)
            if shape["kind"] == TRACK:
                belt_directions(batch, last - first, shape)
            prepare(batch, last - first, soil, response, motion)
            batch_end += 1


@kernel(error_model="numpy", allocates=False)
def leave_traces(
    ground: Ground, soil: SoilParameters, contacts: Contacts, simulation: Simulation, total: int, dt: float
) -> None:
    """Deform the ground under all shapes, let displaced soil rise around them, and let slopes slide."""
    counters, patches, step = contacts.counters, contacts.patches, contacts.counters["step"]
    for k in range(len(contacts.shapes)):
        shape, load = contacts.shapes[k], contacts.loads[k]
        batch, response = shape["batch_start"], Response(dt, ground.spacing, load["modulus"], load["rest"])
        for first in range(shape["patch_start"], shape["patch_end"], BATCH_SIZE):
            index, nodes = patches.indices[first : min(first + BATCH_SIZE, shape["patch_end"])], contacts.batches[batch]
            deform(nodes, soil, response)
            scatter(ground, index, nodes, step)
            for m in range(len(index)):
                part = nodes["pressed"][m]
                load["displaced"] += part
                load["displaced_x"] += part * nodes["x"][m]
                load["displaced_y"] += part * nodes["y"][m]
                load["elastic_energy"] += nodes["elastic_energy"][m]
            batch += 1
    sheltered = release(ground, contacts.before[: counters["held"]], step)
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
        contacts.before[sheltered + k] = patches.indices[k]
    counters["held"] = sheltered + total
    slide(ground, soil.repose, step, max(MIN_CHECKS, ground.queue["count"] // QUEUE_PER_STEP))


@kernel(error_model="numpy", allocates=False)
def exchange(
    ground: Ground, soil: SoilParameters, contacts: Contacts, simulation: Simulation, dynamics: Dynamics, dt: float
) -> None:
    """Let soil and the bodies that `touch` found act on each other: loads into ``contacts``, tangents into ``M``."""
    joints, shapes = contacts.joints, contacts.shapes
    collect(ground, soil, contacts, simulation, dt)
    for k in range(len(shapes)):
        if shapes[k]["patch_end"] > shapes[k]["patch_start"]:
            jacobian(shapes[k], joints.dofs[k, : shapes[k]["columns"]], simulation, dynamics, joints.jacobians[k])
    for k in range(len(joints.trees)):
        if joints.trees[k]["touches"]:
            balance(
                joints,
                joints.trees[k],
                shapes,
                contacts.loads,
                contacts.batches,
                soil,
                simulation.qvel,
                dynamics,
                dt,
                ground.spacing,
            )


@kernel(error_model="numpy", allocates=False)
def is_bad(simulation: Simulation, dynamics: Dynamics) -> bool:
    """Whether a simulation has diverged: a velocity or acceleration is NaN, or as large as MuJoCo warns of."""
    for k in range(len(simulation.qvel)):
        if not (abs(simulation.qvel[k]) < MAX_VALUE and abs(dynamics.qacc[k]) < MAX_VALUE):
            return True
    return False


@kernel(error_model="numpy", allocates=False)
def most_loaded(contacts: Contacts) -> int:
    """The shape with the largest force in the last step; NaN counts as largest."""
    worst, largest = 0, -1.0
    for k in range(len(contacts.loads)):
        force = contacts.loads[k]["force"]
        square = force[0] ** 2 + force[1] ** 2 + force[2] ** 2
        if not square <= largest:
            worst, largest = k, square
            if not square < np.inf:
                break
    return worst


@kernel(error_model="numpy", allocates=False, nogil=True)
def advance(
    ground: Ground,
    soil: SoilParameters,
    contacts: Contacts,
    simulation: Simulation,
    dynamics: Dynamics,
    user: AppliedForces,
    addresses: Addresses,
    dt: float,
    steps: int,
) -> tuple[int, int]:
    """Make steps of a simulation on soil, until they are made or the simulation diverges.

    Args:
        ground: Changed in place.
        soil: Parameters of the soil.
        contacts: What touches it.
        simulation: Arrays of the simulation.
        dynamics: How forces accelerate it.
        user: Room for the forces that the user applies.
        addresses: Where the simulation and MuJoCo's functions are.
        dt: Length of a step [s].
        steps: Number of steps.

    Returns:
        The number of steps before the simulation diverged, and the shape with the largest force in that step; if it
        did not diverge, the number of steps, and -1.
    """
    keep_forces(simulation, user)
    for made in range(steps):
        call(addresses.mj_step1, addresses.model, addresses.data)
        total = touch(ground, contacts, simulation, dt)
        if total > 0:
            call(addresses.mj_fwdActuation, addresses.model, addresses.data)
            call(addresses.mj_fwdAcceleration, addresses.model, addresses.data)
            exchange(ground, soil, contacts, simulation, dynamics, dt)
            call(addresses.mj_factorM, addresses.model, addresses.data)
            apply_loads(contacts.shapes, contacts.loads, simulation)
        leave_traces(ground, soil, contacts, simulation, total, dt)
        worst = most_loaded(contacts)
        call(addresses.mj_step2, addresses.model, addresses.data)
        finish(contacts.joints, contacts.shapes, contacts.loads, simulation, dt)
        restore_forces(simulation, user)
        if is_bad(simulation, dynamics):
            return made, worst
    return steps, -1
