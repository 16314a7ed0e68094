"""Pictures of logs, drives and predictions."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sandlot.places.plans import Plan
from sandlot.studies.indoor.shared import LABELS
from sandlot.studies.plots import COLOURS, canvas, show
from sandlot.surrogates.sensor_models import SensorModel
from sandlot.surrogates.sensorgraph import Sensorgraph
from sandlot.worlds.indoor.scene import plan_scene

SHOWN = (2, 3)
"""Segments that the source shows: L75 and L105."""


def places(plan: Plan, graph: Sensorgraph, seen: Sequence[Sensorgraph]) -> Figure:
    """Where scans were logged, and the validation drives."""
    figure, panels = canvas(1 + len(seen), 10.0, 3.8)
    for k, axes in enumerate(panels):
        show(axes, plan_scene(plan))
        axes.plot(*graph.poses[:, :2].T, ".", color=COLOURS[0], markersize=2, alpha=0.5)
        if k:
            axes.plot(*seen[k - 1].poses[:, :2].T, "-", color=COLOURS[1], linewidth=2)
        axes.set_title(f"drive {k}" if k else f"{len(graph):,} scans")
    return figure


def coverage(graph: Sensorgraph, bins: int) -> Figure:
    """Histograms of x, y and yaw."""
    figure, panels = canvas(3, 10.0, 3.0)
    data = graph.coverage(bins)
    for axes, (name, counts) in zip(panels, data.data_vars.items(), strict=True):
        middles = counts[counts.dims[0]].values
        axes.bar(middles, counts.values, 0.9 * (middles[1] - middles[0]), color=COLOURS[0])
        axes.axhline(counts.values.mean(), color="0.4", linestyle=":", linewidth=1)
        axes.set(xlabel=f"{name} [{'rad' if name == 'yaw' else 'm'}]", ylabel="scans" if name == "x" else None)
        axes.grid(visible=False, axis="x")
    return figure


def along(seen: Sequence[Sensorgraph], models: Mapping[str, SensorModel]) -> Figure:
    """Predicted and actual readings of two segments."""
    figure = Figure(figsize=(10.0, 5.6), layout="constrained")
    panels = figure.subplots(len(SHOWN), len(seen), squeeze=False, sharex="col")
    for column, graph in enumerate(seen):
        actual, guesses = graph.segments(), {name: model.predict(graph.poses) for name, model in models.items()}
        for row, segment in enumerate(SHOWN):
            axes: Axes = panels[row, column]
            axes.plot(actual[:, segment], color="0.15", linewidth=2.2, label="actual")
            for k, (name, guess) in enumerate(guesses.items()):
                axes.plot(guess[:, segment], color=COLOURS[k], linewidth=1.1, label=name)
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(alpha=0.25)
            axes.set_title(f"{LABELS[segment]}, drive {column + 1}", fontsize=10)
            axes.set_xlabel("scan" if row == len(SHOWN) - 1 else "")
            axes.set_ylabel("range [m]" if column == 0 else "")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def against(seen: Sequence[Sensorgraph], models: Mapping[str, SensorModel]) -> Figure:
    """Predicted readings of two segments against actual ones, of both drives."""
    both = [(segment, drive) for segment in SHOWN for drive in range(len(seen))]
    figure, panels = canvas(len(both), 11.0, 3.4)
    for axes, (segment, drive) in zip(panels, both, strict=True):
        actual = seen[drive].segments()[:, segment]
        for k, (name, model) in enumerate(models.items()):
            predicted = model.predict(seen[drive].poses)[:, segment]
            axes.plot(actual, predicted, ".", color=COLOURS[k], markersize=3, alpha=0.6, label=name)
        ends = [0.0, 1.05 * float(np.nanmax(actual))]
        axes.plot(ends, ends, color="0.3", linewidth=0.8)
        axes.set(
            title=f"{LABELS[segment]}, drive {drive + 1}", xlabel="actual [m]", xlim=ends, ylim=ends, aspect="equal"
        )
    panels[0].set_ylabel("predicted [m]")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, markerscale=3, frameon=False
    )
    return figure


def guesses(seen: Sequence[Sensorgraph], model: SensorModel, seed: int) -> Figure:
    """Histograms of absolute errors of a model, and of random guesses from the range of readings."""
    figure, panels = canvas(len(SHOWN), 10.0, 3.2)
    actual = np.concatenate([graph.segments() for graph in seen])
    predicted = model.predict(np.concatenate([graph.poses for graph in seen]))
    random = np.random.default_rng(seed).uniform(np.nanmin(actual, 0), np.nanmax(actual, 0), actual.shape)
    for axes, segment in zip(panels, SHOWN, strict=True):
        bins = np.linspace(0.0, float(np.nanmax(np.abs(random - actual)[:, segment])), 30).tolist()
        for k, (name, values) in enumerate({"model": predicted, "random guess": random}.items()):
            wrong = np.abs(values - actual)[:, segment]
            axes.hist(wrong[np.isfinite(wrong)], bins, color=COLOURS[k], alpha=0.6, label=name)
        axes.set(title=LABELS[segment], xlabel="absolute error [m]", ylabel="scans" if segment == SHOWN[0] else None)
    panels[0].legend(frameon=False)
    return figure
