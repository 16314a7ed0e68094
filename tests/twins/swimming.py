"""The swimming chain for one body, with generalised coordinates, Jacobians and matrices instead of sums.

The coordinates are x and y of the centre of mass, the angle of the head link, and the joints.
"""

import numpy as np

from sandlot.physics.swimming.servo import GAIN, YIELD


class TwinSwimmer:
    def __init__(self, body, yaw=0.0, velocity=(0.0, 0.0)):
        self.body, self.joints = body, int(body["links"]) - 1
        self.angles, self.rates, self.last = np.zeros((3, self.joints))
        self.centre, self.yaw = np.zeros(2), yaw
        self.mass = body["links"] * body["mass"]
        self.momentum, self.angular_momentum = self.mass * np.array(velocity), 0.0
        # Of the centre of mass and the head, at the last mid-step, in the head's frame; and the head rate before it.
        self.velocity, self.last_yaw_rate = np.array([*(rotation(-yaw) @ velocity), 0.0]), 0.0
        self.heat = self.shares = self.yields = 0.0

    def command(self, targets):
        body, interval = self.body, self.body["interval"]
        max_rate = body["max_rate"]
        targets = np.clip(targets, -body["max_angle"], body["max_angle"])
        rates = np.clip((targets - self.last) / interval, -max_rate, max_rate)
        wanted = np.clip(rates + GAIN * (self.last - self.angles) / interval, -max_rate, max_rate)
        self.last = self.last + rates * interval
        acceleration = self.limited((wanted - self.rates) / interval)
        dt = interval / body["substeps"]
        for k in range(int(body["substeps"])):
            time = (k + 0.5) * dt
            angles = self.angles + self.rates * time + 0.5 * acceleration * time**2
            self.step(angles, self.rates + acceleration * time, dt)
        self.angles = self.angles + self.rates * interval + 0.5 * acceleration * interval**2
        self.rates = self.rates + acceleration * interval

    def limited(self, wanted):
        """Joint accelerations for which no motor exceeds its torque limit."""
        shape = Shape(self.body, self.angles)
        speeds = np.concatenate([self.velocity, self.rates])
        masses = shape.mass_matrix()
        # Torques without joint accelerations, and the additional ones for the wanted accelerations.
        load = shape.drag(speeds) @ speeds + shape.centripetal(speeds)
        have = torques(masses, load, np.zeros(self.joints))
        need = torques(masses, np.zeros(3 + self.joints), wanted)
        share = possible(have, need, self.body["max_torque"])
        self.shares += share
        self.yields += share == 0.0
        interval, max_angle = self.body["interval"], self.body["max_angle"]
        given = share * wanted if share > 0.0 else -YIELD * self.rates / interval
        rest = self.angles + self.rates * interval
        low, high = (2.0 * (end - rest) / interval**2 for end in (-max_angle, max_angle))
        return np.clip(given, low, high)

    def step(self, angles, rates, dt):
        shape = Shape(self.body, angles)
        within = np.concatenate([np.zeros(3), rates])
        matrix, masses = shape.drag(np.concatenate([self.velocity, rates])), shape.mass_matrix()
        middle = self.yaw + 0.5 * dt * (self.velocity[2] + 0.75 * (self.velocity[2] - self.last_yaw_rate))
        frame = rotation(middle)
        now = np.array([*(frame.T @ self.momentum), self.angular_momentum])
        right = now - (masses @ within)[:3] - 0.5 * dt * (matrix @ within)[:3]
        velocity = np.linalg.solve(masses[:3, :3] + 0.5 * dt * matrix[:3, :3], right)
        speeds = np.concatenate([velocity, rates])
        force = -(matrix @ speeds)[:3]
        self.heat += dt * speeds @ matrix @ speeds
        self.momentum = self.momentum + dt * frame @ force[:2]
        self.angular_momentum += dt * force[2]
        self.centre = self.centre + dt * frame @ velocity[:2]
        self.yaw += dt * velocity[2]
        self.last_yaw_rate, self.velocity = self.velocity[2], velocity


def torques(masses, load, acceleration):
    """Inverse dynamics of a free body, on which only the joints apply torques."""
    free = np.linalg.solve(masses[:3, :3], -load[:3] - masses[:3, 3:] @ acceleration)
    return (masses @ np.concatenate([free, acceleration]) + load)[3:]


def possible(have, need, limit):
    """The share of ``need`` that torques of at most ``limit`` can give on top of ``have``."""
    share = 1.0
    for h, n in zip(have, need, strict=True):
        bound = limit if n > 0.0 else -limit
        if n != 0.0 and abs(share * n) > (bound - h) * np.sign(n):
            share = max((bound - h) / n, 0.0)
    return share


class Head:
    """The chain in MuJoCo's coordinates: x and y of the head link instead of the centre of mass."""

    def __init__(self, body, position, velocity, current=(0.0, 0.0)):
        self.body, self.shape = body, Shape(body, position[3:])
        # From velocities of the other coordinates to velocities of these.
        self.jacobian = np.eye(len(position))
        self.jacobian[:2] = rotation(position[2]) @ self.shape.points[0]
        through = velocity - np.pad(current, (0, len(position) - 2))
        self.speeds = np.linalg.solve(self.jacobian, through)

    def energy(self):
        return 0.5 * self.speeds @ self.shape.mass_matrix() @ self.speeds

    def forces(self, wanted):
        """Forces of water and motors for wanted joint accelerations, and the share of these that is possible."""
        masses, drag = self.shape.mass_matrix(), self.shape.drag(self.speeds) @ self.speeds
        have = torques(masses, drag + self.shape.centripetal(self.speeds), np.zeros(len(wanted)))
        need = torques(masses, np.zeros(len(drag)), wanted)
        share = possible(have, need, self.body["max_torque"])
        forces = -drag + np.concatenate([np.zeros(3), have + share * need])
        return np.linalg.solve(self.jacobian.T, forces), share


class Shape:
    """Positions of the links in the head's frame, and their Jacobians."""

    def __init__(self, body, angles):
        self.body, n, length = body, int(body["links"]), body["length"]
        # The yaw of link k is that of the head minus the angles of all joints before it.
        self.turns = np.hstack([np.tile([0.0, 0.0, 1.0], (n, 1)), -np.tri(n, n - 1, -1)])
        directions = self.turns[:, 3:] @ angles
        self.along = np.stack([np.cos(directions), np.sin(directions)], axis=1)
        self.across = np.stack([-self.along[:, 1], self.along[:, 0]], axis=1)
        # From the head's centre to that of link k: half of both links, and the whole of those between.
        arms = -length * (np.tri(n, n, -1) + 0.5 * np.eye(n))
        arms[:, 0] += 0.5 * length
        arms[0, 0] = 0.0
        self.arms = arms - arms.mean(axis=0)
        # points[k] is the Jacobian of the centre of link k: (2, coordinates).
        self.points = np.einsum("kl,la,li->kai", self.arms, self.across, self.turns)
        self.points[:, 0, 0] = self.points[:, 1, 1] = 1.0

    def mass_matrix(self):
        linear = np.einsum("kai,kaj->ij", self.points, self.points)
        return self.body["mass"] * linear + self.body["inertia"] * self.turns.T @ self.turns

    def centripetal(self, speeds):
        """Centripetal forces, with all accelerations of the coordinates at zero."""
        spins = self.turns @ speeds
        accelerations = -self.arms @ (spins[:, None] ** 2 * self.along)
        return self.body["mass"] * np.einsum("kai,ka->i", self.points, accelerations)

    def drag(self, speeds):
        """Drag matrix: velocities of the coordinates to forces; tips have drag only when they move into the water."""
        body, forward = self.body, np.einsum("ka,ka->k", self.points @ speeds, self.along)
        ends = np.full(len(self.along), body["end_drag"])
        ends[0] += body["tip_drag"] * (forward[0] > 0.0)
        ends[-1] += body["tip_drag"] * (forward[-1] < 0.0)
        across = np.einsum("ka,kai->ki", self.across, self.points)
        along = np.einsum("ka,kai->ki", self.along, self.points)
        return body["side_drag"] * across.T @ across + along.T @ (ends[:, None] * along)


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
