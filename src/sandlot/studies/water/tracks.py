"""What the studies of drifting, stopping and spinning share: the motion of a body over time, at both fidelities."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import Field

from sandlot.control.snake.gaits import Gait, Plan
from sandlot.errors import SandlotError
from sandlot.recordings import Quantity
from sandlot.robots.snake import Snake
from sandlot.robots.swimmer_models import make_swimmers
from sandlot.robots.swimmers import Swimmers
from sandlot.studies.base import pick
from sandlot.studies.water.following import follow
from sandlot.typing import Array

Positive = Annotated[float, Field(gt=0.0)]
FIDELITIES = ("fast", "reference")
UNITS = {"distance": "distance [body lengths]", "velocity": "velocity [body lengths/s]"}
MOTION = {
    "distance": Quantity("1", "distance from the start, in body lengths", ("sample",), (0,)),
    "velocity": Quantity("1/s", "velocity along the body, in body lengths per second", ("sample",), (0,)),
}
EVERY = 0.1
"""Time between samples [s]."""
FORWARD = Gait(amplitude=1.0, frequency=2.0, phase=2.0 * np.pi / 7.0)
"""How the eight-link body swims in sections 7.4 and 7.5."""


@dataclass(frozen=True)
class Track:
    """Motion of a body, every 0.1 s from the start on; NaN if the simulation exploded.

    Attributes:
        centre: (samples, 2) centre of mass, relative to the start [m].
        forward: (samples,) velocity along the body's mean direction [m/s].
        heading: (samples,) mean direction of the links [rad].
        drive: Mean share of motors below their torque limit.
    """

    centre: Array
    forward: Array
    heading: Array
    drive: float

    @property
    def distance(self) -> Array:
        """Distance from the start: (samples,) [m]."""
        return np.linalg.norm(self.centre, axis=1)


def check_samples(snake: Snake) -> None:
    """Refuse a body whose command interval does not divide the time between samples.

    Raises:
        SandlotError: If it does not.
    """
    each = EVERY / snake.interval
    if each < 0.999 or abs(each - round(each)) > 1e-6:
        raise SandlotError(f"interval={snake.interval:g} does not divide the {EVERY:g} s between samples evenly")


def track(fidelity: str, snake: Snake, plan: Plan, seconds: float) -> Track:
    """The motion of one body that follows a plan."""
    swimmers, each = make_swimmers(fidelity, snake), round(EVERY / snake.interval)
    rows = [_sample(swimmers) for k in follow(swimmers, plan, seconds) if k % each == 0]
    x, y, forward, heading = np.array(rows).T
    centre = np.stack([x - x[0], y - y[0]], axis=1)
    valid = np.nan if swimmers.exploded[0] else 1.0
    return Track(valid * centre, valid * forward, valid * heading, valid * float(swimmers.drive[0]))


def _sample(swimmers: Swimmers) -> tuple[float, float, float, float]:
    heading, velocity = float(swimmers.heading[0]), swimmers.velocity[0]
    forward = float(velocity[0] * np.cos(heading) + velocity[1] * np.sin(heading))
    return (*swimmers.centre[0].tolist(), forward, heading)


def at(seconds: float) -> int:
    """The index of the sample at a time [s]."""
    return round(seconds / EVERY)


def pick_job(results: xr.Dataset, **parameters: object) -> xr.Dataset:
    """The one job with these parameters."""
    return pick(results, **parameters).isel(job=0)


def draw_both(axes: Axes, results: xr.Dataset, quantity: str, colour: str, label: str, **parameters: object) -> None:
    """Draw a quantity over time at both fidelities: fast as a line, the reference dotted."""
    for fidelity, style in (("fast", {"alpha": 0.5, "linewidth": 2.5}), ("reference", {"linestyle": ":"})):
        values = pick_job(results, fidelity=fidelity, **parameters)[quantity].values
        time = np.arange(values.shape[0]) * EVERY
        axes.plot(time, values, color=colour, label=label if fidelity == "fast" else None, **style)
