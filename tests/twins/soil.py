"""Plain twins of shapes, contact patches and stresses: point by point, with exact powers and exponentials."""

import itertools

import numpy as np

from sandlot.physics import shapes
from sandlot.physics.soil.step import REBOUND_SPEED
from sandlot.physics.soil.stress import CREEP_DAMPING, CREEP_SPEED

UP = np.array([0.0, 0.0, 1.0])


def turned(rng, tilt=np.pi):
    """A random rotation: (3, 3), with local z tilted by no more than ``tilt`` [rad]."""
    yaw, lean, spin = rng.uniform(-np.pi, np.pi), rng.uniform(0.0, tilt), rng.uniform(-np.pi, np.pi)
    return about(2, yaw) @ about(1, lean) @ about(2, spin)


def about(axis, angle):
    """The rotation about an axis of the world: (3, 3)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = np.cos(angle)
    matrix[j, i], matrix[i, j] = np.sin(angle), -np.sin(angle)
    return matrix


def inside(kind, size, points):
    """Whether points of a shape's frame are in it: (..., 3) to (...)."""
    x, y, z = np.moveaxis(np.asarray(points), -1, 0)
    if kind == shapes.BOX:
        return (np.abs(x) <= size[0]) & (np.abs(y) <= size[1]) & (np.abs(z) <= size[2])
    if kind == shapes.ELLIPSOID:
        return (x / size[0]) ** 2 + (y / size[1]) ** 2 + (z / size[2]) ** 2 <= 1.0
    if kind == shapes.TRACK:
        return (np.hypot(np.maximum(np.abs(x) - size[0], 0.0), z) <= size[1]) & (np.abs(y) <= size[2])
    if kind == shapes.CYLINDER:
        return (np.hypot(x, y) <= size[0]) & (np.abs(z) <= size[1])
    half = size[1] if kind == shapes.CAPSULE else 0.0
    return x**2 + y**2 + np.maximum(np.abs(z) - half, 0.0) ** 2 <= size[0] ** 2


def lowest(kind, size, pos, rotation, x, y, reach=1.0, samples=4000):
    """Where a vertical line enters a shape: sample it from below, then bisect. Infinite if it does not."""

    def within(z):
        points = np.stack(np.broadcast_arrays(x, y, z), axis=-1) - pos
        return inside(kind, size, points @ rotation)

    z = pos[2] + np.linspace(-reach, reach, samples)
    hits = np.flatnonzero(within(z))
    if not len(hits):
        return np.inf
    low, high = z[hits[0]] - 2.0 * reach / (samples - 1), z[hits[0]]
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if within(middle) else (middle, high)
    return high


def line(pos, rotation, x, y):
    """A vertical line in a shape's frame: its point at height 0, and its direction."""
    return tuple(rotation.T @ (np.array([x, y, 0.0]) - pos)), tuple(rotation[2])


def box_mesh(size):
    """Corners and faces of a box; faces are counterclockwise seen from outside."""
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * size
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return corners, np.array([f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))], np.int32)


def find(ground, lowest):
    """Every node of the ground, and of its copies beyond the edges if it wraps, that a shape touches.

    Args:
        ground: Not changed.
        lowest: Function of x and y: lowest point of the shape, and covered fraction of the cell there.

    Returns:
        (n, 5) number of the node, x, y, z and covered fraction, sorted by y, then x.
    """
    found = []
    copies = (-1, 0, 1) if ground.wrap else (0,)
    for a, b, i, j in itertools.product(copies, copies, range(ground.ny), range(ground.nx)):
        node = i * ground.nx + j
        x = ground.x0 + (j + b * ground.nx) * ground.spacing
        y = ground.y0 + (i + a * ground.ny) * ground.spacing
        z, covered = lowest(x, y)
        record = ground.nodes[node]
        top = record["undeformed"] - record["sinkage"] + record["loose"]
        if covered > 0.0 and z < top:
            found.append((node, x, y, z, covered))
    return np.array(sorted(found, key=lambda each: (each[2], each[1]))).reshape(-1, 5)


class TwinNode:
    """A node of soil under a body: elastic up to Bekker's pressure, Janosi and Hanamoto's shear, Mohr-Coulomb limit."""

    def __init__(self, kind, free, sunk=0.0, loose=0.0, shear=(0.0, 0.0), slopes=(0.0, 0.0), hollow=None):
        self.kind, self.free, self.sunk, self.loose = kind, free, sunk, loose
        normal = np.array([-slopes[0], -slopes[1], 1.0])
        self.area = np.linalg.norm(normal)
        self.normal = normal / self.area
        self.shear, self.stored = self.lifted(shear), 0.0
        self.hollow = np.zeros(3) if hollow is None else np.array([*np.subtract(slopes, hollow), 0.0])

    def lifted(self, shear):
        """The vector of the tangent plane with these components along x and y."""
        return np.array([*shear, -(shear[0] * self.normal[0] + shear[1] * self.normal[1]) / self.normal[2]])

    def press(self, z, velocity, dt, width, stiffness, rest=0.0):
        """Press the node down to a height, while the body's surface moves there.

        Returns:
            Stress on the body [Pa]: (3,); and the height of displaced soil [m].
        """
        kind, up = self.kind, self.normal[2]
        firm = self.free - self.sunk
        away = max(min(self.loose, firm + self.loose - z), 0.0)
        self.loose -= away
        if z >= firm:
            self.shear = np.zeros(3)
            return np.zeros(3), away
        depth, lifted = (self.free - z) * up, (firm - z) * up
        bekker = (kind.kphi + kind.kc / width) * depth**kind.exponent
        pressure, more = stiffness * lifted, 0.0
        if pressure > bekker:
            pressure = bekker
            more = max((depth - bekker / stiffness) / up - self.sunk, 0.0)
        self.sunk += more
        apart = velocity @ self.normal
        self.stored = 0.5 * pressure**2 / stiffness
        pressure = max(pressure / (1.0 + max(apart, 0.0) / REBOUND_SPEED) - kind.damping * apart, 0.0)
        slip = velocity - apart * self.normal
        speed = np.linalg.norm(slip)
        if speed > 0.0:
            mobilised = 1.0 - np.exp(-speed * dt / kind.shear)
            self.shear = self.shear + mobilised * (slip / speed - self.shear)
        calm = CREEP_DAMPING * slip / (1.0 + (speed / CREEP_SPEED) ** 2) ** 2
        limit = kind.cohesion + pressure * np.tan(np.radians(kind.friction))
        return pressure * (self.normal + rest * up * self.hollow) - limit * (self.shear + calm), away + more
