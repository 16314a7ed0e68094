"""A picture of a scene in perspective, with light and shadow."""

import numpy as np
from PIL import Image as Pillow

from sandlot.typing import Array, Image, IntArray
from sandlot.worlds.meshes import Mesh, mesh
from sandlot.worlds.raster import Depths, cast_shadows, fill
from sandlot.worlds.scene import Camera, HeightField, Scene, Shape

FINER = 2
"""Pictures are drawn this many times as large and then reduced, so that edges are smooth."""
LIGHT = np.array([-0.45, 0.5, 0.75]) / np.linalg.norm([-0.45, 0.5, 0.75])
"""Towards the light, if the camera looks along x."""
AMBIENT, DIRECT, LEVEL = 0.5, 0.65, 0.72
"""Brightness without direct light, what direct light adds, and the height of it on level ground that looks normal."""
SHADOWS, DARK = 640, 0.6
"""Texels along a side of the map of shadows, and the share of the colour that is left in a shadow."""
NEAR = 0.02
"""What is nearer to the camera than this is not drawn, relative to the distance of its target."""
FAR = 2.2
"""How much further away than its target a camera sees ground, relative to its distance; colours fade towards there."""


def in_perspective(scene: Scene, camera: Camera) -> Image:
    """Draw a scene as a camera sees it: (rows, columns, 3)."""
    view = _View(camera)
    reach = FAR * camera.distance
    meshes = [
        (item, found)
        for item in scene.items
        if (found := mesh(item, camera.target[:2], reach, view.ahead, view.pixel)) is not None
    ]
    rows, columns = FINER * camera.size[1], FINER * camera.size[0]
    image = np.empty((rows, columns, 3), np.uint8)
    image[:] = np.array(scene.background[:3], np.uint8)
    depths = np.zeros((rows, columns), np.float32)
    light = view.turned(LIGHT)
    sky = np.array(scene.background[:3], np.float64)
    for item, each in sorted(meshes, key=lambda pair: pair[1].opacity < 1.0):
        colours = _lit(each, light)
        if isinstance(item, HeightField):
            away = np.linalg.norm(each.points[:, :2] - camera.target[:2], axis=1) / reach
            fade = np.clip((away - 0.45) / 0.5, 0.0, 1.0)[:, None] ** 2
            colours = colours * (1.0 - fade) + sky * fade
        points, colours, faces = view.clipped(each.points, colours, each.faces)
        fill(view.project(points), colours.astype(np.float32), faces, each.opacity, depths, image)
    # Shapes cast shadows, on everything.
    shapes = [each for item, each in meshes if isinstance(item, Shape) and each.opacity == 1.0]
    if shapes:
        lit, axes = _shadow_map(shapes, light, camera.target, 0.9 * camera.distance)
        cast_shadows(depths, image, view.eye, view.rays, lit, axes, 0.015 * camera.distance, DARK)
    return np.asarray(Pillow.fromarray(image).reduce(FINER))


class _View:
    """Where a camera stands, and how it projects."""

    def __init__(self, camera: Camera) -> None:
        ce, se = np.cos(camera.elevation), np.sin(camera.elevation)
        out = np.array([ce * np.cos(camera.azimuth), ce * np.sin(camera.azimuth), se])
        self.ahead = -out
        self.eye = camera.target + camera.distance * out
        self._right = np.array([-np.sin(camera.azimuth), np.cos(camera.azimuth), 0.0])
        self._up = np.cross(out, self._right)
        wide, tall = FINER * np.array(camera.size, np.float64)
        self._middle = 0.5 * np.array([wide, tall])
        self._scale = 0.5 * tall / np.tan(0.5 * camera.field_of_view)
        self._near = NEAR * camera.distance
        self.pixel = FINER * camera.distance / self._scale

    def project(self, points: Array) -> Array:
        """Column, row [pixel] and 1 / distance [1/m] of points (n, 3); the last is 0 for those behind the camera."""
        q = points - self.eye
        distance = q @ self.ahead
        near = np.where(distance > 1e-6, 1.0 / np.maximum(distance, 1e-6), 0.0)
        column = self._middle[0] + self._scale * (q @ self._right) * near
        row = self._middle[1] - self._scale * (q @ self._up) * near
        return np.column_stack([column, row, near])

    def clipped(self, points: Array, colours: Array, faces: IntArray) -> tuple[Array, Array, IntArray]:
        """The parts of triangles that lie before the camera: points (m, 3), their colours (m, 3), faces (n, 3)."""
        before = (points - self.eye) @ self.ahead - self._near
        count = (before[faces] > 0.0).sum(axis=1)
        mixed = faces[(count > 0) & (count < 3)]
        if not len(mixed):
            return points, colours, faces
        corners, shades, more = [*points], [*colours], []
        for face in mixed.tolist():
            start = len(corners)
            for a, b in zip(face, [*face[1:], face[0]], strict=True):
                if before[a] > 0.0:
                    corners.append(points[a])
                    shades.append(colours[a])
                if (before[a] > 0.0) != (before[b] > 0.0):
                    share = before[a] / (before[a] - before[b])
                    corners.append(points[a] + share * (points[b] - points[a]))
                    shades.append(colours[a] + share * (colours[b] - colours[a]))
            more += [(start, start + k, start + k + 1) for k in range(1, len(corners) - start - 1)]
        return np.array(corners), np.array(shades), np.concatenate([faces[count == 3], np.array(more)])

    @property
    def rays(self) -> Array:
        """Directions of pixels, as `cast_shadows` wants them."""
        across, down = self._right / self._scale, -self._up / self._scale
        return np.stack([self.ahead - self._middle[0] * across - self._middle[1] * down, across, down])

    def turned(self, direction: Array) -> Array:
        """A direction of a camera that looks along x, in the world's axes: the light comes from over its shoulder."""
        flat = np.array([self.ahead[0], self.ahead[1], 0.0])
        flat /= max(float(np.linalg.norm(flat)), 1e-9)
        left = np.array([-flat[1], flat[0], 0.0])
        return direction[0] * flat + direction[1] * left + direction[2] * np.array([0.0, 0.0, 1.0])


def _lit(each: Mesh, light: Array) -> Array:
    """Colours (n, 3) in the light; those without a normal as they are."""
    direct = each.normals @ light
    # The far sides of surfaces without thickness are lit as well.
    shade = AMBIENT + DIRECT * np.maximum(direct, -0.35 * direct)
    plain = ~each.normals.any(axis=1)
    return each.colours * np.where(plain, 1.0, shade / (AMBIENT + DIRECT * LEVEL))[:, None]


def _shadow_map(meshes: list[Mesh], light: Array, target: Array, half: float) -> tuple[Depths, Array]:
    """How near to the light meshes are, and the axes of that map, as `cast_shadows` wants them."""
    across = np.cross([0.0, 0.0, 1.0], light)
    across /= np.linalg.norm(across)
    other = np.cross(light, across)
    scale = 0.5 * SHADOWS / half
    rows = np.stack([scale * across, scale * other, light])
    offsets = np.array([0.5 * SHADOWS, 0.5 * SHADOWS, 100.0 * half]) - rows @ target
    axes = np.column_stack([rows, offsets])
    lit, unused = np.zeros((SHADOWS, SHADOWS), np.float32), np.zeros((SHADOWS, SHADOWS, 3), np.uint8)
    for each in meshes:
        points = each.points @ rows.T + offsets
        fill(points, np.zeros((len(points), 3), np.float32), each.faces, 1.0, lit, unused)
    return lit, axes
