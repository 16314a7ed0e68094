"""Scans of courses and elevation maps in plain NumPy: every beam against every segment, and equations 20 to 22."""

from itertools import pairwise

import numpy as np

MARGIN = 0.03


def rotation(roll, pitch):
    """Of equation 22, which counts pitch the other way: positive with the nose up."""
    c, s, cr, sr = np.cos(-pitch), np.sin(-pitch), np.cos(roll), np.sin(roll)
    return np.array([[c, 0.0, -s], [-s * sr, cr, -c * sr], [s * cr, sr, c * cr]])


def offset(roll, pitch, mount):
    """Last column of equation 22."""
    c, s, (ahead, above) = np.cos(-pitch), np.sin(-pitch), mount
    up = above * c + ahead * s
    return np.array([ahead * c - above * s, -np.sin(roll) * up, np.cos(roll) * up])


def points(ranges, bearings, pan, roll, pitch, mount):
    """Of one line in the robot's horizontal frame: (beams, 3)."""
    ahead = np.cos(bearings)
    line = ranges[:, None] * np.stack([ahead * np.cos(pan), ahead * np.sin(pan), np.sin(bearings)], axis=1)
    return line @ rotation(roll, pitch).T + offset(roll, pitch, mount)


def scan(outlines, middle, attitude, mount, pan, bearings, max_range, ceiling=None):
    """Exact ranges of one line; NaN without a return."""
    roll, pitch, yaw = attitude
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    start = np.array([middle[0], 0.0, middle[1]]) + turn @ offset(roll, pitch, mount)
    away = points(np.ones(len(bearings)), bearings, pan, roll, pitch, mount) - offset(roll, pitch, mount)
    away = away @ turn.T
    lines = [*outlines, *([] if ceiling is None else [np.array([[-1e3, ceiling], [1e3, ceiling]])])]
    found = np.full(len(bearings), np.inf)
    for line in lines:
        for (x0, z0), (x1, z1) in pairwise(line):
            ex, ez, wx, wz = x1 - x0, z1 - z0, x0 - start[0], z0 - start[2]
            with np.errstate(divide="ignore", invalid="ignore"):
                area = away[:, 0] * ez - away[:, 2] * ex
                t = (wx * ez - wz * ex) / area
                share = (wx * away[:, 2] - wz * away[:, 0]) / area
                hit = (t > 0.0) & (share >= 0.0) & (share <= 1.0)
            found[hit] = np.minimum(found[hit], t[hit])
    return np.where(found <= max_range, found, np.nan)


def fill(ranges):
    """Interpolate missing returns."""
    known = np.flatnonzero(~np.isnan(ranges))
    if not len(known):
        return ranges.copy()
    return np.interp(np.arange(len(ranges)), known, ranges[known], left=np.nan, right=np.nan)


class Map:
    """One row of one robot: a dictionary from cells to height, time and yaw."""

    def __init__(self, ahead, memory, pan=0.0):
        self.ahead, self.memory, self.pan, self.cells = ahead, memory, pan, {}

    def add(self, ranges, bearings, pan, attitude, mount, height, driven, now):
        """Put one line into the map."""
        found = points(fill(ranges), bearings, pan, *attitude[:2], mount)
        x = np.where(np.isnan(found[:, 0]), -np.inf, found[:, 0])
        (far,) = np.nonzero(x >= min(x.max() - MARGIN, 0.01 * self.ahead))
        new = {}
        for point in found[: far[-1] + 1] if np.isfinite(x.max()) else ():
            if np.isfinite(point).all():
                cell = int(np.floor((driven + point[0]) / 0.01 + 0.5))
                new[cell] = max(new.get(cell, -np.inf), height + point[2])
        first = int(np.floor(driven / 0.01 + 0.5))
        self.cells |= {cell: (z, now, attitude[2]) for cell, z in new.items() if first <= cell < first + self.ahead}

    def read(self, driven, zero, now, yaw):
        """Heights ahead, without cells that a turn has moved by more than their length."""
        first = int(np.floor(driven / 0.01 + 0.5))
        known = {
            cell - first: z - zero
            for cell, (z, when, then) in self.cells.items()
            if first <= cell < first + self.ahead
            and now - when <= self.memory
            and abs(0.01 * (cell - first) * np.tan(self.pan) * (yaw - then)) <= 0.01
        }
        if not known:
            return np.zeros(self.ahead)
        at = sorted(known)
        found = np.interp(np.arange(self.ahead), at, [known[i] for i in at])
        found[at[-1] + 1 :] = found[max(at[-1] - 3, 0) : at[-1] + 1].max()
        return found
