"""A picture of where a log has scans: their poses, and histograms of x, y and yaw."""

from pathlib import Path

import numpy as np

from sandlot.studies.plots import COLOURS, canvas, save_figure
from sandlot.surrogates.sensorgraph import THIN, Sensorgraph


def draw_coverage(graph: Sensorgraph, path: Path) -> None:
    """Draw the poses of all scans, and histograms of x, y and yaw.

    Raises:
        SandlotError: If the picture cannot be written.
    """
    figure, (places, *axes) = canvas(4, 14.0, 3.8)
    x, y, yaw = graph.poses.T
    places.quiver(x, y, np.cos(yaw), np.sin(yaw), color=COLOURS[0], width=0.003, scale=40.0, alpha=0.6)
    places.set(xlabel="x [m]", ylabel="y [m]", title=f"{len(graph):,} scans")
    places.set_aspect("equal", "datalim")
    for each, (name, counts) in zip(axes, graph.coverage().data_vars.items(), strict=True):
        centres = counts[counts.dims[0]].values
        width = float(centres[1] - centres[0])
        few = counts.values < THIN * counts.values.mean()
        each.bar(centres, counts.values, 0.92 * width, color=[COLOURS[1] if bar else COLOURS[0] for bar in few])
        each.axhline(THIN * counts.values.mean(), color="black", linewidth=0.8, linestyle="--")
        each.set(xlabel=f"{name} [{counts[counts.dims[0]].attrs['units']}]", title=f"by {name}")
    axes[0].set_ylabel("scans; few below the line")
    save_figure(figure, path, dpi=120)
