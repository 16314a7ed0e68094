"""What the studies of sensor models share: validation drives, methods, and errors of predictions."""

import warnings
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from sandlot.extras import need
from sandlot.places.plans import Plan
from sandlot.surrogates.local import Local
from sandlot.surrogates.lookup import Lookup
from sandlot.surrogates.mapped import Mapped
from sandlot.surrogates.nets import Net
from sandlot.surrogates.sensor_models import Headings, Sectors, SensorModel
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph
from sandlot.typing import Array
from sandlot.worlds.indoor.settings import IndoorSettings

DRIVES = 240
"""Scans of each validation drive: a minute."""
SPACING = 0.1
"""Distance between two scans of a drive [m]: 0.4 m/s, and four scans a second."""
LABELS = tuple(f"L{15 + 30 * k}" for k in range(SEGMENTS))
"""The segments' names in the source, by the angle of their middle from the right [degrees]."""
NARMAX: Mapping[str, Callable[[], SensorModel]] = {"sectors": Sectors, "headings": Headings, "local": Local}
"""Readable models: the source's, one polynomial for each segment, and many small ones."""
RIVALS: Mapping[str, Callable[[], SensorModel]] = {
    "scans": lambda: Lookup(windows=False),
    "lookup": Lookup,
    "net": Net,
    "large net": lambda: Net((256, 256, 256)),
    "map": Mapped,
}
"""Other models from the literature. All but the published table of whole scans get as much of the log as `Local`."""
METHODS = {**NARMAX, **RIVALS}
ENOUGH = 0.9
"""Rank correlation that every segment should reach."""


def check_extras(methods: Iterable[str]) -> None:
    """Check that what the methods need is installed.

    Raises:
        MissingExtraError: With the extra to install.
    """
    if not {"net", "large net"}.isdisjoint(methods):
        need("sklearn", "learn")


def drives(plan: Plan, samples: int = DRIVES) -> list[Array]:
    """The two validation drives: around the middle of a plan, and winding through it; (samples, 3) poses each.

    The source drove its robot by hand, along a simple and a "more complex non-linear" path. Ours are closed curves
    driven at constant speed until there are enough samples: an ellipse, and a Lissajous figure.
    """
    middle, half = 0.5 * (plan.bounds[:2] + plan.bounds[2:]), 0.5 * (plan.bounds[2:] - plan.bounds[:2])
    angle = np.linspace(0.0, 2.0 * np.pi, 4001)
    ellipse = np.column_stack([0.6 * np.cos(angle), 0.45 * np.sin(angle)])
    figure = np.column_stack([0.58 * np.sin(2.0 * angle + 0.4), 0.58 * np.sin(3.0 * angle)])
    return [follow(middle + half * curve, samples) for curve in (ellipse, figure)]


def follow(curve: Array, samples: int, spacing: float = SPACING) -> Array:
    """Evenly spaced poses along a closed curve, over as many rounds as needed: (samples, 3) x [m], y [m], yaw [rad].

    Args:
        curve: (points, 2) [m]; the last point is the first.
        samples: Number of poses.
        spacing: Distance between them [m].
    """
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(curve, axis=0).T))])
    at = np.arange(samples) * spacing % length[-1]
    ahead = (at + 0.01) % length[-1]
    here, there = (np.column_stack([np.interp(s, length, curve[:, k]) for k in (0, 1)]) for s in (at, ahead))
    step = there - here
    return np.column_stack([here, np.arctan2(step[:, 1], step[:, 0])])


def look(settings: IndoorSettings, plan: Plan, poses: Array, rng: np.random.Generator) -> Sensorgraph:
    """Laser scans at poses."""
    return Sensorgraph(poses, settings.laser.scan(plan, poses, rng), settings.laser.bearings)


def errors(predicted: Array, actual: Array) -> tuple[Array, Array, Array]:
    """Mean absolute error, its standard error [m], and Spearman's rank correlation of each segment: (segments,)."""
    from scipy import stats  # loaded when needed: it takes a second, in each worker

    wrong = np.abs(predicted - actual)
    counts = np.isfinite(wrong).sum(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)  # a constant prediction has no rank correlation
        pairs = zip(predicted.T, actual.T, strict=True)
        spearman = np.array([stats.spearmanr(p, a, nan_policy="omit").statistic for p, a in pairs])
    return np.nanmean(wrong, 0), np.nanstd(wrong, 0, ddof=1) / np.sqrt(counts), np.nan_to_num(spearman)
