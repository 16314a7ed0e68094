"""Solid shapes on a robot's links, and their mass and inertia."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sandlot.robots.meshes import hull_moments
from sandlot.typing import Array

SolidKind = Literal["box", "cylinder", "sphere", "mesh"]

_CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_RIMS = np.array([[math.cos(a), math.sin(a), z] for a in np.linspace(0.0, 2.0 * math.pi, 65)[:-1] for z in (-1.0, 1.0)])


@dataclass(frozen=True, eq=False)
class Inertial:
    """Mass and inertia of a rigid part.

    Attributes:
        mass: [kg]; zero if the part has neither inertial nor collision elements.
        centre: (3,) centre of mass [m].
        inertia: (3, 3) about ``centre`` [kg*m^2].
    """

    mass: float
    centre: Array
    inertia: Array

    def moved(self, rotation: Array, position: Array) -> "Inertial":
        """The same part in other axes: rotated by (3, 3), then shifted by (3,) [m]."""
        return Inertial(self.mass, rotation @ self.centre + position, rotation @ self.inertia @ rotation.T)


def combine(parts: Sequence[Inertial]) -> Inertial:
    """Several rigid parts as one, by the parallel axis theorem; zeros if they have no mass."""
    mass = sum(part.mass for part in parts)
    if mass <= 0.0:
        return Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
    centre = sum((part.mass * part.centre for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        arm = part.centre - centre
        inertia += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Inertial(mass, centre, inertia)


@dataclass(frozen=True, eq=False)
class Solid:
    """A solid on a link.

    Attributes:
        kind: ``box``, ``cylinder``, ``sphere`` or ``mesh``.
        size: Box: lengths along x, y, z; cylinder (along z): radius and length; sphere: radius [m]. Empty for a mesh.
        position: (3,) of its centre, or of a mesh's origin, on the link [m].
        rotation: (3, 3) from its axes to the link's.
        vertices: (n, 3) of a mesh, in its own axes, scaled [m].
        faces: (m, 3) vertex indices of each triangle of a mesh.
    """

    kind: SolidKind
    size: tuple[float, ...]
    position: Array
    rotation: Array
    vertices: Array
    faces: NDArray[np.int32]

    def moved(self, rotation: Array, position: Array) -> "Solid":
        """The same solid in other axes: rotated by (3, 3), then shifted by (3,) [m]."""
        return replace(self, position=rotation @ self.position + position, rotation=rotation @ self.rotation)

    def box_corners(self) -> Array:
        """Corners of the bounding box along its own axes, in link axes: (8, 3) [m]."""
        if self.kind == "mesh":
            low, high = self.vertices.min(axis=0), self.vertices.max(axis=0)
            corners = 0.5 * (low + high) + 0.5 * (high - low) * _CORNERS
        elif self.kind == "box":
            corners = 0.5 * np.array(self.size) * _CORNERS
        elif self.kind == "cylinder":
            radius, length = self.size
            corners = np.array([radius, radius, 0.5 * length]) * _CORNERS
        else:
            corners = self.size[0] * _CORNERS
        return corners @ self.rotation.T + self.position

    def extent(self, point: Array, axis: Array) -> tuple[float, float, float]:
        """Extent around and along a line.

        Args:
            point: (3,) on the line [m].
            axis: (3,) unit vector along it.

        Returns:
            The largest distance from the line, then the lowest and the highest coordinate along it from ``point`` [m].
        """
        if self.kind == "sphere":
            points, pad = np.zeros((1, 3)), self.size[0]
        elif self.kind == "mesh":
            points, pad = self.vertices, 0.0
        elif self.kind == "box":
            points, pad = 0.5 * np.array(self.size) * _CORNERS, 0.0
        else:
            radius, length = self.size
            points, pad = np.array([radius, radius, 0.5 * length]) * _RIMS, 0.0
        away = points @ self.rotation.T + self.position - point
        along = away @ axis
        across = np.linalg.norm(away - along[:, None] * axis, axis=1)
        return float(across.max() + pad), float(along.min() - pad), float(along.max() + pad)

    def inertial(self, density: float) -> Inertial:
        """Mass and inertia in link axes with this density [kg/m^3].

        A mesh counts as its convex hull, which is also how MuJoCo collides it.

        Raises:
            QhullError: If a mesh encloses no volume.
        """
        middle = np.zeros(3)
        if self.kind == "mesh":
            volume, middle, second = hull_moments(self.vertices)
        elif self.kind == "box":
            volume = math.prod(self.size)
            second = np.diag(np.square(self.size)) * volume / 12.0
        elif self.kind == "cylinder":
            radius, length = self.size
            volume = math.pi * radius**2 * length
            second = np.diag([radius**2 / 4.0, radius**2 / 4.0, length**2 / 12.0]) * volume
        else:
            volume = 4.0 / 3.0 * math.pi * self.size[0] ** 3
            second = np.eye(3) * self.size[0] ** 2 / 5.0 * volume
        inertia = self.rotation @ (np.trace(second) * np.eye(3) - second) @ self.rotation.T
        return Inertial(density * volume, self.rotation @ middle + self.position, density * inertia)
