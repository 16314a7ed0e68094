"""Batches of nodes under a body, level ground, and the contact patch of a shape on it, for the tests."""

from functools import cache

import numpy as np
from numba import config

from sandlot.physics import shapes
from sandlot.physics.soil.batch import BATCH
from sandlot.physics.soil.contacts import SOIL_LOAD, SOIL_SHAPE
from sandlot.physics.soil.ground import new_ground
from sandlot.physics.soil.motion import Motion
from sandlot.physics.soil.patch import PATCH_NODE
from sandlot.physics.soil.search.find import find
from sandlot.physics.soil.search.hulls import face_normals
from sandlot.physics.soil.search.meshes import Mesh
from sandlot.physics.soil.search.nodes import CELLS, Patches
from sandlot.physics.soil.stress import MAX_MODULUS, Response, deform, prepare, press

SLOW = bool(config.DISABLE_JIT)
SPACING, DT, STEP = 0.02, 1e-3, 5.0


def new_mesh(points, faces):
    """A mesh, with room for what `find` needs."""
    world, low = np.zeros((len(points), 3)), np.zeros((len(faces), 3), np.uint32)
    return Mesh(points, faces, face_normals(points, faces), world, low, np.zeros(100_000))


NO_MESH = new_mesh(np.zeros((0, 3)), np.zeros((0, 3), np.uint32))


@cache
def parameters(kind):
    return kind.parameters()


def motion(velocity=(0.0,) * 6, centre=(0.0, 0.0, 0.0), belt_speed=0.0):
    """Motion of a body with a linear and an angular velocity (6,)."""
    v, w, centre = (tuple(float(x) for x in each) for each in (velocity[:3], velocity[3:], centre))
    return Motion(v, w, centre, belt_speed)


def response(kind, width=1.0, dt=DT, rest=0.0):
    """Response of a kind of soil to a patch of some width."""
    return Response(dt, SPACING, min(kind.kphi + kind.kc / width, MAX_MODULUS), rest)


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

    def press(self, kind, velocity=(0.0,) * 6, centre=(0.0, 0.0, 0.0), guess=None, **options):
        """Forces on a body that ends the step at ``z`` if it moves at ``guess``: (count, 3) [N]."""
        how, soil = response(kind, **options), parameters(kind)
        expected = motion(velocity if guess is None else guess, centre)
        prepare(self.record, self.count, soil, how, expected)
        press(self.record, self.count, soil, how, motion(velocity, centre))
        forces = self.forces
        deform(self.record, self.count, soil, how)
        self["shear_x"], self["shear_y"] = self["new_shear_x"], self["new_shear_y"]
        return forces


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
    shape["points_end"], shape["faces_end"], shape["samples"] = len(mesh.points), len(mesh.faces), 3
    if len(mesh.points):
        low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
        shape["box"] = [*(0.5 * (low + high)), *(0.5 * (high - low))]
    return shape


def new_load():
    return np.zeros(1, SOIL_LOAD)[0]


def new_patches(ground, room):
    """Room for patches."""
    owner, rows, cells = np.zeros(len(ground.nodes), np.int64), np.zeros((2, 400)), np.zeros(1, CELLS)[0]
    return Patches(np.zeros(room, np.int64), np.zeros(room, PATCH_NODE), owner, cells, *rows)


def found(ground, kind, size, position, rotation, mesh=NO_MESH, room=None):
    """Numbers and records of the nodes that `find` finds."""
    room = 4 * len(ground.nodes) if room is None else room
    ground.queue["highest"] = ground.nodes["height"].max()
    patches = new_patches(ground, room)
    count = find(ground, shape_at(kind, size, position, rotation, mesh), mesh, patches, 0, STEP)
    return patches.indices[:count], patches.contact[:count]


def columns(records, *names):
    """Fields of records as columns: (n, names)."""
    return np.stack([records[name] for name in names], axis=-1)
