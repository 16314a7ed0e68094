"""Triangle meshes of the solid shapes of a scene."""

from typing import Any

import numpy as np

from sandlot.extras import need
from sandlot.typing import Array, IntArray
from sandlot.worlds.scene import Shape

ROUND = 20
"""Sides of the polygon that stands for a circle."""


def shape_mesh(shape: Shape) -> tuple[Array, IntArray]:
    """Vertices (n, 3) [m] in the shape's own axes, and the triangles (m, 3) between them."""
    if shape.kind == "mesh":
        assert shape.vertices is not None
        assert shape.faces is not None
        return split(shape.vertices, shape.faces)
    create: Any = need("trimesh.creation", "lab")
    size = shape.size
    if shape.kind == "box":
        mesh = create.box(extents=2.0 * np.array(size))
        return split(mesh.vertices, mesh.faces)
    if shape.kind == "cylinder":
        return cylinder(size[0], max(size[1], 5e-4))
    if shape.kind == "capsule":
        mesh = create.capsule(radius=size[0], height=2.0 * size[1], count=[ROUND, ROUND])
        return mesh.vertices, mesh.faces
    mesh = create.icosphere(subdivisions=3, radius=1.0)
    return mesh.vertices * np.array(size if shape.kind == "ellipsoid" else size * 3), mesh.faces


def cylinder(radius: float, half: float) -> tuple[Array, IntArray]:
    """A cylinder along z [m]; its ends have their own corners, so that a viewer shades their edges as sharp."""
    turn = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    ring = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.full(ROUND, half)])
    flipped = ring * (1.0, 1.0, -1.0)
    k, after = np.arange(ROUND), (np.arange(ROUND) + 1) % ROUND
    sides = np.concatenate([np.stack([k, after, ROUND + k]), np.stack([after, ROUND + after, ROUND + k])], axis=1).T
    ends = fan(ring)
    faces = np.concatenate([sides[:, ::-1], 2 * ROUND + ends, 3 * ROUND + ends[:, ::-1]])
    return np.concatenate([ring, flipped, ring, flipped]), faces


def split(vertices: Array, faces: IntArray) -> tuple[Array, IntArray]:
    """Give every triangle its own corners, so that a viewer shades edges as sharp."""
    return np.asarray(vertices, np.float64)[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)


def walls(ends: Array, height: float) -> tuple[Array, IntArray]:
    """Upright rectangles over lines: ``ends`` (n, 2, 3) [m], each ``height`` high [m]; seen from both sides."""
    up = np.array([0.0, 0.0, height])
    corners = np.concatenate([ends, ends[:, ::-1] + up], axis=1).reshape(-1, 3)
    first = 4 * np.arange(len(ends))[:, None, None]
    return corners, (first + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)


def fan(outline: Array) -> IntArray:
    """Triangles (n - 2, 3) of an outline of n corners that can be seen whole from the first of them."""
    k = np.arange(1, max(len(outline) - 1, 1))
    return np.column_stack([np.zeros_like(k), k, k + 1])
