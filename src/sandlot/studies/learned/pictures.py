"""Pictures of predictions beside what was recorded, as in figures 6.2 to 6.18 of the source."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sandlot.studies.plots import COLOURS, canvas
from sandlot.typing import Array

LABELS = {"speed": "v", "dyaw": "Δθ", "dx": "Δx", "dy": "Δy"}
"""As the source calls them."""
SHOWN = 2000
"""Values of a series that are kept and drawn."""


def thin(values: Array) -> Array:
    """About `SHOWN` values of a series (n,), evenly spaced, as many for any n: (SHOWN,)."""
    return values[np.linspace(0, len(values) - 1, SHOWN).astype(np.int64)]


def series(axes: Axes, recorded: Array, predicted: Array, title: str) -> None:
    """Both series over the frames of a session."""
    share = np.linspace(0.0, 1.0, len(recorded))
    axes.plot(share, recorded, color=COLOURS[5], linewidth=0.7, label="recorded")
    axes.plot(share, predicted, color=COLOURS[1], linewidth=0.7, label="predicted")
    axes.set(title=title, xlabel="share of the session", ylabel="normalised")


def scatter(axes: Axes, recorded: Array, predicted: Array, note: str) -> None:
    """Predicted over recorded values, with the line of equal values."""
    axes.plot([-1, 1], [-1, 1], color="0.6", linewidth=0.8)
    axes.scatter(recorded, predicted, s=4, color=COLOURS[0], alpha=0.25, linewidths=0)
    axes.set(xlabel="recorded, normalised", ylabel="predicted")
    axes.text(0.03, 0.95, note, transform=axes.transAxes, va="top")


def overview(rows: Mapping[str, tuple[Array, Array, str]]) -> Figure:
    """A row for each title: both series, and one over the other; values are recorded, predicted and a note."""
    figure, panels = canvas(2, 10.0, 2.6 * len(rows), len(rows))
    for k, (title, (recorded, predicted, note)) in enumerate(rows.items()):
        series(panels[2 * k], recorded, predicted, title)
        scatter(panels[2 * k + 1], recorded, predicted, note)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    return figure
