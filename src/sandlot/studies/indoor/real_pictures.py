"""Pictures of a real robot's log, and of predictions along it."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sandlot.studies.base import pick
from sandlot.studies.indoor.shared import LABELS, METHODS, NARMAX
from sandlot.studies.plots import COLOURS
from sandlot.surrogates.sensorgraph import Sensorgraph
from sandlot.typing import Array, BoolArray

METHOD_COLOURS = dict(zip(METHODS, (*COLOURS, "#c0504d", "#222222"), strict=True))
SHOWN = (0, 2, 5)
"""Segments in the picture: right, ahead and left."""


def draw_errors(results: xr.Dataset, logs: Sequence[str], methods: Sequence[str], places: Mapping[str, str]) -> Figure:
    """Mean absolute error over all segments, over the fitted share: a row for each log, a column for each of places.

    Args:
        results: Of the study.
        logs: Names of the logs.
        methods: To draw.
        places: Quantity to title.
    """
    figure = Figure(figsize=(10.0, 3.9 * len(logs)), layout="constrained")
    panels = figure.subplots(len(logs), len(places), sharex=True, sharey="row", squeeze=False)
    for row, log in zip(panels, logs, strict=True):
        for axes, (quantity, title) in zip(row, places.items(), strict=True):
            for method in methods:
                mine = pick(results, log=log, method=method)
                style, wrong = "o-" if method in NARMAX else "s--", 100.0 * mine[quantity].values.mean(1)
                axes.plot(100.0 * mine["cut"].values, wrong, style, color=METHOD_COLOURS[method], label=method)
            guess = 100.0 * mine[quantity.replace("error", "guess")].values.mean(1)
            axes.plot(100.0 * mine["cut"].values, guess, ":", color="0.5", label="the median\nof each segment")
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(alpha=0.25)
            axes.set(ylim=(0.0, None))
            axes.set_title(f"{log}: {title.lower()}", fontsize=10)
        row[0].set_ylabel("mean absolute error [cm]")
    for axes in panels[-1]:
        axes.set_xlabel("fitted to the first [%]")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def draw_log(first: Sensorgraph, later: Sensorgraph, near: BoolArray) -> Figure:
    """End points of all rays, and the robot's path: earlier, later, and later near (``near``) an earlier pose."""
    figure = Figure(figsize=(7.5, 7.0), layout="constrained")
    axes, ends = figure.subplots(), []
    for graph, colour, label in ((first, COLOURS[0], "earlier"), (later, COLOURS[1], "later")):
        angles = graph.poses[:, 2:] + graph.bearings
        x, y = graph.poses[:, :1] + graph.ranges * np.cos(angles), graph.poses[:, 1:2] + graph.ranges * np.sin(angles)
        axes.plot(x.ravel(), y.ravel(), ",", color=colour, alpha=0.25)
        ends.append(np.column_stack([x.ravel(), y.ravel()]))
        axes.plot(*graph.poses[:, :2].T, color=colour, linewidth=1.2, label=label)
    again = np.where(near[:, None], later.poses[:, :2], np.nan)
    axes.plot(*again.T, color="#222222", linewidth=1.6, label="later, near an earlier pose")
    # Percentiles leave out rays through windows.
    (left, low), (right, high) = np.nanpercentile(np.concatenate(ends), (0.2, 99.8), 0)
    axes.set(xlim=(left - 1.0, right + 1.0), ylim=(low - 1.0, high + 1.0), aspect="equal")
    axes.set(xlabel="x [m]", ylabel="y [m]")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def draw_predictions(seen: Sensorgraph, predicted: Mapping[str, Array]) -> Figure:
    """Actual and predicted readings of three segments over the distance travelled."""
    figure = Figure(figsize=(10.0, 6.4), layout="constrained")
    panels, actual = figure.subplots(len(SHOWN), 1, sharex=True), seen.segments()
    distance = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(seen.poses[:, :2], axis=0).T))])
    for axes, segment in zip(panels, SHOWN, strict=True):
        axes.fill_between(distance, actual[:, segment], color="0.88", linewidth=0, label="actual")
        for name, values in predicted.items():
            axes.plot(distance, values[:, segment], color=METHOD_COLOURS[name], linewidth=1.3, label=name)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set(ylabel=f"{LABELS[segment]} [m]", ylim=(0.0, 1.2 * float(np.nanmax(actual[:, segment]))))
    panels[-1].set(xlabel="distance travelled [m]")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure
