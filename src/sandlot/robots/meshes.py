"""Triangle meshes from files, and the volume and moments of their convex hull."""

import itertools
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from sandlot.errors import RobotError, quote
from sandlot.reading import read_bytes
from sandlot.typing import Array

MAX_TRIANGLES = 200_000
"""In one mesh; MuJoCo's own limit."""

MAX_BYTES = 64_000_000
"""In one file."""


class MeshError(RobotError):
    """A mesh file was not found, or cannot be read."""


def mesh_file(name: str, where: str, folder: Path) -> Path:
    """Find a mesh file: relative to ``folder``, or for ``package://``, in the folder of that name above it."""
    if not name:
        raise RobotError(f"{where}: <mesh> names no file")
    package, _, rest = name.removeprefix("package://").partition("/")
    places = [folder / name.removeprefix("file://")]
    if name.startswith("package://"):
        places = [above / rest for above in folder.resolve().parents if above.name == package]
        places += [folder / package / rest, folder / rest]
    if places[0].suffix.lower() not in (".obj", ".stl"):
        raise MeshError(f'{where}: mesh "{quote(name)}" is of a kind that is not read; allowed: .obj, .stl')
    try:
        return next(place for place in places if place.is_file())
    except (StopIteration, ValueError, OSError):
        raise MeshError(f'{where}: mesh file "{quote(name)}" was not found') from None


def read_mesh(path: Path, where: str) -> tuple[Array, NDArray[np.int32]]:
    """Read triangles from a Wavefront ``.obj`` or an ``.stl`` (text or binary).

    Returns:
        Vertices (n, 3) [m], and the vertex indices of each triangle (m, 3).

    Raises:
        MeshError: If the file cannot be read or holds no triangles; ``where`` begins the message.
    """
    try:
        data = read_bytes(path, MAX_BYTES, RobotError)
    except RobotError as error:
        raise MeshError(f"{where}: {error}") from None
    try:
        vertices, faces = _read_obj(data) if path.suffix.lower() == ".obj" else _read_stl(data)
    except (ValueError, IndexError, OverflowError):
        vertices, faces = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
    if len(faces) == 0 or not np.isfinite(vertices).all():
        raise MeshError(f'{where}: mesh "{path.name}" holds no triangles that can be read')
    if len(faces) > MAX_TRIANGLES:
        raise MeshError(f'{where}: mesh "{path.name}" has {len(faces)} triangles; allowed: {MAX_TRIANGLES}')
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise MeshError(f'{where}: mesh "{path.name}" has a triangle with a corner that does not exist')
    return vertices, faces


def _read_obj(data: bytes) -> tuple[Array, NDArray[np.int32]]:
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            # Indices start at one; a negative index counts back from the latest vertex.
            corners = [int(word.split("/")[0]) for word in words[1:]]
            corners = [k - 1 if k > 0 else len(vertices) + k for k in corners]
            faces.extend((corners[0], *pair) for pair in itertools.pairwise(corners[1:]))
    return np.array(vertices, np.float64).reshape(-1, 3), np.array(faces, np.int32).reshape(-1, 3)


_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("colour", "<u2")])


def _read_stl(data: bytes) -> tuple[Array, NDArray[np.int32]]:
    count = int.from_bytes(data[80:84], "little")
    # A binary file may also begin with "solid", as text files do, so the length decides.
    if len(data) == 84 + count * _TRIANGLE.itemsize:
        corners = np.frombuffer(data, _TRIANGLE, count, 84)["corners"].reshape(-1, 3).astype(np.float64)
    else:
        rows = re.findall(r"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", data.decode("utf-8", "replace"))
        corners = np.array(rows, dtype=object).astype(np.float64).reshape(-1, 3)
    vertices, numbers = np.unique(corners, axis=0, return_inverse=True)
    return vertices, numbers.reshape(-1, 3).astype(np.int32)


def hull_moments(points: Array) -> tuple[float, Array, Array]:
    """Volume, centroid (3,), and second moments (3, 3) about it, of the convex hull of points (n, 3).

    Raises:
        QhullError: If the points lie in a plane.
    """
    hull = ConvexHull(points)
    inside = points[hull.vertices].mean(axis=0)
    corners = points[hull.simplices] - inside
    # The hull is the sum of tetrahedra from an inside point to each face.
    volumes = np.abs(np.linalg.det(corners)) / 6.0
    volume, sums = float(volumes.sum()), corners.sum(axis=1)
    if volume <= 0.0:
        raise QhullError("flat")
    middle = (volumes[:, None] * sums).sum(axis=0) / (4.0 * volume)
    products = np.einsum("nki,nkj->nij", corners, corners) + np.einsum("ni,nj->nij", sums, sums)
    second = (volumes[:, None, None] * products).sum(axis=0) / 20.0
    return volume, middle + inside, second - volume * np.outer(middle, middle)
