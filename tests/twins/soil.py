"""Plain twins of shapes, contact patches and stresses: point by point, with exact powers and exponentials."""

import itertools

import numpy as np

from sandlot.physics import shapes
from sandlot.physics.soil.stress import CREEP_DAMPING, CREEP_SPEED, LAYER_STIFFNESS, REBOUND_SPEED, STEEPEST

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


def find(ground, lowest, samples=1, in_part=False):
    """Every node of the ground, and of its copies beyond the edges if it wraps, that a shape touches.

    Args:
        ground: Not changed; no node is touched yet.
        lowest: Function of x and y: lowest point of the shape, and covered fraction of a small cell there.
        samples: At how many points across a cell it is searched.
        in_part: Whether points less than 0.03 mm deep in cells that have yielded count in part.

    Returns:
        (n, 5) number of the node, x, y, z and covered fraction, sorted by row, then column.
    """
    found = []
    copies = (-1, 0, 1) if ground.wrap else (0,)
    offsets = ground.spacing * ((np.arange(samples) + 0.5) / samples - 0.5)
    free = ground.nodes["undeformed"].reshape(ground.ny, ground.nx)
    padded = np.pad(free, 1, mode="wrap" if ground.wrap else "edge")
    for a, b, i, j in itertools.product(copies, copies, range(ground.ny), range(ground.nx)):
        node = i * ground.nx + j
        x = ground.x0 + (j + b * ground.nx) * ground.spacing
        y = ground.y0 + (i + a * ground.ny) * ground.spacing
        record = ground.nodes[node]
        top = record["undeformed"] - record["sinkage"] + record["loose"]
        inner_x, inner_y = ground.wrap or 0 < j < ground.nx - 1, ground.wrap or 0 < i < ground.ny - 1
        slope_x = (padded[i + 1, j + 2] - padded[i + 1, j]) / ground.spacing / (2.0 if inner_x else 1.0)
        slope_y = (padded[i + 2, j + 1] - padded[i, j + 1]) / ground.spacing / (2.0 if inner_y else 1.0)
        hits = []
        for dy, dx in itertools.product(offsets, offsets):
            z, covered = lowest(x + dx, y + dy)
            z -= slope_x * dx + slope_y * dy
            if covered > 0.0 and z < max(top, record["undeformed"]):
                depth = max(top, record["undeformed"]) - z
                hits.append(
                    (
                        covered * (np.clip(depth / 3e-5, 1e-6, 1.0) if in_part and record["sinkage"] > 0.0 else 1.0),
                        x + dx,
                        y + dy,
                        z,
                        depth,
                    )
                )
        if not hits:
            continue
        covered, xs, ys, z, depth = np.array(hits).T
        mean = np.average(z, weights=covered)
        if mean < top:
            place = [np.average(each, weights=covered * depth) for each in (xs, ys)]
            found.append((i + a * ground.ny, j + b * ground.nx, node, *place, mean, covered.sum() / samples**2))
    return np.array([row[2:] for row in sorted(found)]).reshape(-1, 5)


def centred(ground, rows, kind, size, pos, rotation):
    """The rows that `find` finds, moved under the centre of a sphere or an axis if the contact is small."""
    nodes = ground.nodes[rows[:, 0].astype(int)]
    depth = np.maximum(nodes["undeformed"] + np.maximum(nodes["loose"] - nodes["sinkage"], 0.0) - rows[:, 3], 0.0)
    weight = rows[:, 4] * depth
    deepest = min(depth.max(initial=0.0), size[0])
    wide = np.sqrt((2.0 * size[0] - deepest) * deepest)
    share = np.clip(2.0 - wide / (0.75 * ground.spacing), 0.0, 1.0)
    if share == 0.0 or weight.sum() == 0.0:
        return rows
    free = ground.nodes["undeformed"].reshape(ground.ny, ground.nx)
    padded = np.pad(free, 1, mode="wrap" if ground.wrap else "edge")
    gaps = [np.full(n, 2.0) for n in free.shape]
    if not ground.wrap:
        for gap in gaps:
            gap[[0, -1]] = 1.0
    rise = [(padded[1:-1, 2:] - padded[1:-1, :-2]) / gaps[1], (padded[2:, 1:-1] - padded[:-2, 1:-1]) / gaps[0][:, None]]
    slope = [np.average(each.ravel()[rows[:, 0].astype(int)], weights=weight) / ground.spacing for each in rise]
    below = np.array(slope) * size[0] / np.hypot(1.0, np.linalg.norm(slope))
    off = pos[:2] + below - np.average(rows[:, 1:3], axis=0, weights=weight)
    if kind == shapes.CAPSULE:
        axis = rotation[:2, 2]
        off = off - axis * (off @ axis) / (axis @ axis)
    moved = rows.copy()
    moved[:, 1:3] += share * off
    return moved


def rebound_share(apart):
    """Share of the elastic stress that is left at a speed of separation [m/s]."""
    return max(1.0 - max(apart, 0.0) / REBOUND_SPEED, 0.0) ** 2


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

    def bekker(self, depth, width):
        """Bekker's stress at a depth, and its integral from the surface to there."""
        kind, depth = self.kind, min(max(depth, 0.0), self.kind.firm_layer)
        if np.isinf(kind.kphi):
            return (np.inf if depth > 0.0 else 0.0), np.inf
        modulus = kind.kphi + kind.kc / width
        return modulus * depth**kind.exponent, modulus * depth ** (kind.exponent + 1.0) / (kind.exponent + 1.0)

    def yield_stress(self, start, depth, width):
        """Mean of the stress at which soil yields along a path from one depth to another, and that at its end."""
        if np.isinf(self.kind.kphi):
            return np.inf, np.inf
        firm, layer = self.sunk * self.normal[2], self.kind.firm_layer
        first = firm
        for _ in range(60):
            first = firm + self.bekker(first, width)[0] / self.kind.elastic
        depth, stress = min(depth, layer), self.kind.elastic * (first - firm)
        last = self.bekker(depth, width)[0] if depth > first else stress
        if depth - start < 1e-9:
            return last, last
        work = stress * max(min(depth, first) - max(start, firm), 0.0)
        begin = max(first, start)
        if depth > begin:
            work += self.bekker(depth, width)[1] - self.bekker(begin, width)[1]
        return work / (depth - start), last

    def press(self, z, velocity, dt, width, rest=0.0, guess=None):
        """Press the node by a body that moves at a velocity; moving at ``guess``, it would end the step at height z.

        Returns:
            Stress on the body [Pa]: (3,); and the height of displaced soil [m].
        """
        kind, up = self.kind, self.normal[2]
        push = self.normal + rest * up * np.clip(self.hollow, -STEEPEST, STEEPEST)
        expected, apart = (velocity if guess is None else guess) @ push, velocity @ push
        now = (self.free - z) * up + dt * expected
        start, depth, end = now + 0.5 * dt * expected, now - 0.5 * dt * apart, now - dt * apart
        firm, stiffness = self.sunk * up, kind.elastic
        limit, last = self.yield_stress(start, depth, width)
        away = max(min(self.loose, self.loose - self.sunk + depth / up), 0.0)
        middle = min(stiffness * max(depth - firm, 0.0), last)
        self.stored = 0.5 * middle**2 / stiffness
        pressure = min(max(stiffness * (end - firm), 0.0), limit) + LAYER_STIFFNESS * max(end - kind.firm_layer, 0.0)
        more = 0.0
        if not np.isinf(kind.kphi):
            deepest = min(depth, kind.firm_layer)
            more = max((deepest - self.bekker(deepest, width)[0] / stiffness) / up - self.sunk, 0.0)
        self.loose -= away
        self.sunk += more
        if end <= firm:
            self.shear = np.zeros(3)
            return np.zeros(3), away + more
        damped = kind.damping * min(-apart, (end - firm) / dt)
        pressure = max(pressure * rebound_share(apart) + damped, 0.0)
        slip = velocity - (velocity @ self.normal) * self.normal
        speed = np.linalg.norm(slip)
        if speed > 0.0:
            mobilised = 1.0 - np.exp(-speed * dt / kind.shear)
            self.shear = self.shear + mobilised * (slip / speed - self.shear)
        calm = CREEP_DAMPING * slip / (1.0 + (speed / CREEP_SPEED) ** 2) ** 2
        limit = kind.cohesion + pressure * np.tan(np.radians(kind.friction))
        return pressure * push - limit * (self.shear + calm), away + more
