"""The planar model of a climbing robot, slow and simple: matrices, and every segment of the ground at every step."""

import numpy as np

from sandlot.physics.climbing.contacts import DEEP, MARGIN, WITHIN
from sandlot.physics.climbing.solve import FULL, LEVER, RELAXED, SWEEPS, TOLERANCE
from sandlot.physics.climbing.step import GRAVITY, MAX_RECOVERY, RECOVER, SLOP


def direction(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def across(vector):
    """Turned by a right angle, counter-clockwise."""
    return np.array([-vector[1], vector[0]])


class Twin:
    """One robot with coordinates q: x and z of its mass centre, angles of body, front and rear tracks, belts.

    Attributes:
        q: (7,) positions; those of the belts mean nothing.
        v: (7,) velocities.
    """

    def __init__(self, robot, outlines):
        self.r, self.outlines = robot, outlines
        self.q, self.v, self.motors, self.memory, self.contacts = np.zeros(7), np.zeros(7), np.zeros(4), {}, []

    def hips(self):
        """Both axles from the middle of the body, in the body's axes."""
        return np.array([self.r.half_span, self.r.hip]), np.array([-self.r.half_span, self.r.hip])

    def jacobian(self, part, along, upright):
        """How a point moves with the coordinates: (2, 7). It is given in the axes of its part."""
        parts = [(mass, self.from_middle(each, *place)[1]) for each, mass, _, place in self.centres()]
        mean = sum(mass * jacobian for mass, jacobian in parts) / sum(mass for mass, _ in parts)
        found = self.from_middle(part, along, upright)[1] - mean
        found[0, 0] = found[1, 1] = 1.0
        return found

    def from_middle(self, part, along, upright):
        """A point from the middle of the body (2,), and how that moves with the angles (2, 7)."""
        body, found = direction(self.q[2]), np.zeros((2, 7))
        if part == 2:
            arm = along * body + upright * across(body)
            found[:, 2] = across(arm)
            return arm, found
        hip, turned = self.hips()[part], direction(self.q[3 + part])
        one, other = hip[0] * body + hip[1] * across(body), along * turned + upright * across(turned)
        found[:, 2], found[:, 3 + part] = across(one), across(other)
        return one + other, found

    def centres(self):
        """Part, mass, inertia and mass centre in the part's axes, of all parts."""
        r, arm = self.r, 0.5 * self.r.reach
        yield 2, r.body_mass, r.body_inertia, (r.load_x, r.load_z)
        yield 0, r.front_mass, r.front_inertia, (arm, 0.0)
        yield 1, r.back_mass, r.back_inertia, (-arm, 0.0)

    def mass_matrix(self):
        found = np.diag([0.0] * 5 + [self.r.belt_inertia] * 2)
        for part, mass, inertia, place in self.centres():
            jacobian = self.jacobian(part, *place)
            found += mass * jacobian.T @ jacobian
            column = 2 if part == 2 else 3 + part
            found[column, column] += inertia
        for column in (3, 4):
            turn = np.zeros(7)
            turn[column], turn[2] = 1.0, -1.0
            found += self.r.axle_inertia * np.outer(turn, turn)
        return found

    def place(self, part, along, upright):
        """Where a point of a part is."""
        parts = [(mass, self.from_middle(each, *place)[0]) for each, mass, _, place in self.centres()]
        mean = sum(mass * arm for mass, arm in parts) / sum(mass for mass, _ in parts)
        return self.q[:2] - mean + self.from_middle(part, along, upright)[0]

    def energy(self):
        """Kinetic energy, with that of the belts, and potential energy [J]."""
        mass = self.r.body_mass + self.r.front_mass + self.r.back_mass
        return 0.5 * self.v @ self.mass_matrix() @ self.v + mass * GRAVITY * self.q[1]

    def bias(self):
        """Forces of inertia: masses times the accelerations of their centres at constant rates."""
        found = np.zeros(7)
        for part, mass, _, place in self.centres():
            jacobian = self.jacobian(part, *place)
            acceleration = np.zeros(2)
            for column in (2, 3, 4):
                acceleration += self.v[column] ** 2 * across(jacobian[:, column])
            found += mass * jacobian.T @ acceleration
        return found

    def hulls(self):
        """Of each part: the centres of its two circles in its axes, and their radii."""
        r = self.r
        return [
            ((0.0, 0.0), (r.reach, 0.0), r.wheel, r.tip),
            ((0.0, 0.0), (-r.reach, 0.0), r.wheel, r.tip),
            ((-r.straight, 0.0), (r.straight, 0.0), r.radius, r.radius),
        ]

    def find(self, step):
        """Contacts: part, name, point, normal and gap."""
        found = []
        turning = abs(self.v[2]) * (self.r.half_span + self.r.straight) + 2.0 * self.r.reach * abs(self.v[3:5]).max()
        margin = MARGIN + step * (abs(self.v[0]) + abs(self.v[1]) + turning)
        for part, (one, other, big, small) in enumerate(self.hulls()):
            circles = [(self.place(part, *one), big), (self.place(part, *other), small)]
            for number, line in enumerate(self.outlines):
                closed = np.array_equal(line[0], line[-1])
                steps = np.diff(line, axis=0)
                tangents = steps / np.linalg.norm(steps, axis=1)[:, None]
                for k, (start, tangent) in enumerate(zip(line[:-1], tangents, strict=True)):
                    normal = across(tangent)
                    for end, (centre, radius) in enumerate(circles):
                        gap, share = (centre - start) @ normal - radius, (centre - start) @ tangent
                        if 0.0 <= share <= np.linalg.norm(steps[k]) and -DEEP < gap < margin:
                            found.append((part, (part, number, k, end), centre - (gap + radius) * normal, normal, gap))
                    before = tangents[k - 1]
                    if (k > 0 or closed) and before[0] * tangent[1] - before[1] * tangent[0] < -1e-6:
                        gap, outward = hull_gap(start, *circles)
                        fits = -outward @ before >= -WITHIN and -outward @ tangent <= WITHIN
                        if -DEEP < gap < margin and fits:
                            found.append((part, (part, number, k, 2), start, -outward, gap))
        return found

    def local(self, part, point):
        """A point in the axes of a part."""
        column = 2 if part == 2 else 3 + part
        away = point - self.place(part, 0.0, 0.0)
        return away @ direction(self.q[column]), away @ across(direction(self.q[column]))

    def rows(self, step):
        """Of each contact: Jacobians of normal and tangent, least speed, friction, impulses."""
        made = []
        for part, name, point, normal, gap in self.contacts:
            jacobian = self.jacobian(part, *self.local(part, point))
            tangent = -across(normal)
            slip = tangent @ jacobian
            if part < 2:
                slip[5 + part] = -1.0
            least = -gap / step if gap > 0.0 else min(RECOVER * max(-gap - SLOP, 0.0) / step, MAX_RECOVERY)
            grip = self.r.belly_grip if part == 2 else self.r.grip
            made.append([name, normal @ jacobian, slip, least, grip, *self.memory.get(name, (0.0, 0.0))])
        return made

    def step(self, targets, step):
        """One step: axle angles and belt speed as targets."""
        r = self.r
        self.contacts = self.find(step)
        inverse = np.linalg.inv(self.mass_matrix())
        weight = -sum(mass * GRAVITY * self.jacobian(part, *place)[1] for part, mass, _, place in self.centres())
        v = self.v + step * inverse @ (weight - self.bias())
        motors = []
        for k in range(2):
            row = np.zeros(7)
            row[3 + k], row[2] = 1.0, -1.0
            want = np.clip(r.axle_gain * (targets[k] - row @ self.q), -r.axle_speed, r.axle_speed)
            limit = r.axle_torque * step
            motors.append([row, want, 1.0 / (r.axle_damping * step), -limit, limit, self.motors[k] * step, LEVER])
        for k in range(2):
            row = np.zeros(7)
            row[5 + k] = 1.0
            line = r.thrust / r.belt_speed * self.v[5 + k]
            low, high = step * (-r.thrust - line), step * (r.thrust - line)
            start = np.clip(self.motors[2 + k] * step, low, high)
            motors.append([row, targets[2], 1.0 / (r.belt_damping * step), low, high, start, 1.0])
        rows = self.rows(step)
        for motor in motors:
            v = v + inverse @ motor[0] * motor[5]
        for row in rows:
            v = v + inverse @ (row[1] * row[5] + row[2] * row[6])
        for sweep in range(SWEEPS):
            share = 1.0 if sweep < FULL else RELAXED
            most = 0.0
            for motor in motors:
                row, want, soft, low, high, before, scale = motor
                new = before - (row @ v - want + soft * before) / (row @ inverse @ row + soft)
                motor[5] = np.clip(new, low, high)
                v = v + inverse @ row * (motor[5] - before)
                most = max(most, scale * abs(motor[5] - before))
            for row in rows:
                _, normal, slip, least, grip, push, pull = row
                row[5] = max(push - share * (normal @ v - least) / (normal @ inverse @ normal), 0.0)
                v = v + inverse @ normal * (row[5] - push)
                row[6] = np.clip(pull - share * slip @ v / (slip @ inverse @ slip), -grip * row[5], grip * row[5])
                v = v + inverse @ slip * (row[6] - pull)
                most = max(most, abs(row[5] - push), abs(row[6] - pull))
            if most < TOLERANCE:
                break
        self.motors = np.array([motor[5] for motor in motors]) / step
        self.memory = {row[0]: (row[5], row[6]) for row in rows}
        self.v = v
        self.q = self.q + step * v
        return self


def hull_gap(point, first, second):
    """Signed distance of a point from the hull of two circles, and the outward direction there.

    The hull is every circle between the two: its distance is the least over them.
    """
    (one, big), (other, small) = first, second

    def gap(share):
        return np.linalg.norm(point - one - share * (other - one)) - (big + share * (small - big))

    low, high = 0.0, 1.0
    for _ in range(200):  # the distance is convex in the share
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, b) if gap(a) < gap(b) else (a, high)
    share = 0.5 * (low + high)
    centre = one + share * (other - one)
    return gap(share), (point - centre) / np.linalg.norm(point - centre)
