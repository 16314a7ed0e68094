"""Batches of nodes under a body, level ground, and the contact patch of a shape on it, for the tests."""

from functools import cache

import numpy as np
from numba import config

from sandlot.physics import shapes
from sandlot.physics.soil.batch import BATCH
from sandlot.physics.soil.contacts import SOIL_LOAD, SOIL_SHAPE
from sandlot.physics.soil.find import Mesh, Patches, find
from sandlot.physics.soil.ground import new_ground
from sandlot.physics.soil.patch import PATCH_NODE
from sandlot.physics.soil.step import REBOUND_SPEED
from sandlot.physics.soil.stress import Motion, Response, press

SLOW = bool(config.DISABLE_JIT)
SPACING, DT, STEP = 0.02, 1e-3, 5.0
NO_MESH = Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32))


@cache
def parameters(kind):
    return kind.parameters()


def motion(velocity=(0.0,) * 6, about=(0.0, 0.0, 0.0), centre=(0.0, 0.0, 0.0), belt_speed=0.0):
    """Motion of a body with an angular and a linear velocity (6,)."""
    w, v, about, centre = (tuple(float(x) for x in each) for each in (velocity[:3], velocity[3:], about, centre))
    return Motion(w, v, about, centre, belt_speed)


def response(kind, width=1.0, stiffness=None, dt=DT, rest=0.0):
    """Response of a kind of soil to a patch of some width."""
    stiffness = kind.elastic if stiffness is None else stiffness
    return Response(STEP, dt, SPACING, kind.kphi + kind.kc / width, stiffness, REBOUND_SPEED, rest)


class Batch:
    """Some nodes under a body; fields by name."""

    def __init__(self, count, **fields):
        self.count, self.record = count, np.zeros(1, BATCH)[0]
        # Unless given, a body covers what it covered before, and the ground is not deformed.
        self["covered"] = 1.0
        for name, values in fields.items():
            self[name] = values
        defaults = {
            "covered_before": self["covered"],
            "height": self["undeformed"] - self["sinkage"] + self["loose"],
            "hollow_x": self["slope_x"],
            "hollow_y": self["slope_y"],
        }
        for name, values in defaults.items():
            if name not in fields:
                self[name] = values

    def __getitem__(self, name):
        return self.record[name][: self.count]

    def __setitem__(self, name, values):
        self[name][:] = values

    @property
    def forces(self):
        """Forces on the body: (count, 3) [N]."""
        return np.stack([self[name] for name in ("force_x", "force_y", "force_z")], axis=1)

    def press(self, kind, velocity=(0.0,) * 6, about=(0.0, 0.0, 0.0), **options):
        """Forces on the body: (count, 3) [N]."""
        press(self.record, self.count, parameters(kind), response(kind, **options), motion(velocity, about))
        return self.forces


def level(ny=9, nx=11, spacing=SPACING, wrap=False, height=0.0, slopes=(0.0, 0.0)):
    corner = np.array([-0.5 * (nx - 1), -0.5 * (ny - 1)]) * spacing
    i, j = np.mgrid[:ny, :nx]
    heights = height + slopes[0] * (corner[0] + j * spacing) + slopes[1] * (corner[1] + i * spacing)
    ground = new_ground(heights, spacing, corner, wrap)
    ground.nodes["contact"] = 0.0
    return ground


def shape_at(kind, size, position, rotation, mesh=NO_MESH):
    shape = np.zeros(1, SOIL_SHAPE)[0]
    shape["kind"], shape["size"], shape["position"] = kind, size, position
    shape["rotation"], shape["dof"] = np.ravel(rotation), 0 if kind == shapes.TRACK else -1
    shape["points_end"], shape["faces_end"] = len(mesh.points), len(mesh.faces)
    return shape


def new_load():
    return np.zeros(1, SOIL_LOAD)[0]


def found(ground, kind, size, position, rotation, mesh=NO_MESH, room=None):
    """Numbers and records of the nodes that `find` finds."""
    room = 4 * len(ground.nodes) if room is None else room
    patches = Patches(np.zeros(room, np.int64), np.zeros(room, PATCH_NODE), np.zeros(400), np.zeros(400))
    count = find(ground, shape_at(kind, size, position, rotation, mesh), mesh, patches, 0, STEP)
    return patches.indices[:count], patches.contact[:count]


def columns(records, *names):
    """Fields of records as columns: (n, names)."""
    return np.stack([records[name] for name in names], axis=-1)
