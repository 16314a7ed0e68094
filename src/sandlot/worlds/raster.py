"""Filling triangles: the compiled part of pictures in perspective."""

import math

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.typing import Array, Image, IntArray

Depths = NDArray[np.float32]
"""(rows, columns) how near what is drawn at each pixel is: larger is nearer, 0 where nothing is."""
Colours = NDArray[np.float32]


@kernel(allocates=False)
def fill(points: Array, colours: Colours, faces: IntArray, opacity: float, depths: Depths, image: Image) -> None:
    """Draw triangles where nothing nearer was drawn.

    Args:
        points: (m, 3) column and row [pixel], and nearness, which must be linear in the picture: 1 / distance for a
            perspective. Triangles with a corner whose nearness is not positive are left out.
        colours: (m, 3) of the corners, 0 to 255.
        faces: (n, 3) corners of each triangle.
        opacity: From 0 to 1. What is transparent does not hide what is drawn later.
        depths: (rows, columns) changed.
        image: (rows, columns, 3) changed.
    """
    rows, columns = depths.shape
    for k in range(len(faces)):
        a, b, c = faces[k, 0], faces[k, 1], faces[k, 2]
        xa, ya, za = points[a, 0], points[a, 1], points[a, 2]
        xb, yb, zb = points[b, 0], points[b, 1], points[b, 2]
        xc, yc, zc = points[c, 0], points[c, 1], points[c, 2]
        double = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
        if not (za > 0.0 and zb > 0.0 and zc > 0.0) or not abs(double) > 1e-12:
            continue
        left, right = max(math.ceil(min(xa, xb, xc) - 0.5), 0), min(math.floor(max(xa, xb, xc) - 0.5), columns - 1)
        top, bottom = max(math.ceil(min(ya, yb, yc) - 0.5), 0), min(math.floor(max(ya, yb, yc) - 0.5), rows - 1)
        # Shares of the corners b and c change by these from one column to the next.
        step_b, step_c = (yc - ya) / double, -(yb - ya) / double
        for row in range(top, bottom + 1):
            x, y = left + 0.5 - xa, row + 0.5 - ya
            wb, wc = (x * (yc - ya) - (xc - xa) * y) / double, ((xb - xa) * y - x * (yb - ya)) / double
            wb, wc = wb - step_b, wc - step_c
            for column in range(left, right + 1):
                wb, wc = wb + step_b, wc + step_c
                wa = 1.0 - wb - wc
                if wa < 0.0 or wb < 0.0 or wc < 0.0:
                    continue
                near = np.float32(wa * za + wb * zb + wc * zc)
                if near <= depths[row, column]:
                    continue
                if opacity >= 1.0:
                    depths[row, column] = near
                for j in range(3):
                    shown = wa * colours[a, j] + wb * colours[b, j] + wc * colours[c, j]
                    mixed = opacity * shown + (1.0 - opacity) * image[row, column, j]
                    image[row, column, j] = np.uint8(min(max(mixed, 0.0), 255.0))


@kernel(allocates=False)
def cast_shadows(
    depths: Depths, image: Image, eye: Array, rays: Array, lit: Depths, axes: Array, grain: float, dark: float
) -> None:
    """Darken the pixels that something lies above, towards the light.

    Args:
        depths: (rows, columns) 1 / distance along the view [1/m].
        image: (rows, columns, 3) changed.
        eye: (3,) where the picture is seen from [m].
        rays: (3, 3) a pixel's direction is ``rays[0] + column * rays[1] + row * rays[2]``, of length 1 along the view.
        lit: (n, n) how near to the light the nearest surface is, as `fill` makes it [m].
        axes: (3, 4) column and row in ``lit``, and nearness to the light, of a point (x, y, z, 1).
        grain: Surfaces nearer to each other than this do not shade each other [m].
        dark: Share of the colour that is left in a shadow.
    """
    rows, columns = depths.shape
    side = len(lit)
    for row in range(rows):
        for column in range(columns):
            if depths[row, column] <= 0.0:
                continue
            distance = 1.0 / depths[row, column]
            x = eye[0] + distance * (rays[0, 0] + (column + 0.5) * rays[1, 0] + (row + 0.5) * rays[2, 0])
            y = eye[1] + distance * (rays[0, 1] + (column + 0.5) * rays[1, 1] + (row + 0.5) * rays[2, 1])
            z = eye[2] + distance * (rays[0, 2] + (column + 0.5) * rays[1, 2] + (row + 0.5) * rays[2, 2])
            i = math.floor(axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z + axes[0, 3])
            j = math.floor(axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z + axes[1, 3])
            if i < 1 or j < 1 or i > side - 2 or j > side - 2:
                continue
            near = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z + axes[2, 3] + grain
            # The mean of nine texels softens the edge of a shadow.
            hidden = 0
            for dj in range(-1, 2):
                for di in range(-1, 2):
                    if lit[j + dj, i + di] > near:
                        hidden += 1
            light = 1.0 - (1.0 - dark) * hidden / 9.0
            for k in range(3):
                image[row, column, k] = np.uint8(light * image[row, column, k])
