"""Figures of the studies: the same style for curves, groups and terrains."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LightSource
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.studies.statistics import mean_interval
from sandlot.worlds.picture import from_above
from sandlot.worlds.scene import Scene
from sandlot.writing import PICTURES, check_suffix, drafted

COLOURS = ("#2f6f8f", "#d1793f", "#5f8f4e", "#9a5b8f", "#b8a03c", "#7a7a7a")
EARTH = "gist_earth"
FORMATS = PICTURES
"""Suffixes of pictures."""


def thousands(value: float, _: float) -> str:
    """A tick label with a comma for thousands."""
    return f"{value:,.0f}"


def canvas(columns: int = 1, width: float = 7.0, height: float = 4.2, rows: int = 1) -> tuple[Figure, Sequence[Axes]]:
    """A figure with axes, row after row, without top and right spines; its size is that of all rows [inch]."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(alpha=0.25)
    return figure, axes


def show(axes: Axes, scene: Scene) -> None:
    """Show a scene from above, in metres."""
    (left, low), (right, high) = scene.low, scene.high
    axes.imshow(from_above(scene), extent=(left, right, low, high))
    axes.set(xlabel="x [m]", ylabel="y [m]")
    axes.grid(visible=False)


def check_picture(path: Path, error: type[SandlotError] = SandlotError) -> None:
    """Refuse a path whose suffix is none of `FORMATS`.

    Raises:
        SandlotError: Of the class ``error``.
    """
    check_suffix(path, "a picture", FORMATS, error)


def save_figure(figure: Figure, path: Path, dpi: int = 150, error: type[SandlotError] = SandlotError) -> None:
    """Write a figure, or replace an older one.

    Raises:
        SandlotError: Of the class ``error``, if the suffix is none of `FORMATS`, or it cannot be written.
    """
    check_picture(path, error)
    with drafted(path, error, overwrite=True) as draft:
        figure.savefig(draft, dpi=dpi)


def curve(axes: Axes, groups: Mapping[float, NDArray[Any]], colour: str = COLOURS[0], label: str = "") -> None:
    """Plot the mean and 95% confidence interval of each group over its key."""
    intervals = [mean_interval(group) for group in groups.values()]
    x, mean = list(groups), [each.mean for each in intervals]
    axes.plot(x, mean, "o-", color=colour, label=label)
    axes.fill_between(
        x, [each.low for each in intervals], [each.high for each in intervals], color=colour, alpha=0.2, linewidth=0
    )


def points(axes: Axes, place: float, values: NDArray[Any], colour: str) -> None:
    """Plot every value of a group around ``place``, and a line at the median."""
    offsets = np.linspace(-0.12, 0.12, len(values)) if len(values) > 1 else np.zeros(1)
    axes.scatter(place + offsets, values, s=16, color=colour, alpha=0.55, linewidths=0)
    axes.hlines(np.median(values), place - 0.17, place + 0.17, color=colour, linewidth=2.2)


def bars(axes: Axes, groups: Mapping[str, Mapping[str, NDArray[Any]]]) -> None:
    """Bars of means with 95% confidence intervals: a cluster for each outer name, a colour for each inner name."""
    inner = list(next(iter(groups.values())))
    width = 0.8 / len(inner)
    for k, name in enumerate(inner):
        intervals = [mean_interval(group[name]) for group in groups.values()]
        x = np.arange(len(groups)) + (k - (len(inner) - 1) / 2) * width
        means = [each.mean for each in intervals]
        errors = [each.high - each.mean for each in intervals]
        axes.bar(x, means, width * 0.92, yerr=errors, color=COLOURS[k], label=name, error_kw={"linewidth": 1})
    axes.set_xticks(np.arange(len(groups)), list(groups))


def blocks(figure: Figure, place: tuple[int, int, int], heights: NDArray[Any], title: str, top: float) -> None:
    """Draw a terrain as shaded columns, lit from the north-west; ``top`` [unit] is the top of the scale."""
    ny, nx = heights.shape
    axes: Any = figure.add_subplot(*place, projection="3d")
    quads, values, shades = _faces(heights.astype(np.float64))
    colours = _colour(values / max(top, 1.0), shades)
    axes.add_collection3d(Poly3DCollection(quads, facecolors=colours, edgecolors=colours, linewidths=0.2))
    axes.set(xlim=(0, nx), ylim=(0, ny), zlim=(0, max(top, 1.0)), title=title)
    axes.set_box_aspect((1.0, ny / nx, 0.35), zoom=1.15)
    axes.view_init(elev=38, azim=-60)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.tick_params(axis="z", labelsize=8)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.pane.set_visible(False)


def _colour(level: NDArray[np.float64], shade: NDArray[np.float64]) -> NDArray[np.float64]:
    from matplotlib import colormaps

    rgb = colormaps[EARTH](0.25 + 0.65 * level)[:, :3]
    return np.clip(rgb * shade[:, None], 0.0, 1.0)


def _faces(heights: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Tops and visible walls of all columns: corners (n, 4, 3), heights (n,), brightness (n,)."""
    ny, nx = heights.shape
    y, x = np.indices(heights.shape)
    lit = min(heights.shape) > 1
    light = LightSource(315, 45).hillshade(heights, vert_exag=0.5) if lit else np.ones_like(heights)
    tops = np.stack(
        [np.stack([x + i, y + j, heights], -1) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))],
        axis=2,
    ).reshape(-1, 4, 3)
    quads, values, shades = [tops], [heights.ravel()], [0.75 + 0.35 * light.ravel()]
    # Seen from the south-east: the walls towards -y and +x are the visible ones.
    south = np.vstack([np.zeros((1, nx)), heights[:-1]])
    east = np.hstack([heights[:, 1:], np.zeros((ny, 1))])
    for low, corners, brightness in (
        (south, ((0, 0), (1, 0)), 0.62),
        (east, ((1, 0), (1, 1)), 0.8),
    ):
        seen = heights > low
        (ax, ay), (bx, by) = corners
        left, right = (x + ax, y + ay), (x + bx, y + by)
        wall = np.stack(
            [
                np.stack([left[0], left[1], low], -1),
                np.stack([right[0], right[1], low], -1),
                np.stack([right[0], right[1], heights], -1),
                np.stack([left[0], left[1], heights], -1),
            ],
            axis=2,
        )
        quads.append(wall[seen])
        values.append(heights[seen])
        shades.append(np.full(int(seen.sum()), brightness))
    return np.concatenate(quads), np.concatenate(values), np.concatenate(shades)
