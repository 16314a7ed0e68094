"""Ray casting once more: every beam against every segment and every circle, in NumPy."""

import numpy as np


def cast(segments, circles, poses, bearings, most=np.inf):
    """Ranges, infinite where nothing is met, and what is met, -1 if nothing is: each (n, beams)."""
    found = [cast_one(segments, circles, pose, bearings, most) for pose in poses]
    return np.array([each[0] for each in found]), np.array([each[1] for each in found])


def cast_one(segments, circles, pose, bearings, most):
    beam = np.array([np.cos(bearings), np.sin(bearings)])
    cosine, sine = np.cos(pose[2]), np.sin(pose[2])

    def local(points):
        x, y = points[:, 0] - pose[0], points[:, 1] - pose[1]
        return np.array([cosine * x + sine * y, cosine * y - sine * x])

    distances = np.full((len(segments) + len(circles) + 1, len(bearings)), np.inf)
    for n, (p, q) in enumerate(zip(local(segments[:, :2]).T, local(segments[:, 2:]).T, strict=True)):
        area = cross(p, q)
        if area != 0.0:
            p, q, area = (p, q, area) if area > 0.0 else (q, p, -area)
            met = (cross(p, beam) >= 0.0) & (cross(beam, q) >= 0.0)
            distances[n, met] = area / cross(beam[:, met], q - p)
    for n, (centre, radius) in enumerate(zip(local(circles[:, :2]).T, circles[:, 2], strict=True), len(segments)):
        along, rest = centre @ beam, radius**2 - cross(centre, beam) ** 2
        root = np.sqrt(np.maximum(rest, 0.0))
        inside = centre @ centre <= radius**2
        met = (rest >= 0.0) & ((along > 0.0) | inside)
        distances[n, met] = (along + root if inside else along - root)[met]
    nearest = distances.argmin(axis=0)
    ranges = distances[nearest, np.arange(len(bearings))]
    met = ranges < most
    return np.where(met, ranges, np.inf), np.where(met, nearest, -1)


def cross(one, other):
    return one[0] * other[1] - one[1] * other[0]
