"""How long sensor models take to fit and to predict."""

import functools
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from sandlot.extras import need
from sandlot.places.plans import load_plan
from sandlot.studies.base import Picture
from sandlot.studies.indoor.shared import METHODS, NARMAX
from sandlot.studies.plots import COLOURS, canvas
from sandlot.surrogates.sensorgraph import Sensorgraph
from sandlot.worlds.indoor.settings import IndoorSettings

T = TypeVar("T")
FITTED, PREDICTED = 350, 1000
"""Scans that models are fitted to, and poses that they predict in one call."""
MAX_SECONDS = 1.0
"""A call that takes longer is timed only once [s]."""


def time_methods(plan: str, methods: Sequence[str], log: Sensorgraph, asked: Sensorgraph) -> Picture:
    """Time to fit each method to a log of a plan, and to predict a scan."""
    log, poses = log.part(slice(FITTED)), np.resize(asked.poses, (PREDICTED, 3))
    fit, predict = [], []
    for method in methods:
        METHODS[method]().fit(log.part(slice(50))).predict(poses)  # kernels are compiled at first use
        model, seconds = _timed(functools.partial(METHODS[method]().fit, log))
        fit.append(seconds)
        predict.append(1e6 / PREDICTED * _timed(functools.partial(model.predict, poses))[1])
    laser, drawn = IndoorSettings().laser, load_plan(plan)
    rays = 1e6 / PREDICTED * _timed(lambda: laser.scan(drawn, poses, np.random.default_rng(0), threads=1))[1]
    figure, (left, right) = canvas(2, 10.0, 3.8)
    for axes, values, label in ((left, fit, "time to fit [s]"), (right, predict, "time to predict a scan [µs]")):
        colours = [COLOURS[0] if method in NARMAX else COLOURS[1] for method in methods]
        bars = axes.barh(range(len(values)), values, color=colours)
        axes.bar_label(bars, [f"{value:.2g}" if value < 10 else f"{value:,.0f}" for value in values], padding=3)
        axes.set_yticks(range(len(values)), methods)
        axes.set(xlabel=label, xscale="log")
        axes.invert_yaxis()
        axes.margins(x=0.15)
        axes.grid(visible=False, axis="y")
    right.axvline(rays, color=COLOURS[5], linestyle=":", label="ray casting in the plan itself")
    right.legend(frameon=False, loc="upper right")
    return Picture(
        f"Time to fit {len(log):,} scans of the {plan} plan, and to predict one of {PREDICTED:,} scans in one call, on "
        "one core: the shortest of up to three, measured on this machine while the page was written. Not part of the "
        "results. Readable models in blue, others in orange.",
        figure,
    )


def _timed(do: Callable[[], T]) -> tuple[T, float]:
    """The result of a call, and the shortest time of up to three calls [s]; a slow call is not repeated."""
    spent: list[float] = []
    with need("threadpoolctl", "learn").threadpool_limits(1):
        while len(spent) < 3 and sum(spent) < MAX_SECONDS:
            begin = time.perf_counter()
            done = do()
            spent.append(time.perf_counter() - begin)
    return done, min(spent)
