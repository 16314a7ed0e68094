"""Drag and momentum of one chain in MuJoCo's coordinates, with Jacobians and linear systems instead of sums."""

import numpy as np


class TwinChain:
    """A chain, and its ball if it has one, at a place and with a velocity."""

    def __init__(self, simulation, position, velocity):
        self.simulation, self.body = simulation, simulation.body
        n, length = int(self.body.links), self.body.length
        self.links, self.size = n, n + 2
        self.q, self.v = np.array(position, float), np.array(velocity, float)
        # turns[k] and points[k]: Jacobians of yaw and centre of link k.
        self.turns = np.zeros((n, self.size))
        self.turns[:, 2] = 1.0
        self.turns[:, 3:] = -np.tri(n, n - 1, -1)
        yaws = self.turns[:, 2:] @ self.q[2 : self.size]
        self.along = np.stack([np.cos(yaws), np.sin(yaws)], axis=1)
        self.across = np.stack([-np.sin(yaws), np.cos(yaws)], axis=1)
        arms = -length * (np.tri(n, n, -1) + 0.5 * np.eye(n))
        arms[:, 0] += 0.5 * length
        arms[0, 0] = 0.0
        self.centres = self.q[:2] + arms @ self.along
        self.points = np.einsum("kl,la,li->kai", arms, self.across, self.turns)
        self.points[:, 0, 0] = self.points[:, 1, 1] = 1.0
        self.centre = self.centres.mean(axis=0)
        self.velocities = self.points @ self.v[: self.size]

    @property
    def ball(self):
        return slice(self.size, self.size + 2)

    def momentum_matrix(self):
        """From rates of the coordinates to momentum and angular momentum about the origin: (3, coordinates)."""
        linear = self.body.mass * self.points.sum(axis=0)
        moments = self.centres[:, 0, None] * self.points[:, 1] - self.centres[:, 1, None] * self.points[:, 0]
        angular = self.body.mass * moments.sum(axis=0) + self.body.inertia * self.turns.sum(axis=0)
        return np.vstack([linear, angular])

    def ball_momentum(self):
        """The same of the ball: (3,)."""
        if self.simulation.ball_mass == 0.0:
            return np.zeros(3)
        moving = self.simulation.ball_mass * self.v[self.ball]
        angular = cross(self.q[self.ball], moving) + self.simulation.ball_inertia * self.v[self.size + 2]
        return np.array([*moving, angular])

    def momentum(self):
        """Of chain and ball: (3,)."""
        return self.momentum_matrix() @ self.v[: self.size] + self.ball_momentum()

    def drag(self, others):
        """Drag on every link and the ball: (links + 1, 2), as generalised forces, and the momentum that it adds."""
        simulation, body, current = self.simulation, self.body, [self.simulation.current_x, self.simulation.current_y]
        half, forces = 0.5 * simulation.step, np.zeros((self.links + 1, 2))
        through = self.velocities - current
        forward = (through * self.along).sum(axis=1)
        for k in range(self.links):
            tip = (k == 0 and forward[k] > 0.0) or (k == self.links - 1 and forward[k] < 0.0)
            end = body.end_drag + tip * body.tip_drag
            matrix = end * np.outer(self.along[k], self.along[k])
            matrix += body.side_drag * np.outer(self.across[k], self.across[k])
            # f = -D (v + v') / 2 where v' = v + (f + others) step / mass
            mean = through[k] + half * others[k] / body.mass
            forces[k] = np.linalg.solve(np.eye(2) + half * matrix / body.mass, -matrix @ mean)
        generalised = np.zeros(len(self.q))
        generalised[: self.size] = np.einsum("kai,ka->i", self.points, forces[:-1])
        places = self.centres
        if simulation.ball_mass > 0.0:
            mean = self.v[self.ball] - current + half * others[-1] / simulation.ball_mass
            forces[-1] = -mean / (1.0 / simulation.ball_drag + half / simulation.ball_mass)
            generalised[self.ball] = forces[-1]
            places = np.vstack([self.centres, self.q[self.ball]])
        moments = sum(cross(place, force) for place, force in zip(places, forces, strict=False))
        return forces, generalised, simulation.step * np.array([*forces.sum(axis=0), moments])

    def with_momentum(self, momentum, centre):
        """The same chain, moved to a centre of mass, with the velocity of the head link that gives it a momentum."""
        q, v = self.q.copy(), self.v.copy()
        q[:2] += centre - self.centre
        matrix = TwinChain(self.simulation, q, v).momentum_matrix()
        rates = v[3 : self.size]
        v[:3] = np.linalg.solve(matrix[:, :3], momentum - matrix[:, 3:] @ rates)
        return TwinChain(self.simulation, q, v)

    def after(self, position, velocity, momentum):
        """The corrected state after MuJoCo's step from here, and the velocities that links had before they moved."""
        step, size = self.simulation.step, self.size
        end = TwinChain(self.simulation, position, velocity)
        momentum = momentum - end.ball_momentum()
        motion = momentum[:2] / (self.links * self.body.mass)

        def turned(part, yaw):
            """The chain when this part of the step is over, as the corrected velocity has it."""
            q = end.q.copy()
            q[3:size] = self.q[3:size] + part * (end.q[3:size] - self.q[3:size])
            q[2] = yaw
            return TwinChain(self.simulation, q, end.v).with_momentum(momentum, self.centre + part * step * motion)

        middle = turned(0.5, self.q[2])
        return turned(1.0, self.q[2] + step * middle.v[2]), turned(0.0, self.q[2]).velocities


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]
