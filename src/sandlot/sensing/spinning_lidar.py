"""A lidar that turns while its robot moves, as the RPLIDAR: each beam is measured from another pose.

A turn of 0.18 s skews a scan: at 1 rad/s the last beam is 10 degrees off the first. The ages of the beams tell a mapper
how to undo that.
"""

import math
from functools import cached_property

import numpy as np
from pydantic import Field

from sandlot.geometry.planar import interpolate
from sandlot.places.plans import Plan
from sandlot.sensing.laser import Laser
from sandlot.typing import Array

GROUP = 3
"""Neighbouring beams that are measured from the same pose, that of the middle one; 1.5 degrees or 0.8 ms."""
NEAR = 1.5
"""Up to this range the datasheet states a smaller error [m]."""


class SpinningLidar(Laser):
    """A lidar of 360 degrees. By default an RPLIDAR A1 in its express mode: 3,911 samples a second.

    It turns clockwise, seen from above; a turn begins and ends straight back. Beam k points along ``bearings[k]``,
    counter-clockwise from straight back. Errors are those of `Laser`, except noise: the datasheet states an error below
    0.5 mm up to 1.5 m and below 1% of the range beyond, here taken as two standard deviations. Of an A1, 61 to 84% of
    the samples were measured to be invalid indoors; ``missing`` is that share.

    Attributes:
        turns: Turns per second [1/s].
        min_range: Surfaces nearer than this return nothing [m].
        noise: Standard deviation of a range up to 1.5 m [m].
        noise_growth: Standard deviation of a range beyond, relative to it.
        missing: Probability that a beam returns nothing.
    """

    beams: int = Field(711, ge=GROUP, le=100_000)
    field_of_view: float = Field(2.0 * math.pi, ge=2.0 * math.pi, le=2.0 * math.pi)
    max_range: float = Field(12.0, gt=0.0, le=10_000.0)
    turns: float = Field(5.5, gt=0.0, le=1000.0)
    min_range: float = Field(0.15, ge=0.0)
    noise: float = Field(0.00025, ge=0.0)
    noise_growth: float = Field(0.005, ge=0.0)
    missing: float = Field(0.61, ge=0.0, le=1.0)

    @property
    def period(self) -> float:
        """Time of a turn [s]."""
        return 1.0 / self.turns

    @property
    def ages(self) -> Array:
        """How long before the end of the turn each beam is measured: (beams,) [s]."""
        return (np.arange(self.beams, dtype=np.float64) + 0.5) * (self.period / self.beams)

    @cached_property
    def _group(self) -> Laser:
        """Some neighbouring beams as a laser of their own, without noise."""
        angle = GROUP * self.field_of_view / self.beams
        faults = {name: getattr(self, name) for name in ("max_range", "missing", "specular", "divergence", "mixed")}
        return Laser(beams=GROUP, field_of_view=angle, noise=0.0, noise_growth=0.0, **faults)

    def sweep(self, plan: Plan, trace: Array, rng: np.random.Generator) -> Array:
        """Measure ranges over one turn.

        Args:
            plan: Floor plan with walls and obstacles.
            trace: (steps + 1, 3) x, y [m] and yaw [rad] of the sensor, at equal times from begin to end of the turn.
            rng: Source of randomness.

        Returns:
            (beams,) ranges [m], NaN without a return.
        """
        groups = -(-self.beams // GROUP)
        middle = GROUP * np.arange(groups) + 0.5 * (GROUP - 1)  # in beams
        poses = along(trace, 1.0 - (middle + 0.5) / self.beams)
        poses[:, 2] += (middle + 0.5) * (self.field_of_view / self.beams) - 0.5 * self.field_of_view
        ranges = self._group.scan(plan, poses, rng, threads=1).ravel()[: self.beams]
        deviation = np.where(ranges <= NEAR, self.noise, self.noise_growth * ranges)
        ranges += deviation * rng.standard_normal(self.beams)
        ranges[~(ranges >= self.min_range)] = np.nan
        return ranges


def along(trace: Array, shares: Array) -> Array:
    """Poses (n, 3) at shares (n,) of the time of a trace (steps + 1, 3) of equal time steps."""
    steps = len(trace) - 1
    if steps == 0:
        return np.repeat(trace, len(shares), axis=0)
    at = np.clip(shares, 0.0, 1.0) * steps
    low = np.minimum(at.astype(np.int64), steps - 1)
    return interpolate(trace[low], trace[low + 1], at - low)
