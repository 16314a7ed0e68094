"""What the studies of drifting, stopping and spinning share: where a body went, at both fidelities."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import Field

from sandlot.control.snake.gaits import Gait, Plan
from sandlot.errors import SandlotError
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import Swimmers
from sandlot.typing import Array

Positive = Annotated[float, Field(gt=0.0)]
FIDELITIES = ("fast", "reference")
UNITS = {"distance": "distance [body lengths]", "velocity": "velocity [body lengths/s]"}
EVERY = 0.1
"""Between samples [s]."""
FORWARD = Gait(amplitude=1.0, frequency=2.0, phase=2.0 * np.pi / 7.0)
"""How the eight-link body swims in sections 7.4 and 7.5."""


@dataclass(frozen=True)
class Track:
    """Where a body went, every 0.1 s from the start on; not a number if the simulation exploded.

    Attributes:
        centre: (samples, 2) centre of mass, from where it was at the start [m].
        forward: (samples,) its velocity along the body's mean direction [m/s].
        heading: (samples,) mean direction of the links [rad].
        drive: Mean share of the wanted acceleration that the motors could give.
    """

    centre: Array
    forward: Array
    heading: Array
    drive: float

    @property
    def distance(self) -> Array:
        """From the start: (samples,) [m]."""
        return np.linalg.norm(self.centre, axis=1)


def check_samples(snake: Snake) -> None:
    """Refuse a body whose commands do not come at the times of samples.

    Raises:
        SandlotError: With what would do.
    """
    each = EVERY / snake.interval
    if each < 0.999 or abs(each - round(each)) > 1e-6:
        raise SandlotError(f"interval={snake.interval:g} does not divide the {EVERY:g} s between samples evenly")


def follow(fidelity: str, snake: Snake, plan: Plan, seconds: float) -> Track:
    """Let one body follow a plan."""
    swimmers: Swimmers = (FastSwimmers if fidelity == "fast" else ReferenceSwimmers)(snake, 1)
    rows, each = [_sample(swimmers)], round(EVERY / snake.interval)
    for k in range(1, round(seconds / snake.interval) + 1):
        swimmers.command(plan.targets(k * snake.interval, snake)[None])
        if k % each == 0:
            rows.append(_sample(swimmers))
    x, y, forward, heading = np.array(rows).T
    ways = np.stack([x - x[0], y - y[0]], axis=1)
    lost = np.nan if swimmers.exploded[0] else 1.0
    return Track(lost * ways, lost * forward, lost * heading, lost * float(swimmers.drive[0]))


def _sample(swimmers: Swimmers) -> tuple[float, float, float, float]:
    heading, velocity = float(swimmers.directions[0].mean()), swimmers.velocity[0]
    forward = float(velocity[0] * np.cos(heading) + velocity[1] * np.sin(heading))
    return (*swimmers.centre[0].tolist(), forward, heading)


def at(seconds: float) -> int:
    """The sample at a time."""
    return round(seconds / EVERY)


def pick(results: xr.Dataset, **parameters: object) -> xr.Dataset:
    """The one job with these parameters."""
    mine = np.ones(results.sizes["job"], np.bool_)
    for name, value in parameters.items():
        mine &= results[name].values == value
    return results.isel(job=int(np.flatnonzero(mine)[0]))


def draw_both(axes: Axes, results: xr.Dataset, quantity: str, colour: str, label: str, **parameters: object) -> None:
    """A quantity over time at both fidelities: fast as a line, the reference as a dotted one over it."""
    for fidelity, style in (("fast", {"alpha": 0.5, "linewidth": 2.5}), ("reference", {"linestyle": ":"})):
        values = pick(results, fidelity=fidelity, **parameters)[quantity].values
        time = np.arange(values.shape[0]) * EVERY
        axes.plot(time, values, color=colour, label=label if fidelity == "fast" else None, **style)
