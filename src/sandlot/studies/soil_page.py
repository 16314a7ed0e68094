"""The page about a fitted soil: its parameters, what is not identified, and predicted beside measured values."""

import base64
import io
import math
from collections.abc import Sequence
from pathlib import Path

import jinja2
import numpy as np
from matplotlib.figure import Figure

from sandlot.studies.plots import COLOURS, canvas
from sandlot.surrogates.soil.fit import deviations
from sandlot.surrogates.soil.parameters import FITTED, SHORT
from sandlot.surrogates.soil.result import UNKNOWN, FittedSoil
from sandlot.version import __version__

CAPTION = (
    "Predicted over measured values. Last panel: standard deviation of each coordinate after the fit, where 1 is that "
    "before it; right of the line a coordinate is not identified."
)


def soil_page(found: FittedSoil, sources: Sequence[Path], out: Path) -> str:
    """The page as HTML.

    Args:
        found: The soil.
        sources: What it was fitted to.
        out: Directory that it is written to.
    """
    values, intervals, layout = found.values(), found.intervals(), found.estimate.layout
    environment = jinja2.Environment(loader=jinja2.PackageLoader("sandlot.studies"), autoescape=True)
    return environment.get_template("soil.html.j2").render(
        title=f"Fitted soil {out.name}",
        sources=[path.name for path in sources],
        count=f"{len(layout.channel):,}",
        blocks=int(layout.block.max()) + 1,
        parameters=[
            {
                "meaning": meaning,
                "unit": unit,
                "value": values[name],
                "low": intervals[name][0],
                "high": intervals[name][1],
            }
            for name, (unit, meaning) in FITTED.items()
        ],
        width=found.width,
        unknown=found.unidentified(),
        errors=found.errors(),
        png=as_png(soil_figure(found)),
        caption=CAPTION,
        file=out / "soil.toml",
        version=__version__,
    )


def as_png(figure: Figure) -> str:
    """A figure as PNG in base64."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return base64.b64encode(buffer.getvalue()).decode()


def soil_figure(found: FittedSoil) -> Figure:
    """Predicted over measured values, by kind of measurement, and how certain each coordinate is."""
    estimate, layout = found.estimate, found.estimate.layout
    columns = 4
    rows = math.ceil((len(layout.channels) + 1) / columns)
    figure, panels = canvas(columns, 12.0, 3.0 * rows, rows)
    for k, channel in enumerate(layout.channels):
        mine = layout.channel == k
        measured, predicted = estimate.measured[mine], estimate.predicted[mine]
        ends = [float(measured.min()), float(measured.max())]
        panels[k].plot(ends, ends, color="0.6", linewidth=0.8)
        panels[k].scatter(measured, predicted, s=6, color=COLOURS[0], alpha=0.4, linewidths=0)
        panels[k].set(title=channel.name, xlabel="measured", ylabel="predicted")
    last, places = panels[len(layout.channels)], np.arange(len(SHORT))
    last.barh(places, np.minimum(deviations(estimate.covariance), 1.0), color=COLOURS[1])
    last.axvline(UNKNOWN, color="0.4", linewidth=0.8)
    last.set(yticks=places, yticklabels=SHORT, xlim=(0, 1), xlabel="deviation after / before")
    last.invert_yaxis()
    for axes in panels[len(layout.channels) + 1 :]:
        axes.set_visible(False)
    return figure
