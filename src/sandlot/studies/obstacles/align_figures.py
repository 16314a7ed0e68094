"""Figures of the study of steering: paths from above, and outcomes over yaw and friction."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sandlot.studies.base import pick
from sandlot.studies.obstacles.align_runs import DISTANCE, WIDTH
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.statistics import mean_interval
from sandlot.typing import Array

LABELS = {"box": "box", "up": "stairs up", "down": "stairs down"}
OUTCOMES = {
    "passed": ("passed [%]", 100.0),
    "within": (f"passed within {WIDTH:g} m [%]", 100.0),
    "drift": ("drift [m]", 1.0),
    "yaw_end": ("yaw at the end [deg]", 180.0 / np.pi),
}


def draw_curves(results: xr.Dataset, robots: Sequence[str], obstacles: Sequence[str], yaws: Sequence[int]) -> Figure:
    """Paths of the last robot at the largest yaw, and outcomes of all robots over the yaw."""
    columns = max(len(obstacles), len(OUTCOMES))
    figure, axes = canvas(columns, 14.0, 6.6, 2)
    even = pick(results, ratio=1.0)
    for each, name in zip(axes[:columns], obstacles, strict=False):
        mine = pick(even, robot=robots[-1], obstacle=name, yaw=max(yaws))
        _draw_paths(each, mine["path"].values[0])
        each.set(title=f"{LABELS[name]}, {robots[-1]}, {max(yaws)} degrees", xlabel="x [m]", ylabel="y [m]")
    for each in axes[len(obstacles) : columns]:
        each.set_axis_off()
    _draw_outcomes(axes[columns:], even, robots, "yaw", yaws, "yaw at the start [deg]")
    return figure


def draw_friction(results: xr.Dataset, robots: Sequence[str], ratios: Sequence[float]) -> Figure:
    """Outcomes of square starts over the ratio of friction."""
    figure, axes = canvas(len(OUTCOMES), 14.0, 3.4)
    _draw_outcomes(axes, pick(results, yaw=0), robots, "ratio", ratios, "friction right / left")
    return figure


def _draw_outcomes(
    axes: Sequence[Axes], results: xr.Dataset, robots: Sequence[str], key: str, values: Sequence[float], label: str
) -> None:
    for each, (name, (text, scale)) in zip(axes, OUTCOMES.items(), strict=False):
        for robot, colour in zip(robots, COLOURS, strict=False):
            for steering, line in ((0, "--"), (1, "-")):
                groups = [
                    pick(results, robot=robot, **{key: value})[name].values[:, steering].ravel() for value in values
                ]
                found = [mean_interval(scale * group) for group in groups]
                low, high = [one.low for one in found], [one.high for one in found]
                shown = robot if steering else ""
                each.plot(values, [one.mean for one in found], line, marker=".", color=colour, label=shown)
                each.fill_between(values, low, high, color=colour, alpha=0.1, linewidth=0)
        each.set(xlabel=label, ylabel=text, ylim=(0.0, 104.0 if scale == 100.0 else None))
    for each in axes[len(OUTCOMES) :]:
        each.set_axis_off()
    axes[0].legend(frameon=False)


def _draw_paths(axes: Axes, paths: Array) -> None:
    """Paths (steering, runs, points, 2)."""
    axes.axvline(DISTANCE, color="0.6", linewidth=1.0)
    for colour, some, label in ((COLOURS[1], paths[0], "without steering"), (COLOURS[0], paths[1], "with steering")):
        for k, path in enumerate(some):
            axes.plot(*path.T, color=colour, linewidth=1.0, label=label if k == 0 else "")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(frameon=False, loc="upper left", fontsize=8)
