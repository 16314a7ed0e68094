"""What a recording holds, at a glance: facts, a row for each episode, and a figure of the path and the quantities."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sandlot import recordings
from sandlot.errors import RecordingError, quote
from sandlot.typing import Array, IntArray
from sandlot.worlds import WORLDS, load, world_id

FIRST = (
    "speed",
    "velocity_forward",
    "drive",
    "height_range",
    "units_moved",
    "z",
    "pitch",
    "turn_rate",
    "yaw",
    "wheel_speed_left",
    "reward",
)
"""Quantities that the figure shows, if there are such; the first of them first."""
PANELS = 4
MAX_POINTS = 4000
"""Of a curve."""
LINE = "#3e70a8"
MANY = "viridis"


@dataclass(frozen=True, eq=False)
class Overview:
    """A recording at a glance.

    Attributes:
        facts: World, frames, duration and more, by name.
        episodes: One row for each episode, by column.
        units: Of columns that have one.
        figure: Path and quantities over time.
        next_commands: What one can do with it, each with a command.
    """

    facts: dict[str, Any]
    episodes: list[dict[str, float]]
    units: dict[str, str]
    figure: Figure
    next_commands: list[tuple[str, str]]


def overview(path: Path) -> Overview:
    """Look at a recording.

    Raises:
        RecordingError: There is none, it is damaged, or it has no frames.
    """
    with recordings.open(path) as dataset:
        if dataset.sizes["time"] == 0:
            raise RecordingError(f"{quote(path)} has no frames")
        try:
            kept = [str(name) for name in dataset.variables if dataset[name].dims and dataset[name].dims[0] == "time"]
            small = [name for name in kept if dataset[name].ndim == 1 or dataset[name].dims[1] in ("rover",)]
            frames = dataset[small].load()
            terrain = dataset["cell_heights"][[0, -1]].load() if "cell_heights" in dataset else None
        except RecordingError:
            raise
        except Exception as error:  # Zarr and its codecs raise nearly every kind
            raise RecordingError(f"{quote(path)} is damaged: {type(error).__name__}: {quote(error)}") from error
        rows = _episodes(frames, recordings.outcomes(dataset))
        facts = {
            "world": dataset.attrs.get("world"),
            "fidelity": recordings.settings(dataset).get("fidelity"),
            "frames": int(dataset.sizes["time"]),
            "duration": round(sum(each["duration"] for each in rows), 6),
            "seed": dataset.attrs.get("seed"),
            "version": dataset.attrs.get("version"),
            "created": dataset.attrs.get("created"),
        }
        figure = _figure(frames, terrain, f"{facts['world']}: {path.name}")
        return Overview(facts, rows, _units(facts["world"]), figure, _next(path, dataset))


def _numbers(frames: xr.Dataset) -> IntArray:
    """Episode of each frame: (frames,)."""
    return frames["episode"].values if "episode" in frames else np.zeros(frames.sizes["time"], np.int64)


def _units(world: object) -> dict[str, str]:
    """Units of the columns of episodes of a world, by its Gymnasium id; pure numbers have none."""
    units = {"duration": "s", "path_length": "m"}
    for name in WORLDS:
        if world_id(name) == world:
            units |= {key: each.units for key, each in load(name).outcome_quantities.items()}
    return {key: unit for key, unit in units.items() if unit != "1"}


def _episodes(frames: xr.Dataset, outcomes: list[dict[str, float]]) -> list[dict[str, float]]:
    numbers, rows = _numbers(frames), []
    for episode in np.unique(numbers).tolist():
        part = frames.isel(time=np.flatnonzero(numbers == episode))
        time = part["time"].values
        row = {"episode": float(episode), "frames": float(len(time)), "duration": float(time[-1] - time[0])}
        if "reward" in part:
            row["reward"] = float(np.nansum(part["reward"].values))
        if episode < len(outcomes):
            row |= outcomes[episode]
        elif "x" in part and "y" in part:
            steps = np.hypot(np.diff(part["x"].values, axis=0), np.diff(part["y"].values, axis=0))
            row["path_length"] = float(np.nansum(steps) / max(1, steps[0].size if len(steps) else 1))
        rows.append(row)
    return rows


def _figure(frames: xr.Dataset, terrain: xr.DataArray | None, title: str) -> Figure:
    numbers, time = _numbers(frames), _running(frames)
    chosen = [name for name in FIRST if name in frames and frames[name].dtype.kind in "fiu"]
    chosen = [name for name in chosen if np.isfinite(frames[name].values).any()][:PANELS]
    figure = Figure(figsize=(11.0, 5.2), layout="constrained")
    figure.suptitle(title, fontsize=11)
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.15))
    left, right = halves
    if "x" in frames and "y" in frames:
        _path(left.subplots(), frames, numbers, time)
    elif terrain is not None:
        for axes, heights, when in zip(
            left.subplots(2, 1, squeeze=False).ravel(), terrain.values, ("first", "last"), strict=True
        ):
            shown = axes.imshow(heights, origin="lower", cmap="YlOrBr_r", vmin=0, vmax=max(1, int(terrain.max())))
            axes.set(title=f"{when} frame", xticks=[], yticks=[])
            left.colorbar(shown, ax=axes, label="height [unit]")
    if not chosen:
        return figure
    every = max(1, len(time) // MAX_POINTS)
    starts = time[1:][np.diff(numbers) != 0]
    for axes, name in zip(right.subplots(len(chosen), 1, sharex=True, squeeze=False).ravel(), chosen, strict=True):
        axes.plot(
            time[::every], frames[name].values[::every], linewidth=0.9, color=LINE if frames[name].ndim == 1 else None
        )
        for start in starts[:200]:
            axes.axvline(start, color="#999999", linewidth=0.6)
        axes.set_ylabel(f"{name.replace('_', ' ')}\n[{frames[name].attrs.get('units', '')}]", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("time since the start of the recording [s]")
    return figure


def _running(frames: xr.Dataset) -> Array:
    """Time that goes on from one episode to the next: (frames,) [s]."""
    steps = np.diff(frames["time"].values, prepend=frames["time"].values[:1])
    return np.cumsum(np.where(np.isfinite(steps), np.maximum(steps, 0.0), 0.0))


def _path(axes: Axes, frames: xr.Dataset, numbers: IntArray, time: Array) -> None:
    """All paths from above, or from the side if y is constant; coloured by time, a circle where each episode starts."""
    side = "z" in frames and not np.ptp(frames["y"].values)
    x, y = (frames[name].values.reshape(len(time), -1) for name in ("x", "z" if side else "y"))
    every = max(1, len(time) // MAX_POINTS)
    for k in range(x.shape[1]):
        for episode in np.unique(numbers)[:200]:
            axes.plot(x[numbers == episode, k], y[numbers == episode, k], color="#bbbbbb", linewidth=0.8, zorder=0)
        shown = axes.scatter(x[::every, k], y[::every, k], c=time[::every], s=5.0, cmap=MANY, linewidths=0.0)
        begun = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        axes.plot(x[begun, k], y[begun, k], "o", markersize=5, markerfacecolor="none", color="#cd3a34")
    axes.set(xlabel="x [m]", ylabel="z [m]" if side else "y [m]", title="path; circles: starts")
    axes.set_aspect("equal", adjustable="datalim")
    axes.grid(alpha=0.25)
    axes.figure.colorbar(shown, ax=axes, label="time [s]", shrink=0.7)


def _next(path: Path, dataset: xr.Dataset) -> list[tuple[str, str]]:
    """What can be done with a recording."""
    found = []
    if "action" in dataset or "ranges" in dataset:
        found += [
            ("watch it in a browser", f"sandlot export {path} --to html"),
            ("watch it as a video", f"sandlot export {path} --to mp4"),
            ("open it in the viewer of rerun", f"sandlot export {path} --to rerun"),
            ("open it in Foxglove", f"sandlot export {path} --to mcap"),
        ]
    if "ranges" in dataset:
        found.append(("make a map of its scans", f"sandlot map {path} --out {path}-map"))
    if "height_change" in dataset:
        found.append(("fit a model of the motion", f"sandlot fit motion {path} --out models/rover"))
    found.append(("use it in Python", f'sandlot.recordings.open("{path}")'))
    return found
