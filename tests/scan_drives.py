"""Scans of simulated lasers along known paths, for the tests of scan matching and maps."""

import math

import numpy as np

from sandlot.geometry.planar import between, compose
from sandlot.places.plans import make_plan
from sandlot.recordings.scans import UNKNOWN_POSE, Pose, Scan
from sandlot.sensing.laser import Laser

LASER = Laser(max_range=20.0, beams=360, field_of_view=2.0 * math.pi)

BOXES = (
    (-3.0, -5.5, 0.8, 0.4), (2.0, -3.4, 1.1, 0.4), (7.0, -1.0, 0.5, 1.3), (4.0, 5.0, 1.5, 0.5),
    (-1.0, 3.0, 0.6, 0.3), (-7.5, 2.0, 0.3, 1.0), (-5.4, -2.0, 0.4, 0.7),
)  # fmt: skip
"""In the ring: x, y of the lower left corner, width and height [m]."""


def box(x, y, width, height):
    """Four segments around a rectangle with this lower left corner."""
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return [(*a, *b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]


def cluttered_room(seed, boxes=6):
    """A room of 10 x 8 m around the origin with boxes of random sizes, none within 1.5 m of the origin."""
    rng = np.random.default_rng(seed)
    walls = box(-5.0, -4.0, 10.0, 8.0)
    while boxes:
        width, height = rng.uniform(0.3, 1.5, 2)
        x, y = rng.uniform((-5.0, -4.0), (5.0 - width, 4.0 - height))
        if math.hypot(x + width / 2, y + height / 2) > 1.5 + max(width, height):
            walls += box(x, y, width, height)
            boxes -= 1
    return make_plan(walls)


def ring():
    """A corridor around a block of 10 x 6 m, 2.5 m wide, with niches and boxes that tell its sides apart."""
    walls = box(-7.5, -5.5, 15.0, 11.0) + box(-5.0, -3.0, 10.0, 6.0)
    for x, y, width, height in BOXES:
        walls += box(x, y, width, height)
    return make_plan(walls)


def around(laps, step=0.15):
    """Poses around the middle of the ring's corridor, counter-clockwise: (n, 3)."""
    corners = np.array([(-6.2, -4.2), (6.2, -4.2), (6.2, 4.2), (-6.2, 4.2)])
    poses = []
    for k in range(math.ceil(4 * laps)):
        a, b = corners[k % 4], corners[(k + 1) % 4]
        yaw, length = math.atan2(*(b - a)[::-1]), math.dist(a, b)
        poses += [(*(a + (b - a) * s / length), yaw) for s in np.arange(0.0, length, step)]
        poses += [(*b, yaw + turn) for turn in np.arange(0.1, math.pi / 2, 0.15)]
    return np.array(poses)[: int(len(poses) * 4 * laps / math.ceil(4 * laps))]


def scans_along(plan, poses, seed=0, odometry=True, laser=LASER, interval=0.2):
    """Scans at these poses (n, 3); odometry drives 4% too far and drifts by 0.02 rad/m."""
    rng = np.random.default_rng(seed)
    ranges, blind, scans = laser.scan(plan, poses, rng), np.zeros(3), []
    for k, (pose, measured) in enumerate(zip(poses, ranges, strict=True)):
        if k:
            step = between(poses[k - 1], pose)
            step[:2] *= 1.04
            step[2] += 0.02 * math.hypot(*step[:2]) + rng.normal(0.0, 0.002)
            blind = compose(blind, step)
        where = Pose(*blind.tolist()) if odometry else UNKNOWN_POSE
        scans.append(Scan(interval * k, measured.astype(np.float32), laser.bearings, Pose(*pose.tolist()), where))
    return scans


def errors(found, poses):
    """Distances [m] and turns [rad] between two trajectories that begin with the same pose."""
    wrong = between(between(poses[0], poses), between(found[0], found))
    return np.hypot(wrong[:, 0], wrong[:, 1]), np.abs(wrong[:, 2])
