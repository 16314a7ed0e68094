"""The pages about a fitted rover: how it moves, and how it changes the ground, beside what was recorded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sandlot.physics.soil import SoilKind
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.soil_page import as_png
from sandlot.surrogates.terrain.drives import Drive
from sandlot.surrogates.terrain.fit_ground import CHANGED, Stretch, correlation, predicted
from sandlot.surrogates.terrain.fit_motion import determination, one_step
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.motion_model import MotionModel
from sandlot.surrogates.terrain.recorded import MIN_FRAMES, drives_of, open_drives
from sandlot.surrogates.terrain.rollout import FreeRun, free_runs
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array
from sandlot.version import __version__

SHOWN = 4000
"""Points of a scatter plot at most."""
PATHS = 8
"""Free runs that are drawn."""
BINS = 6
"""Of slopes and of speeds."""
SECONDS = 10.0
"""Longest free run [s]."""
TOO_SHORT = "too short"


def motion_page(
    model: MotionModel, paths: Sequence[Path], fitted_to_them: bool, out: Path, kind: SoilKind | None = None
) -> str:
    """The page about how a rover moves, as HTML.

    Args:
        model: Fitted.
        paths: Recordings that it is compared with.
        fitted_to_them: Whether it was fitted to them.
        out: Its directory.
        kind: Soil of recordings that name none.
    """
    drives = [list(drives_of(open_drives(path, kind), model.shape)) for path in paths]
    together = [drive for each in drives for drive in each]
    # Half of all frames are in drives at least as long; one that ended early does not shorten the others' free runs.
    lengths = np.sort([len(drive.commands) for drive in together])
    usual = int(lengths[np.searchsorted(np.cumsum(lengths), 0.5 * lengths.sum())])
    seconds = min(SECONDS, 0.99 * (usual - MIN_FRAMES) * model.interval)
    runs = [list(free_runs(model, GroundModel(), path, seconds, kind=kind)) if seconds > 0.0 else [] for path in paths]
    rows = [_motion_row(model, *each) for each in zip(paths, drives, runs, strict=True)]
    which = (
        "the recordings that it was fitted to; give others with --test"
        if fitted_to_them
        else "recordings that it was not fitted to"
    )
    return _render(
        title=f"Fitted rover {out.name}",
        lead=f"How the model drives, on {which}. R² is that of one frame ahead; free runs take {seconds:.3g} s and get "
        "the recorded commands alone. The error is the distance between both ends, as a share of the distance driven.",
        columns=("recording", "log10 of the pressure at 1 cm [Pa]", "R² speed", "R² turn", "free runs", "median error"),
        rows=rows,
        figures=[
            _shown("Predicted and recorded", _scatter(model, together), "One frame ahead; the line is equality."),
            _shown(
                "Errors by soil, slope and speed",
                _errors(model, together),
                "Root mean square error of the change in one frame, as a share of that of predicting no change. "
                "Below 1, the model is better than that. Each point of the first panel is a drive.",
            ),
            _shown(
                "Free runs",
                _paths([each for some in runs for each in some]),
                "Grey: recorded; coloured: each member of the ensemble. All begin at the dot; the percentage is the "
                "error of the first member.",
            ),
        ],
        use=f"motion_model={out}",
    )


def _motion_row(model: MotionModel, path: Path, drives: Sequence[Drive], runs: Sequence[FreeRun]) -> tuple[Any, ...]:
    """Of the table, about one recording."""
    if not drives:
        return path.name, "", "", "", 0, TOO_SHORT
    shares = np.mean([determination(each, one_step(model, each)) for each in drives], axis=0)
    errors = [each.error.error / each.error.distance for each in runs]
    off = f"{100.0 * np.median(errors):.1f}%" if errors else "too short, or did not drive"
    return path.name, f"{drives[0].soil[0]:.2f}", f"{shares[0]:.4f}", f"{shares[2]:.4f}", len(errors), off


def ground_page(model: GroundModel, shape: Shape, stretches: Sequence[tuple[str, Sequence[Stretch]]], out: Path) -> str:
    """The page about how a rover changes the ground, as HTML.

    Args:
        model: Fitted.
        shape: Of the rover.
        stretches: Seconds of recorded drives that it is compared with, by the name of their recording.
        out: Its file.
    """
    rows = [
        (name, len(some), f"{correlation(some, shape, model):.3f}" if some else TOO_SHORT) for name, some in stretches
    ]
    pairs = [(predicted(each, shape, model), each.change) for _, some in stretches for each in some]
    return _render(
        title=f"Fitted ground {out.stem}",
        lead="Height changes in one second under a rover that drives as was recorded, of the model and as recorded.",
        columns=("recording", "seconds compared", "correlation"),
        rows=rows,
        figures=[
            _shown("Predicted and recorded", _changes(pairs), "Change of each node in a second; the line is equality."),
            _shown("The largest changes", _maps(pairs), "Around the rover; blue is lower, red is higher [mm]."),
        ],
        use=f"ground_model={out}",
    )


def _render(**given: Any) -> str:
    environment = jinja2.Environment(loader=jinja2.PackageLoader("sandlot.studies"), autoescape=True)
    return environment.get_template("rover.html.j2").render(**given, version=__version__)


def _shown(title: str, figure: Figure, caption: str) -> dict[str, str]:
    return {"title": title, "png": as_png(figure), "caption": caption}


def _thin(values: Array) -> Array:
    return values[:: max(len(values) // SHOWN, 1)]


def _against(axes: Axes, recorded: Array, found: Array, name: str) -> None:
    ends = [float(recorded.min()), float(recorded.max())]
    axes.plot(ends, ends, color="0.6", linewidth=0.8)
    axes.scatter(_thin(recorded), _thin(found), s=4, color=COLOURS[0], alpha=0.3, linewidths=0)
    axes.set(xlabel=f"recorded {name}", ylabel="predicted")


def _scatter(model: MotionModel, drives: Sequence[Drive]) -> Figure:
    figure, panels = canvas(3, 12.0, 3.6)
    truth = np.concatenate([each.motion[1:] for each in drives])
    found = np.concatenate([one_step(model, each) for each in drives])
    for k, name in enumerate(("speed [m/s]", "sideways speed [m/s]", "turn rate [rad/s]")):
        _against(panels[k], truth[:, k], found[:, k], name)
    return figure


def _errors(model: MotionModel, drives: Sequence[Drive]) -> Figure:
    """Errors of speed and turn over soil, slope and speed."""
    figure, panels = canvas(3, 12.0, 3.6)
    left = [one_step(model, each) - each.motion[1:] for each in drives]
    made = [np.diff(each.motion, axis=0) for each in drives]
    slopes = [np.hypot(*each.seen[:-1, -2:].T) for each in drives]
    speeds = [np.abs(each.motion[:-1, 0]) for each in drives]
    for k, name in ((0, "speed"), (2, "turn rate")):
        colour = COLOURS[k // 2]
        shares = [_share(error[:, k], change[:, k]) for error, change in zip(left, made, strict=True)]
        panels[0].plot([each.soil[0] for each in drives], shares, "o", color=colour, markersize=4, label=name)
        error, change = (np.concatenate([each[:, k] for each in some]) for some in (left, made))
        for axes, places in zip(panels[1:], (np.concatenate(slopes), np.concatenate(speeds)), strict=True):
            edges = np.unique(np.quantile(places, np.linspace(0.0, 1.0, BINS + 1)))
            at = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, max(len(edges) - 2, 0))
            bins = np.unique(at)
            middles = [float(places[at == b].mean()) for b in bins]
            axes.plot(middles, [_share(error[at == b], change[at == b]) for b in bins], "o-", color=colour, label=name)
    for axes, label in zip(panels, ("log10 of the pressure at 1 cm [Pa]", "slope [1]", "speed [m/s]"), strict=True):
        axes.set(xlabel=label, ylabel="error / change", ylim=(0.0, max(1.05, 1.05 * axes.get_ylim()[1])))
    panels[0].legend(frameon=False)
    return figure


def _share(error: Array, change: Array) -> float:
    return float(np.sqrt(np.mean(error**2) / max(float(np.mean(change**2)), 1e-20)))


def _paths(runs: Sequence[FreeRun]) -> Figure:
    chosen = [runs[k] for k in np.unique(np.linspace(0, len(runs) - 1, PATHS).astype(int))] if runs else []
    figure, panels = canvas(4, 12.0, 6.0, 2)
    for axes, run in zip(panels, chosen, strict=False):
        start = run.recorded[0]
        axes.plot(*(run.recorded - start).T, color="0.5", linewidth=2.5)
        for k, each in enumerate(run.driven):
            axes.plot(*(each[:, :2] - start).T, color=COLOURS[k % len(COLOURS)], linewidth=1.0)
        axes.plot(0.0, 0.0, "o", color="0.2", markersize=4)
        axes.set(xlabel="x [m]", ylabel="y [m]", title=f"{100.0 * run.error.error / run.error.distance:.1f}%")
        axes.set_aspect("equal", adjustable="datalim")
    for axes in panels[len(chosen) :]:
        axes.set_visible(False)
    return figure


def _changes(pairs: Sequence[tuple[Array, Array]]) -> Figure:
    figure, (axes,) = canvas(1, 5.0, 4.2)
    both = [np.abs(ours) + np.abs(theirs) > CHANGED for ours, theirs in pairs]
    found, recorded = (np.concatenate([pair[k][some] for pair, some in zip(pairs, both, strict=True)]) for k in (0, 1))
    _against(axes, 1e3 * recorded, 1e3 * found, "change [mm]")
    return figure


def _maps(pairs: Sequence[tuple[Array, Array]]) -> Figure:
    """Recorded, predicted, and their difference, of the second with the largest changes."""
    found, recorded = max(pairs, key=lambda pair: float((pair[1] ** 2).sum()))
    rows, columns = np.nonzero(np.abs(recorded) > CHANGED)
    window = slice(max(rows.min() - 3, 0), rows.max() + 4), slice(max(columns.min() - 3, 0), columns.max() + 4)
    limit = max(1e3 * float(np.abs(recorded).max()), 0.1)
    figure, panels = canvas(3, 12.0, 4.0)
    shown = {"recorded": recorded, "predicted": found, "predicted - recorded": found - recorded}
    for axes, (name, values) in zip(panels, shown.items(), strict=True):
        image = axes.imshow(1e3 * values[window], cmap="RdBu_r", vmin=-limit, vmax=limit, origin="lower")
        axes.set(title=name, xticks=[], yticks=[])
        axes.grid(visible=False)
    figure.colorbar(image, ax=panels, label="mm", shrink=0.8)
    return figure
