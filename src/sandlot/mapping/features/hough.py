"""Walls as straight lines: the standard and the probabilistic Hough transform of a discretised scan (6.6.1, 6.6.2).

The transforms find a wall several times, with slightly different distances and angles. Lines whose (r, 20 theta) are
within 2 of each other are one wall (6.6.3). It gets their mean line; the
ends of a wall of the probabilistic transform are those of its points.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sandlot.extras import need
from sandlot.mapping.features.clusters import cluster
from sandlot.typing import Array, BoolArray, Image, IntArray

VOTES = 0.1
"""A line needs votes from at least this share of the occupied cells."""
ANGLE_SCALE, NEIGHBOURS = 20.0, 2.0
"""Angles [rad] are multiplied by the first; lines within the second of each other [cell] are one wall."""
ANGLE_STEP = np.pi / 180.0
"""Of the transform [rad]; OpenCV's usual one."""
BORDER = 2
"""Empty cells around the scan, without which a wall along the border of the image would be lost [cell]."""
Method = Literal["standard", "probabilistic"]


def find_walls(
    points: ArrayLike,
    resolution: float = 0.05,
    method: Method = "probabilistic",
    min_length: float = 0.4,
    max_gap: float = 0.3,
) -> Array:
    """Find the walls of a scan.

    Args:
        points: (n, 2) x, y where beams ended, relative to the sensor [m].
        resolution: Side of a cell of the discretised scan [m].
        method: ``standard``, lines that end where the scan ends; ``probabilistic``, lines that end where the wall ends.
        min_length: Of a wall, for the probabilistic transform [m]; chosen, as the source gives none.
        max_gap: In a wall, for the probabilistic transform [m]; chosen.

    Returns:
        (walls, 4) x, y of both ends [m].
    """
    places = np.asarray(points, np.float64).reshape(-1, 2)
    if len(places) < 2:
        return np.empty((0, 4))
    image, corner = discretise(places, resolution)
    votes = max(round(VOTES * np.count_nonzero(image)), 2)
    cv2 = need("cv2", "maps")
    if method == "standard":
        found = cv2.HoughLines(image, 1.0, ANGLE_STEP, votes)
        lines = np.empty((0, 2)) if found is None else np.reshape(found, (-1, 2)).astype(np.float64)
        segments = across(lines, image.shape)
    else:
        found = cv2.HoughLinesP(image, 1.0, ANGLE_STEP, votes, None, min_length / resolution, max_gap / resolution)
        segments = np.empty((0, 4)) if found is None else np.reshape(found, (-1, 4)).astype(np.float64)
    segments = (segments.reshape(-1, 2) + 0.5).reshape(-1, 4) * resolution + np.tile(corner, 2)
    labels, walls = cluster_lines(segments, resolution), []
    for label in range(labels.max(initial=-1) + 1):
        line = segments[labels == label]
        walls.append(join(line) if method == "standard" else stretches(line, places, resolution, min_length, max_gap))
    return np.concatenate([np.empty((0, 4)), *walls])


def discretise(points: Array, resolution: float) -> tuple[Image, Array]:
    """The occupied cells of points (n, 2), cropped to them (figure 36): 255 or 0; and the lower left corner [m]."""
    cells = np.floor(points / resolution).astype(np.int64)
    low = cells.min(axis=0) - BORDER
    columns, rows = cells.max(axis=0) - low + 1 + BORDER
    image = np.zeros((rows, columns), np.uint8)
    image[cells[:, 1] - low[1], cells[:, 0] - low[0]] = 255
    return image, low * resolution


def across(lines: Array, shape: tuple[int, ...]) -> Array:
    """Infinite lines (n, 2) r, theta as far as they are inside an image of this shape: (n, 4) x, y of both ends."""
    high = np.array([shape[1] - 1.0, shape[0] - 1.0])
    kept = []
    for r, theta in lines:
        normal = np.array([np.cos(theta), np.sin(theta)])
        along, foot = np.array([-normal[1], normal[0]]), r * normal
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = np.sort(np.stack([-foot / along, (high - foot) / along]), axis=0)
        inside = np.abs(along) > 1e-9
        start, end = limits[0][inside].max(), limits[1][inside].min()
        if end > start:
            kept.append(np.concatenate([foot + start * along, foot + end * along]))
    return np.array(kept).reshape(-1, 4)


def polar(walls: Array) -> tuple[Array, Array]:
    """Distance [m] and unit normal of lines (n, 4), the normal pointing from the sensor to the line: (n,), (n, 2)."""
    along = walls[:, 2:] - walls[:, :2]
    normal = np.column_stack([-along[:, 1], along[:, 0]]) / np.maximum(np.hypot(*along.T), 1e-12)[:, None]
    r = np.sum(normal * walls[:, :2], axis=1)
    return np.abs(r), np.where(r[:, None] < 0.0, -normal, normal)


def cluster_lines(walls: Array, resolution: float) -> IntArray:
    """Which wall each of the lines (n, 4) belongs to: (n,), by DBSCAN over (r [cell], 20 theta) with eps 2.

    Theta is that of the normal from the sensor to the line. It enters by its cosine and sine: to the same scale, but
    without the jump from one end of the turn to the other, which would make two walls of one.
    """
    r, normal = polar(walls)
    return cluster(np.column_stack([r / resolution, ANGLE_SCALE * normal]), NEIGHBOURS)


def join(segments: Array) -> Array:
    """The mean line of segments (n, 4) of one wall, from the first of their ends to the last: (1, 4)."""
    r, normals = polar(segments)
    normal = normals.mean(axis=0) / max(float(np.hypot(*normals.mean(axis=0))), 1e-12)
    foot, along = r.mean() * normal, np.array([-normal[1], normal[0]])
    places = (segments.reshape(-1, 2) - foot) @ along
    return np.concatenate([foot + places.min() * along, foot + places.max() * along])[None]


def stretches(segments: Array, points: Array, resolution: float, min_length: float, max_gap: float) -> Array:
    """The stretches of a wall on which there are points: (m, 4).

    The transform leaves out parts of a wall and gives its angle in whole degrees. So the line is fitted to the points
    near the segments, in least squares, and each stretch is as long as its points.

    Args:
        segments: (n, 4) of one wall [m].
        points: (k, 2) of the scan [m].
        resolution: Points this near to the wall belong to it [m].
        min_length: Of a stretch [m].
        max_gap: Stretches further apart are separate, as on both sides of a door [m].
    """
    mean = join(segments)[0]
    mine = points[near(mean, points, resolution)]
    middle = mine.mean(axis=0) if len(mine) else mean[:2]
    along = np.linalg.svd(mine - middle, full_matrices=False)[2][0] if len(mine) > 2 else mean[2:] - mean[:2]
    along = along / max(float(np.hypot(*along)), 1e-12)
    relative = points - middle
    places = np.sort((relative @ along)[np.abs(relative @ (-along[1], along[0])) <= resolution])
    found = np.sort((segments.reshape(-1, 2, 2) - middle) @ along, axis=1)
    runs = np.split(places, np.flatnonzero(np.diff(places) > max_gap) + 1)
    kept = [
        np.concatenate([middle + run[0] * along, middle + run[-1] * along])
        for run in runs
        if len(run) > 1 and run[-1] - run[0] >= min_length and ((found[:, 0] < run[-1]) & (found[:, 1] > run[0])).any()
    ]
    return np.array(kept).reshape(-1, 4)


def near(wall: Array, points: Array, distance: float) -> BoolArray:
    """Which points (n, 2) are within a distance [m] of a wall (4,)."""
    start, along = wall[:2], wall[2:] - wall[:2]
    share = np.clip((points - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return np.hypot(*(points - start - share[:, None] * along).T) <= distance
