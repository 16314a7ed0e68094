"""The state of soil as plain arrays: to go back to it, to copy it, and to keep it in a file without pickling."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import ModelError
from sandlot.physics.soil.contacts import Contacts
from sandlot.physics.soil.ground import NEVER_TOUCHED, Ground
from sandlot.typing import Array, IntArray

State = dict[str, NDArray[Any]]
"""Arrays by name: ``nodes`` (ny, nx) records, ``queue`` (n,) queued nodes in order, ``highest`` [m]. Of attached soil
also ``counters``, ``held`` (n,) nodes that are touched or sheltered, ``touched`` (n,) nodes, ``patches`` (shapes, 3)
where the nodes of a shape begin and end in these, and at how many points across a cell it is searched, ``loads``
(shapes,) records, and ``constraint`` (nv,) forces of MuJoCo's constraints in the last step [N or N*m]."""
PATCHES = ["patch_start", "patch_end", "samples"]


def fill(ground: Ground, heights: Array) -> None:
    """Make ground undisturbed again, with these heights [m] and an empty queue."""
    nodes = ground.nodes
    nodes[...] = np.zeros(1, nodes.dtype)
    nodes["height"] = nodes["undeformed"] = heights.ravel()
    nodes["contact"] = NEVER_TOUCHED
    enqueue_only(ground, np.zeros(0, np.int64))
    ground.queue["highest"] = heights.max()


def enqueue_only(ground: Ground, which: IntArray) -> None:
    """Replace the queue by these nodes, in this order."""
    ground.marks["queued"] = False
    ground.marks["queued"][which] = True
    ground.ring[: len(which)] = which
    ground.queue["first"], ground.queue["count"] = 0, len(which)


def clear(contacts: Contacts, samples: IntArray) -> None:
    """Forget all steps; ``samples`` (shapes,) is at how many points across a cell each shape was searched at first."""
    for name in contacts.counters.dtype.names:
        contacts.counters[name] = 0
    contacts.loads[...] = np.zeros(1, contacts.loads.dtype)
    contacts.shapes["patch_start"] = contacts.shapes["patch_end"] = 0
    contacts.shapes["samples"] = samples


def queued_nodes(ground: Ground) -> IntArray:
    """A copy of the queue: (n,) nodes in order."""
    order = (int(ground.queue["first"]) + np.arange(int(ground.queue["count"]))) % len(ground.ring)
    found: IntArray = ground.ring[order]
    return found


def ground_state(ground: Ground) -> State:
    """Copies of the arrays of the ground."""
    return {
        "nodes": ground.nodes.reshape(ground.ny, ground.nx).copy(),
        "queue": queued_nodes(ground),
        "highest": np.array(ground.queue["highest"]),
    }


def contact_state(contacts: Contacts, constraint: Array) -> State:
    """Copies of the arrays of attached shapes that later steps depend on."""
    return {
        # NumPy would share the memory of the record if it made an array of it as it is.
        "counters": np.array(contacts.counters.item(), contacts.counters.dtype),
        "held": contacts.before[: contacts.counters["held"]].copy(),
        "touched": contacts.patches.indices[: contacts.shapes["patch_end"].max()].copy(),
        "patches": np.stack([contacts.shapes[name] for name in PATCHES], axis=1),
        "loads": contacts.loads.copy(),
        "constraint": constraint.copy(),
    }


def check(state: Mapping[str, NDArray[Any]], present: State) -> None:
    """Refuse a state of other ground or other shapes than the present ones.

    Raises:
        ModelError: If an array is missing, or of another shape or type.
    """
    for name, mine in present.items():
        if name not in state:
            raise ModelError(f"this state has no {name!r}; allowed: what state() gives of soil that is attached alike")
        given = np.asarray(state[name])
        free = name in ("queue", "held", "touched")
        if (given.ndim != 1 if free else given.shape != mine.shape) or given.dtype != mine.dtype:
            allowed = f"{'any number' if free else mine.shape} of {_kind(mine)}"
            raise ModelError(f"{name!r} of this state is {given.shape} of {_kind(given)}; allowed: {allowed}")
    extra = sorted(set(state) - set(present))
    if extra:
        raise ModelError(f"this state is of soil that is attached to a model; attach this soil first, for {extra[0]!r}")


def _kind(array: NDArray[Any]) -> str:
    """How messages call the type of an array."""
    return "records" if array.dtype.names else str(array.dtype)


def set_ground(ground: Ground, state: Mapping[str, NDArray[Any]]) -> None:
    """Set the ground to a state that was checked."""
    ground.nodes[...] = np.ravel(state["nodes"])
    enqueue_only(ground, np.asarray(state["queue"]))
    ground.queue["highest"] = state["highest"]


def set_contacts(contacts: Contacts, state: Mapping[str, NDArray[Any]]) -> None:
    """Set the attached shapes to a state that was checked."""
    for name in contacts.counters.dtype.names:
        contacts.counters[name] = state["counters"][name]
    contacts.before[: len(state["held"])] = state["held"]
    contacts.patches.indices[: len(state["touched"])] = state["touched"]
    for name, column in zip(PATCHES, np.transpose(state["patches"]), strict=True):
        contacts.shapes[name] = column
    touched = np.flatnonzero(contacts.shapes["patch_end"] > contacts.shapes["patch_start"])
    contacts.touched[: len(touched)] = touched
    contacts.loads[...] = state["loads"]
