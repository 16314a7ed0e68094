"""Nodes under a body, level ground and what a shape touches of it, for the tests."""

from functools import cache

import numpy as np
from numba import config

from sandlot.physics.soil import contact
from sandlot.physics.soil.contact import (
    ALONG_X,
    ALONG_Y,
    BODY_X,
    BODY_Y,
    COVERED,
    FORCE_X,
    FORCE_Z,
    LANES,
    MEAN,
    OLD_FREE,
    OLD_LOOSE,
    OLD_PART,
    OLD_SUNK,
    PATCH,
    ROWS,
    press,
)
from sandlot.physics.soil.find import find
from sandlot.physics.soil.ground import FREE, HEIGHT, NODE, Ground
from sandlot.physics.soil.step import REBOUND

SLOW = bool(config.DISABLE_JIT)
SPACING, DT, STEP = 0.02, 1e-3, 5.0
NONE = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
"""No points, no faces."""


@cache
def recorded(kind):
    return kind.record()


class Patch:
    """The rows of some nodes, by name."""

    def __init__(self, count, **rows):
        self.count, self.work = count, np.zeros(ROWS * LANES)
        self[COVERED] = 1.0
        for name, values in rows.items():
            self[getattr(contact, name)] = values
        # If nothing else is said, bodies cover what they covered before, and lie in no hollow.
        for row, values in (
            (OLD_PART, self[COVERED]),
            (MEAN, self[OLD_FREE] - self[OLD_SUNK] + self[OLD_LOOSE]),
            (BODY_X, self[ALONG_X]),
            (BODY_Y, self[ALONG_Y]),
        ):
            if {OLD_PART: "OLD_PART", MEAN: "MEAN", BODY_X: "BODY_X", BODY_Y: "BODY_Y"}[row] not in rows:
                self[row] = values

    def __getitem__(self, row):
        return self.work.reshape(ROWS, LANES)[row, : self.count]

    def __setitem__(self, row, values):
        self[row][:] = values

    def press(
        self, kind, velocity=(0.0,) * 6, about=(0.0, 0.0, 0.0), across=1.0, stiff=None, dt=DT, belt=0.0, still=0.0
    ):
        """Forces on the body: (count, 3) [N]."""
        stiff = kind.elastic if stiff is None else stiff
        modulus = kind.kphi + kind.kc / across
        record, velocity, about = recorded(kind), np.array(velocity, float), np.array(about, float)
        press(self.work, self.count, record, modulus, stiff, REBOUND, still, SPACING, dt, belt, velocity, about)
        return self[slice(FORCE_X, FORCE_Z + 1)].T.copy()


def level(ny=9, nx=11, spacing=SPACING, wrap=False, height=0.0, slopes=(0.0, 0.0)):
    nodes, corner = np.zeros((ny * nx, NODE)), np.array([-0.5 * (nx - 1), -0.5 * (ny - 1)]) * spacing
    i, j = np.divmod(np.arange(ny * nx), nx)
    nodes[:, HEIGHT] = height + slopes[0] * (corner[0] + j * spacing) + slopes[1] * (corner[1] + i * spacing)
    nodes[:, FREE] = nodes[:, HEIGHT]
    waits, ring = np.zeros(ny * nx, np.bool_), np.zeros(ny * nx, np.int64)
    return Ground(nodes, ny, nx, wrap, spacing, corner, waits, ring, np.zeros(2, np.int64))


def found(ground, kind, size, pos, rotation, points=NONE[0], faces=NONE[1], room=None):
    """Nodes that a shape touches, and what `find` says of them."""
    room = 4 * len(ground.nodes) if room is None else room
    under, patch, line = np.zeros(room, np.int64), np.zeros((room, PATCH)), np.zeros((2, 400))
    pos, rotation = np.asarray(pos, float), np.ascontiguousarray(rotation)
    count = find(ground, kind, size, pos, rotation.ravel(), points, faces, STEP, under, patch, line)
    return under[:count], patch[:count]
