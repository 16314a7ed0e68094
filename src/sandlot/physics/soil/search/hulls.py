"""Convex hulls of meshes, of no more points than the search of nodes can afford."""

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from sandlot.typing import Array

MAX_POINTS, EXTENTS = 80, 1000
"""A hull of more points is replaced by that of its outermost points in so many directions, which grows until it extends
as far as before, on average over so many directions. Of a sphere, it differs by 0.85% of its radius (RMS)."""


def face_normals(points: Array, faces: NDArray[np.uint32]) -> Array:
    """Normals of faces that are counterclockwise, seen from outside: (faces, 3), twice as long as their areas [m^2]."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    normals: Array = np.cross(b - a, c - a).astype(np.float64)
    return normals


def directions(count: int) -> Array:
    """Unit vectors that are spread evenly over the sphere: (count, 3), on a Fibonacci lattice."""
    k = np.arange(count) + 0.5
    height, turn = 1.0 - 2.0 * k / count, np.pi * (1.0 + np.sqrt(5.0)) * k
    away = np.sqrt(1.0 - height**2)
    return np.stack([away * np.cos(turn), away * np.sin(turn), height], axis=1)


def convex_hull(model: mujoco.MjModel, mesh: int) -> tuple[Array, NDArray[np.uint32]]:
    """Points and faces of the convex hull of a mesh, which is what collides in MuJoCo."""
    points = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]].astype(np.float64)
    graph = int(model.mesh_graphadr[mesh])
    if graph >= 0:
        corners, triangles = model.mesh_graph[graph : graph + 2]
        start = graph + 2 + 2 * corners + corners + 3 * triangles
        faces = model.mesh_graph[start : start + 3 * triangles].reshape(-1, 3)
    else:
        faces = ConvexHull(points).simplices
    used, faces = np.unique(faces, return_inverse=True)
    points, faces = points[used], faces.reshape(-1, 3).astype(np.uint32)
    if len(points) > MAX_POINTS:
        centre, ways = 0.5 * (points.min(axis=0) + points.max(axis=0)), directions(EXTENTS)
        few = points[np.unique(np.argmax(directions(MAX_POINTS) @ points.T, axis=1))]
        extents = [((each - centre) @ ways.T).max(axis=0).mean() for each in (points, few)]
        points = centre + (few - centre) * (extents[0] / extents[1])
        faces = ConvexHull(points).simplices.astype(np.uint32)
    # Every face is counterclockwise, seen from outside.
    outward = points[faces[:, 0]] - points.mean(axis=0)
    inward = np.einsum("ij,ij->i", face_normals(points, faces), outward) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return points, faces
