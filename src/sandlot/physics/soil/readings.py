"""What soil does to each attached shape, for users: MuJoCo's touch sensors and list of contacts do not include soil."""

from dataclasses import dataclass

import mujoco
import numpy as np

from sandlot.physics.attachment import shape_name
from sandlot.physics.soil.contacts import Contacts
from sandlot.physics.soil.ground import Ground
from sandlot.typing import Array


@dataclass(frozen=True, eq=False)
class Contact:
    """Contact of a shape with soil in the last step.

    Attributes:
        name: Name of the geom; ``geom 5`` if it has none, and ``track on body 1`` of a track.
        geom: Number of the geom; -1 for a track.
        body: Name of its body, or ``body 1``.
        force: (3,) on the body [N].
        torque: (3,) about the body's centre of mass [N*m].
        area: Area of the touched cells that the shape covers [m^2].
        sinkage: Plastic sinkage of the deepest touched node, below the undeformed surface [m].
        in_contact: Whether it touches the ground. A body that lifts off stays in contact for a millimetre.
    """

    name: str
    geom: int
    body: str
    force: Array
    torque: Array
    area: float
    sinkage: float
    in_contact: bool


def read_contacts(model: mujoco.MjModel, ground: Ground, contacts: Contacts) -> list[Contact]:
    """The contacts of all attached shapes, geoms first."""
    return [_read(model, ground, contacts, k) for k in range(len(contacts.shapes))]


def _read(model: mujoco.MjModel, ground: Ground, contacts: Contacts, which: int) -> Contact:
    """The contact of a shape, given by its number."""
    shape, load = contacts.shapes[which], contacts.loads[which]
    nodes = ground.nodes[contacts.patches.indices[shape["patch_start"] : shape["patch_end"]]]
    geom, body = int(shape["geom"]), int(shape["body"])
    return Contact(
        name=(model.geom(geom).name if geom >= 0 else "") or shape_name(model, shape),
        geom=geom,
        body=model.body(body).name or f"body {body}",
        force=load["force"].copy(),
        torque=load["torque"].copy(),
        area=float(np.sum(nodes["covered"])) * ground.spacing**2,
        sinkage=float(np.max(nodes["sinkage"], initial=0.0)),
        in_contact=len(nodes) > 0,
    )
