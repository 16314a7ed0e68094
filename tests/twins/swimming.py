"""A step of the swimming chain for one body, with dense matrices, and the laws that its result must satisfy.

The law of the motors has exactly one solution, because the chain's energy is convex. So the twin does not search for
it: it takes the velocities after a step, computes the impulses that must have caused them, and checks these.
"""

import numpy as np


class TwinStep:
    """One step from a state (rows of `sandlot.physics.swimming.rows`) under rates that motors are told."""

    def __init__(self, snake, state, told):
        self.snake, self.h = snake, snake.interval / snake.substeps
        n, j = snake.links, snake.joints
        self.centre, yaw = state[:2], state[2]
        self.angular_momentum, self.heat = state[5], state[6]
        self.angles = state[8 : 8 + j]
        self.velocity = state[8 + j : 8 + j + 3 * n].reshape(3, n).T.copy()
        yaws = yaw - np.concatenate([[0.0], np.cumsum(self.angles)])
        self.along = np.stack([np.cos(yaws), np.sin(yaws)], axis=1)
        self.across = np.stack([-self.along[:, 1], self.along[:, 0]], axis=1)
        steps = -0.5 * snake.length * (self.along[1:] + self.along[:-1])
        places = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
        self.arms = places - places.mean(axis=0)
        low, high = (-snake.max_angle - self.angles) / self.h, (snake.max_angle - self.angles) / self.h
        self.low, self.high, self.wanted = low, high, np.clip(told, low, high)
        self._keep_angular_momentum()

    def moment(self, velocity):
        """Angular momentum about the centre of mass of links with these velocities (links, 3)."""
        arms, mass = self.arms, self.snake.link_mass
        turning = (arms[:, 0] * velocity[:, 1] - arms[:, 1] * velocity[:, 0]).sum()
        return mass * turning + self.snake.inertia * velocity[:, 2].sum()

    def _keep_angular_momentum(self):
        snake = self.snake
        inertia = snake.link_mass * (self.arms**2).sum() + snake.links * snake.inertia
        turn = (self.angular_momentum - self.moment(self.velocity)) / inertia
        self.velocity += turn * np.column_stack([-self.arms[:, 1], self.arms[:, 0], np.ones(snake.links)])

    def drag(self):
        """Drag over velocity of every link: (links, 3, 3)."""
        body, forward = self.snake.record(), (self.velocity[:, :2] * self.along).sum(axis=1)
        end = np.full(self.snake.links, body["end_drag"])
        end[0] += body["tip_drag"] if forward[0] > 0.0 else 0.0
        end[-1] += 0.0 if forward[-1] > 0.0 else body["tip_drag"]
        matrices = np.zeros((self.snake.links, 3, 3))
        for k, (e, n) in enumerate(zip(self.along, self.across, strict=True)):
            matrices[k, :2, :2] = end[k] * np.outer(e, e) + body["side_drag"] * np.outer(n, n)
        return matrices

    def hinges(self):
        """Jacobian of the hinges: velocity of each link's rear minus that of the next link's front: (2 joints, 3 n)."""
        half, rows = 0.5 * self.snake.length, []
        for j in range(self.snake.joints):
            for axis in range(2):
                row = np.zeros((self.snake.links, 3))
                row[j, axis], row[j, 2] = 1.0, -half * self.across[j, axis]
                row[j + 1, axis], row[j + 1, 2] = -1.0, -half * self.across[j + 1, axis]
                rows.append(row.ravel())
        return np.array(rows)

    def motors(self):
        """Jacobian of the joint rates: (joints, 3 n)."""
        rows = np.zeros((self.snake.joints, self.snake.links, 3))
        for j in range(self.snake.joints):
            rows[j, j, 2], rows[j, j + 1, 2] = 1.0, -1.0
        return rows.reshape(self.snake.joints, -1)

    def impulses(self, new):
        """What gave the links their new velocities (links, 3), and how much of it neither hinges nor motors explain.

        Returns:
            Impulse of every motor on its joint's rate (joints,), and the largest unexplained impulse.
        """
        snake = self.snake
        masses = np.array([snake.link_mass, snake.link_mass, snake.inertia])
        mean = 0.5 * (self.velocity + new)
        gained = masses * (new - self.velocity) + self.h * np.einsum("kab,kb->ka", self.drag(), mean)
        jacobian = np.concatenate([self.hinges(), self.motors()])
        found, *_ = np.linalg.lstsq(jacobian.T, gained.ravel(), rcond=None)
        rest = np.abs(jacobian.T @ found - gained.ravel()).max()
        return found[-snake.joints :], rest

    def heated(self, new):
        """Energy that the water takes in this step [J]."""
        mean = 0.5 * (self.velocity + new)
        return self.h * np.einsum("ka,kab,kb->", mean, self.drag(), mean)
