"""Draws a map: what is occupied and free, and the path of the robot."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, WALL, Grid, Kinds
from sandlot.typing import Array

SHADES = {UNKNOWN: 0.88, FREE: 1.0, OBSTACLE: 0.35, WALL: 0.0}
PATH = "#c0504d"


def draw_map(axes: Axes, grid: Grid, kinds: Kinds, poses: Array | None = None, scale: float | None = None) -> None:
    """Draw a map, the path through ``poses`` (n, 3) [m, rad], and a bar of ``scale`` metres in place of axes."""
    shades = np.array([SHADES[kind] for kind in range(len(SHADES))])
    axes.imshow(shades[kinds], cmap="gray", vmin=0.0, vmax=1.0, origin="lower", extent=grid.extent)
    if poses is not None:
        axes.plot(poses[:, 0], poses[:, 1], color=PATH, linewidth=0.8)
    axes.set_aspect("equal")
    if scale is None:
        axes.set(xlabel="x [m]", ylabel="y [m]")
        return
    left, right, low, high = grid.extent
    x, y = left + 0.03 * (right - left), low + 0.04 * (high - low)
    axes.plot([x, x + scale], [y, y], color="#222222", linewidth=2.0)
    axes.text(x, y + 0.015 * (high - low), f"{scale:g} m", fontsize=8)
    axes.set_axis_off()


def map_figure(grid: Grid, kinds: Kinds, poses: Array | None = None) -> Figure:
    """A figure of one map."""
    left, right, low, high = grid.extent
    width, height = right - left, high - low
    size = 9.0 / max(width, height)
    figure = Figure(figsize=(size * width + 1.0, size * height + 0.8), layout="constrained")
    draw_map(figure.subplots(), grid, kinds, poses)
    return figure
