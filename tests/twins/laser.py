"""A laser's faults once more, all scans at once, in NumPy."""

import numpy as np


def scan(laser, plan, poses, rng):
    """As `Laser.scan`, of not too many poses by one generator."""
    half = np.array([0.0, 0.0, 0.5 * laser.divergence])
    echoes = laser.cast(plan, poses)
    ranges, hits = echoes.ranges, echoes.hits
    if laser.mixed and laser.divergence:
        right, left = laser.cast(plan, poses - half), laser.cast(plan, poses + half)
        edge = np.nonzero((right.hits != left.hits) & (right.hits >= 0) & (left.hits >= 0) & (hits >= 0))
        is_mixed, share = rng.random((2, edge[0].size))
        between = share * left.ranges[edge] + (1.0 - share) * right.ranges[edge]
        ranges[edge] = np.where(is_mixed < laser.mixed, between, ranges[edge])
    grazing = np.arcsin(np.minimum(incidence(plan, poses, laser.bearings, hits), 1.0))
    lost = (hits < 0) | (grazing < laser.specular * np.append(plan.shine, 0.0)[hits])
    if laser.missing:
        lost |= rng.random(lost.shape) < laser.missing
    ranges[lost] = np.nan
    if laser.noise or laser.noise_growth:
        ranges += (laser.noise + laser.noise_growth * ranges) * rng.normal(size=ranges.shape)
    return np.maximum(ranges, 0.0)


def incidence(plan, poses, bearings, hits):
    """How straight beams come at what they meet: (n, beams); 1 where nothing is."""
    directions = poses[:, 2:] + bearings
    ahead, left = np.cos(directions), np.sin(directions)
    along = plan.segments[:, 2:] - plan.segments[:, :2]
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    straight, lines = np.ones(hits.shape), len(along)
    line, disc = (hits >= 0) & (hits < lines), hits >= lines
    straight[line] = np.abs(ahead[line] * along[hits[line], 1] - left[line] * along[hits[line], 0])
    x, y, radius = plan.circles[hits[disc] - lines].T
    row = np.nonzero(disc)[0]
    across = ahead[disc] * (y - poses[row, 1]) - left[disc] * (x - poses[row, 0])
    straight[disc] = np.sqrt(np.maximum(1.0 - (across / radius) ** 2, 0.0))
    return straight
