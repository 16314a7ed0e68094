"""A step of a MuJoCo simulation on soil, compiled: soil and bodies act on each other, then MuJoCo integrates."""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.attachment import apply_load, update_pose
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
from sandlot.physics.soil.batch import batch_end, belt_directions, gather, scatter
from sandlot.physics.soil.contacts import Contacts
from sandlot.physics.soil.damping import damping_rate, squared_speed
from sandlot.physics.soil.ground import Ground, release
from sandlot.physics.soil.kinds import soil_of
from sandlot.physics.soil.motion import Motion, velocity_at
from sandlot.physics.soil.parts import body_motion, jacobian, move_ahead
from sandlot.physics.soil.patch import Patch, slopes, sort_by_kind
from sandlot.physics.soil.rims import spill
from sandlot.physics.soil.search.find import drop_covered, find
from sandlot.physics.soil.search.nodes import RELEASE_GAP
from sandlot.physics.soil.slides import slide
from sandlot.physics.soil.stress import Response, bekker_modulus, deform, prepare
from sandlot.physics.soil.window import strays

MIN_CHECKS, QUEUE_PER_STEP = 32, 8
"""A step checks this many queued nodes for slides, or one in so many of all queued nodes if that is more."""
REST_SPEED = 0.03
"""Under bodies slower than about this [m/s], stress acts along the normal of the hollow that they have made; under
faster ones, along the normal of the undeformed ground. The latter would not push a body back to the middle of its
hollow."""
FOLLOW = -2
"""In place of a shape: the window of endless ground has to follow before the next step."""
MAX_VALUE = 1e10
"""Velocities and accelerations from which on MuJoCo calls a simulation bad."""


@kernel(error_model="numpy", allocates=False)
def clear(load: np.void, touches: bool) -> None:
    """Set the loads of the last step to zero; the record of energy is kept as long as a shape touches the ground."""
    if not touches:
        load["energy_before"] = load["energy_debt"] = 0.0
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
        shape["patch_start"] = shape["patch_end"] = total
        motion = body_motion(shape, simulation)
        if not is_far(ground, shape, simulation, motion, dt):
            update_pose(shape, simulation)
            move_ahead(shape, motion, dt)
            total += find(ground, shape, contacts.mesh, patches, total, step)
            shape["patch_end"] = total
    total = drop_covered(shapes, patches)
    for k in contacts.touched[: contacts.counters["shapes"]]:
        clear(contacts.loads[k], shapes[k]["patch_end"] > shapes[k]["patch_start"])
    counters["shapes"] = 0
    for k in range(len(shapes)):
        if shapes[k]["patch_end"] > shapes[k]["patch_start"]:
            contacts.touched[counters["shapes"]] = k
            counters["shapes"] += 1
            if shapes[k]["tree"] >= 0:
                contacts.joints.trees[shapes[k]["tree"]]["touches"] = 1
    return total


@kernel(error_model="numpy", allocates=False)
def collect(ground: Ground, soils: NDArray[np.void], contacts: Contacts, simulation: Simulation, dt: float) -> None:
    """Collect the nodes under all shapes into batches, and what else `balance` needs."""
    patches, edge_end, batches, count, step = contacts.patches, 0, contacts.batches, 0, contacts.counters["step"]
    for k in contacts.touched[: contacts.counters["shapes"]]:
        shape, load = contacts.shapes[k], contacts.loads[k]
        start, end = shape["patch_start"], shape["patch_end"]
        shape["edge_start"], shape["batch_start"] = edge_end, count
        motion = body_motion(shape, simulation)
        square = squared_speed(shape, motion)
        patch = Patch(patches.indices[start:end], patches.contact[start:end], contacts.edge[edge_end:])
        if len(soils) > 1:
            sort_by_kind(ground.marks["kind"], patch.indices, patch.contact)
        edge_end += slopes(ground, patch, step, len(soils) > 1)
        shape["edge_end"] = edge_end
        load["rest"] = 1.0 / (1.0 + square / (REST_SPEED * REST_SPEED)) ** 2
        load["damping"] = damping_rate(shape, load, square, dt)
        for m in range(3):
            load["centre"][m] = motion.centre[m]
        first = start
        while first < end:
            batch, kind = batches[count], int(ground.marks["kind"][patches.indices[first]])
            last, soil = batch_end(ground.marks["kind"], patches.indices, first, end), soil_of(soils, kind)
            batch["first"], batch["count"], batch["kind"] = first, last - first, kind
            if first == start or batches[count - 1]["kind"] != kind:
                batch["modulus"] = bekker_modulus(soil, patch.contact, ground.spacing)
            else:
                batch["modulus"] = batches[count - 1]["modulus"]
            gather(ground, patches.indices[first:last], patches.contact[first:last], batch)
            if shape["kind"] == TRACK:
                belt_directions(batch, last - first, shape)
            prepare(batch, last - first, soil, Response(dt, ground.spacing, batch["modulus"], load["rest"]), motion)
            first, count = last, count + 1
        shape["batch_end"] = count


@kernel(error_model="numpy", allocates=False)
def leave_traces(
    ground: Ground, soils: NDArray[np.void], contacts: Contacts, simulation: Simulation, total: int, dt: float
) -> None:
    """Deform the ground under all shapes, let displaced soil rise around them, and let slopes slide."""
    counters, patches, step = contacts.counters, contacts.patches, contacts.counters["step"]
    for k in contacts.touched[: contacts.counters["shapes"]]:
        shape, load = contacts.shapes[k], contacts.loads[k]
        for b in range(shape["batch_start"], shape["batch_end"]):
            nodes = contacts.batches[b]
            index = patches.indices[nodes["first"] : nodes["first"] + nodes["count"]]
            response = Response(dt, ground.spacing, nodes["modulus"], load["rest"])
            deform(nodes, nodes["count"], soil_of(soils, nodes["kind"]), response)
            scatter(ground, index, nodes, step)
            volume, x, y = load["displaced"], load["displaced_x"], load["displaced_y"]
            energy = load["elastic_energy"]
            for m in range(len(index)):
                part = nodes["pressed"][m]
                volume, x, y = volume + part, x + part * nodes["x"][m], y + part * nodes["y"][m]
                energy += nodes["elastic_energy"][m]
            load["displaced"], load["displaced_x"], load["displaced_y"] = volume, x, y
            load["elastic_energy"] = energy
    sheltered = release(ground, contacts.before[: counters["held"]], step)
    for k in contacts.touched[: contacts.counters["shapes"]]:
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
    slide(ground, soils["repose"], step, max(MIN_CHECKS, ground.queue["count"] // QUEUE_PER_STEP))


@kernel(error_model="numpy", allocates=False)
def exchange(
    ground: Ground, soils: NDArray[np.void], contacts: Contacts, simulation: Simulation, dynamics: Dynamics, dt: float
) -> None:
    """Let soil and the bodies that `touch` found act on each other: loads into ``contacts``, tangents into ``M``."""
    joints, shapes = contacts.joints, contacts.shapes
    collect(ground, soils, contacts, simulation, dt)
    for k in contacts.touched[: contacts.counters["shapes"]]:
        jacobian(shapes[k], joints.dofs[k, : shapes[k]["columns"]], simulation, dynamics, joints.jacobians[k])
    for k in range(len(joints.trees)):
        if joints.trees[k]["touches"]:
            balance(
                joints,
                joints.trees[k],
                contacts.touched[: contacts.counters["shapes"]],
                shapes,
                contacts.loads,
                contacts.batches,
                soils,
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
    for k in contacts.touched[: contacts.counters["shapes"]]:
        force = contacts.loads[k]["force"]
        square = force[0] ** 2 + force[1] ** 2 + force[2] ** 2
        if not square <= largest:
            worst, largest = k, square
            if not square < np.inf:
                break
    return worst


@kernel(error_model="numpy", allocates=False, nogil=True, helper="sandlot.physics.soil.ahead")
def advance(
    ground: Ground,
    soils: NDArray[np.void],
    contacts: Contacts,
    simulation: Simulation,
    dynamics: Dynamics,
    user: AppliedForces,
    addresses: Addresses,
    dt: float,
    steps: int,
    begun: bool,
) -> tuple[int, int]:
    """Make steps of a simulation on soil, until they are made, the simulation diverges, or a window has to follow.

    Args:
        ground: Changed in place.
        soils: (kinds,) of `sandlot.physics.soil.kinds.SOIL`.
        contacts: What touches it.
        simulation: Arrays of the simulation.
        dynamics: How forces accelerate it.
        user: Room for the forces that the user applies.
        addresses: Where the simulation and MuJoCo's functions are.
        dt: Length of a step [s].
        steps: Number of steps.
        begun: Whether the first step was begun before: the window had to follow, and has done so.

    Returns:
        The number of steps that were made before the simulation diverged, and the shape with the largest force in that
        step; or before the window had to follow, and FOLLOW; if neither happened, the number of steps, and -1.
    """
    keep_forces(simulation, user)
    for made in range(steps):
        if made > 0 or not begun:
            call(addresses.mj_step1, addresses.model, addresses.data)
            if strays(ground, contacts.shapes, simulation):
                return made, FOLLOW
        total = touch(ground, contacts, simulation, dt)
        if total > 0:
            call(addresses.mj_fwdActuation, addresses.model, addresses.data)
            call(addresses.mj_fwdAcceleration, addresses.model, addresses.data)
            exchange(ground, soils, contacts, simulation, dynamics, dt)
            call(addresses.mj_factorM, addresses.model, addresses.data)
            for k in contacts.touched[: contacts.counters["shapes"]]:
                apply_load(contacts.shapes[k], contacts.loads[k], simulation)
        leave_traces(ground, soils, contacts, simulation, total, dt)
        worst = most_loaded(contacts)
        call(addresses.mj_step2, addresses.model, addresses.data)
        finish(
            contacts.joints,
            contacts.touched[: contacts.counters["shapes"]],
            contacts.shapes,
            contacts.loads,
            simulation,
            dt,
        )
        restore_forces(simulation, user)
        if is_bad(simulation, dynamics):
            return made, worst
    return steps, -1
