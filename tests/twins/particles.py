"""Particles, pair by pair: no grid, no lists, no sleep."""

import numpy as np

AXES = np.eye(3)


class TwinParticles:
    """Starts from positions, velocities and spins, and steps by itself."""

    def __init__(self, law, box, position, velocity, spin):
        self.law, self.box = law, box
        self.position, self.velocity, self.spin = (np.array(each, float) for each in (position, velocity, spin))
        self.springs = {}
        self.slips = self.rolls = 0

    def yielding(self, strain, rate, stiffness, damping, limit):
        """Spring and dashpot with a limit: the force, the limited strain, and whether the spring was limited."""
        pull = np.linalg.norm(stiffness * strain)
        if pull > limit:
            strain = strain * (limit / pull)
        force = -stiffness * strain - damping * rate
        size = np.linalg.norm(force)
        return force * (limit / size if size > limit else 1.0), strain, pull > limit

    def respond(self, key, n, overlap, v, w, dt):
        law = self.law
        slip, roll = self.springs.get(key, (np.zeros(3), np.zeros(3)))
        push = max(law.stiffness * overlap - law.damping * v @ n, 0.0)
        across = v - (v @ n) * n
        slip = slip - (slip @ n) * n + across * dt
        rub, slip, slips = self.yielding(slip, across, law.slip_stiffness, law.slip_damping, law.friction * push)
        roll, limit = roll + w * dt, law.rolling * law.radius * push
        twist, roll, rolls = self.yielding(roll, w, law.roll_stiffness, law.roll_damping, limit)
        # The kernel keeps springs in single precision.
        self.springs[key] = np.float32(slip).astype(float), np.float32(roll).astype(float)
        self.slips, self.rolls = self.slips + slips, self.rolls + rolls
        return push * n + rub, twist

    def walls(self, i):
        x, y, z = self.position[i]
        low_x, high_x, low_y, high_y = self.box
        yield AXES[0], x - low_x
        yield -AXES[0], high_x - x
        yield AXES[1], y - low_y
        yield -AXES[1], high_y - y
        yield AXES[2], z

    def step(self, dt):
        law, count = self.law, len(self.position)
        force, torque, touching = np.zeros((count, 3)), np.zeros((count, 3)), set()
        force[:, 2] -= law.mass * law.gravity
        for i in range(count):
            for j in range(i + 1, count):
                apart = self.position[i] - self.position[j]
                away = np.linalg.norm(apart)
                if away >= 2.0 * law.radius:
                    continue
                n, arm = apart / away, 0.5 * away
                v = self.velocity[i] - self.velocity[j] - arm * np.cross(self.spin[i] + self.spin[j], n)
                w = self.spin[i] - self.spin[j]
                push, twist = self.respond((i, j), n, 2.0 * law.radius - away, v, w, dt)
                force[i], force[j] = force[i] + push, force[j] - push
                torque[i] += twist - arm * np.cross(n, push)
                torque[j] += -twist - arm * np.cross(n, push)
                touching.add((i, j))
            for wall, (n, arm) in enumerate(self.walls(i)):
                if arm >= law.radius:
                    continue
                v = self.velocity[i] - arm * np.cross(self.spin[i], n)
                push, twist = self.respond((i, -1 - wall), n, law.radius - arm, v, self.spin[i], dt)
                force[i] += push
                torque[i] += twist - arm * np.cross(n, push)
                touching.add((i, -1 - wall))
        self.springs = {key: spring for key, spring in self.springs.items() if key in touching}
        self.velocity += dt * force / law.mass
        self.spin += dt * torque / law.inertia
        self.position += dt * self.velocity
