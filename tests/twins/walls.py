"""Distances from points to walls once more, in NumPy."""

import numpy as np


def clearance(points, segments, circles):
    """(k,) from points (k, 2) to the nearest of segments (n, 4) and circles (m, 3)."""
    points = points[:, None]
    starts, along = segments[:, :2], segments[:, 2:] - segments[:, :2]
    share = np.clip(((points - starts) * along).sum(axis=-1) / (along**2).sum(axis=-1), 0.0, 1.0)
    lines = np.linalg.norm(points - starts - share[..., None] * along, axis=-1)
    discs = np.linalg.norm(points - circles[:, :2], axis=-1) - circles[:, 2]
    return np.concatenate([lines, discs], axis=1).min(axis=1)
