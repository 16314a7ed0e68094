"""A 2D laser scanner, with what makes real ones hard: noise, missing returns, shiny walls, and mixed edges."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from sandlot.sensing.plans import Plan
from sandlot.sensing.rays import Echoes, bearings, cast
from sandlot.settings import Settings

Array = NDArray[np.float64]
BLOCK = 256
"""Poses that are scanned at a time: more would not fit into the processor's cache."""


class Laser(Settings):
    """A laser scanner. The source's SICK has as many beams, over the front half; the rest was chosen here.

    Beam k looks along ``bearings[k]``, counter-clockwise from the right. What comes back is made in this order:

    1. *Mixed edges.* A beam is not a line but has a width, its ``divergence``. Where its two sides meet different
       surfaces, it returns, with the chance ``mixed``, something anywhere between the two distances.
    2. *Shiny surfaces.* They reflect a beam away from the sensor, unless it comes nearly straight at them. A surface
       of shine s returns nothing where the angle between beam and surface is below s times ``specular``.
    3. *Missing returns.* Any beam is lost with the chance ``missing``.
    4. *Noise.* Normal, its standard deviation ``noise`` plus ``noise_growth`` times the range.

    Attributes:
        beams: How many.
        field_of_view: Across all of them [rad].
        most: What is further away returns nothing [m].
        noise: Standard deviation of a range [m].
        noise_growth: What it grows by with each metre.
        missing: Chance that a beam returns nothing.
        specular: Angle from a mirror's surface below which it returns nothing [rad]; pi/2 would be any. For a shine of
            0.1, the default's is 7 degrees.
        divergence: Width of a beam [rad].
        mixed: Chance that a beam over an edge returns something in between.
    """

    beams: int = Field(360, ge=1, le=100_000)
    field_of_view: float = Field(math.pi, gt=0.0, le=2.0 * math.pi)
    most: float = Field(30.0, gt=0.0, le=10_000.0)
    noise: float = Field(0.005, ge=0.0)
    noise_growth: float = Field(0.001, ge=0.0)
    missing: float = Field(0.002, ge=0.0, le=1.0)
    specular: float = Field(1.2, ge=0.0, le=0.5 * math.pi)
    divergence: float = Field(0.0087, ge=0.0, le=0.2)
    mixed: float = Field(0.5, ge=0.0, le=1.0)

    @property
    def bearings(self) -> Array:
        """Directions of the beams from straight ahead, counter-clockwise: (beams,) [rad]."""
        return bearings(self.beams, self.field_of_view)

    def exact(self) -> "Laser":
        """The same without anything that makes it hard."""
        return self.model_copy(update=dict.fromkeys(("noise", "noise_growth", "missing", "specular", "mixed"), 0.0))

    def cast(self, plan: Plan, poses: ArrayLike, threads: int | None = None) -> Echoes:
        """What its beams meet from poses (n, 3) x, y [m], heading [rad], exactly."""
        poses = np.asarray(poses, np.float64).reshape(-1, 3)
        return cast(plan.segments, plan.circles, poses, self.beams, self.field_of_view, self.most, threads)

    def scan(self, plan: Plan, poses: ArrayLike, rng: np.random.Generator, threads: int | None = None) -> Array:
        """Measure.

        Args:
            plan: What is there.
            poses: (n, 3) x, y [m] and heading [rad] of the sensor.
            rng: Where chance comes from.
            threads: As in `sandlot.sensing.rays.cast`.

        Returns:
            (n, beams) ranges [m], not a number where nothing came back.
        """
        poses = np.asarray(poses, np.float64).reshape(-1, 3)
        blocks = [poses[low : low + BLOCK] for low in range(0, len(poses), BLOCK)]
        return np.concatenate([self._scan(plan, block, rng, threads) for block in blocks or [poses]])

    def _scan(self, plan: Plan, poses: Array, rng: np.random.Generator, threads: int | None) -> Array:
        """As `scan`, of not too many poses."""
        middle, ranges = self._cast_wide(plan, poses, rng, threads)
        lost = middle.hits < 0
        if self.specular and plan.shine.any():
            grazing = np.arcsin(np.minimum(incidence(plan, poses, self.bearings, middle), 1.0))
            lost |= grazing < self.specular * np.append(plan.shine, 0.0)[middle.hits]
        if self.missing:
            lost |= rng.random(lost.shape) < self.missing
        ranges[lost] = np.nan
        if self.noise or self.noise_growth:
            ranges += (self.noise + self.noise_growth * ranges) * rng.normal(size=ranges.shape)
        return np.maximum(ranges, 0.0)

    def _cast_wide(
        self, plan: Plan, poses: Array, rng: np.random.Generator, threads: int | None
    ) -> tuple[Echoes, Array]:
        """What the middles of beams meet, and ranges (n, beams) of beams that have a width."""
        if not (self.mixed and self.divergence):
            echoes = self.cast(plan, poses, threads)
            return echoes, echoes.ranges
        half = np.array([0.0, 0.0, 0.5 * self.divergence])
        echoes = self.cast(plan, np.concatenate([poses, poses - half, poses + half]), threads)
        middle, right, left = np.split(echoes.ranges, 3)
        hit, right_hit, left_hit = np.split(echoes.hits, 3)
        edge = np.nonzero((right_hit != left_hit) & (right_hit >= 0) & (left_hit >= 0) & (hit >= 0))
        is_mixed, share = rng.random((2, edge[0].size))
        between = share * left[edge] + (1.0 - share) * right[edge]
        middle[edge] = np.where(is_mixed < self.mixed, between, middle[edge])
        return Echoes(middle, hit), middle


def incidence(plan: Plan, poses: Array, bearings: Array, echoes: Echoes) -> Array:
    """How straight beams come at what they meet: (n, beams) cosine of the angle to its normal; 1 where nothing is."""
    directions = poses[:, 2:] + bearings
    ahead, left = np.cos(directions), np.sin(directions)
    along = plan.segments[:, 2:] - plan.segments[:, :2]
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    lines = len(along)
    straight = np.ones(echoes.hits.shape)
    line = (echoes.hits >= 0) & (echoes.hits < lines)
    which = echoes.hits[line]
    straight[line] = np.abs(ahead[line] * along[which, 1] - left[line] * along[which, 0])
    disc = echoes.hits >= lines
    x, y, radius = plan.circles[echoes.hits[disc] - lines].T
    row = np.nonzero(disc)[0]
    across = ahead[disc] * (y - poses[row, 1]) - left[disc] * (x - poses[row, 0])
    straight[disc] = np.sqrt(np.maximum(1.0 - (across / radius) ** 2, 0.0))
    return straight
