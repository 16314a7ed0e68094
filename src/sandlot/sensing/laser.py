"""A 2D laser scanner, with what makes real ones hard: noise, missing returns, shiny walls, and mixed edges."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from sandlot.kernels import kernel
from sandlot.places.plans import Plan
from sandlot.sensing.rays import Echoes, bearings, cast
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray

Hits: TypeAlias = NDArray[np.int32]
Chance: TypeAlias = np.random.Generator | Sequence[np.random.Generator]
"""One generator for all poses, or one for each: then what a pose sees does not depend on the others."""
BLOCK = 256
"""Poses that are scanned at a time: more would not fit into the processor's cache."""


class Draws(NamedTuple):
    """What chance says of n scans.

    Attributes:
        mixed: (2, edges) of each beam over an edge, scan by scan: whether it is mixed, and with how much of the left.
        missing: (n, beams) whether beams are lost.
        noise: (n, beams) standard normal.
    """

    mixed: Array
    missing: Array
    noise: Array


class Faults(NamedTuple):
    """What a laser is bad at: those attributes of `Laser`."""

    mixed: float
    specular: float
    missing: float
    noise: float
    noise_growth: float


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

    def scan(self, plan: Plan, poses: ArrayLike, rng: Chance, threads: int | None = None) -> Array:
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
        found = np.empty((len(poses), self.beams))
        for low in range(0, len(poses), BLOCK):
            part = slice(low, low + BLOCK)
            echoes = self._cast_wide(plan, poses[part], threads)
            draws = self._draw(count_edges(echoes.hits), rng if isinstance(rng, np.random.Generator) else rng[part])
            faults = Faults(self.mixed, self.specular, self.missing, self.noise, self.noise_growth)
            surfaces = (plan.segments, plan.circles, plan.shine)
            measure(echoes.ranges, echoes.hits, poses[part], self.bearings, *surfaces, faults, draws, found[part])
        return found

    def _cast_wide(self, plan: Plan, poses: Array, threads: int | None) -> Echoes:
        """What beams meet: (fans, n, beams), their middles, and, if they have a width, their right and left sides."""
        half = np.array([0.0, 0.0, 0.5 * self.divergence])
        wide = self.mixed > 0.0 and self.divergence > 0.0
        echoes = self.cast(plan, np.concatenate([poses, poses - half, poses + half]) if wide else poses, threads)
        shape = (-1, len(poses), self.beams)
        return Echoes(echoes.ranges.reshape(shape), echoes.hits.reshape(shape))

    def _draw(self, edges: IntArray, rng: Chance) -> Draws:
        """What chance says of scans that have so many beams over edges: (n,)."""
        count, ends = len(edges), np.concatenate([[0], np.cumsum(edges)]).tolist()
        draws = Draws(np.empty((2, ends[-1])), np.zeros((count, self.beams)), np.zeros((count, self.beams)))
        if isinstance(rng, np.random.Generator):
            parts = [(rng, 0, count)]
        else:
            parts = list(zip(rng, range(count), range(1, count + 1), strict=True))
        for each, low, high in parts:
            if ends[high] > ends[low]:
                draws.mixed[:, ends[low] : ends[high]] = each.random((2, ends[high] - ends[low]))
            if self.missing:
                each.random(out=draws.missing[low:high])
            if self.noise or self.noise_growth:
                each.standard_normal(out=draws.noise[low:high])
        return draws


@kernel(error_model="numpy", allocates=False)
def is_edge(hits: Hits, k: int, b: int) -> bool:
    """Whether the sides of beam b of scan k meet different surfaces, and all of it meets some."""
    right, left = hits[1, k, b], hits[2, k, b]
    return right != left and right >= 0 and left >= 0 and hits[0, k, b] >= 0


@kernel(error_model="numpy", nogil=True)
def count_edges(hits: Hits) -> IntArray:
    """Beams over edges: (n,) of (fans, n, beams)."""
    edges = np.zeros(hits.shape[1], np.int64)
    if hits.shape[0] == 3:
        for k in range(hits.shape[1]):
            for b in range(hits.shape[2]):
                edges[k] += is_edge(hits, k, b)
    return edges


@kernel(error_model="numpy", nogil=True, allocates=False)
def measure(
    ranges: Array,
    hits: Hits,
    poses: Array,
    bearings: Array,
    segments: Array,
    circles: Array,
    shine: Array,
    faults: Faults,
    draws: Draws,
    found: Array,
) -> None:
    """Make scans of what beams meet, in the order of `Laser`.

    Args:
        ranges: (fans, n, beams) of the middles of beams, their right and their left sides, or of middles only [m].
        hits: (fans, n, beams) as those of `Echoes`.
        poses: (n, 3) [m, rad]
        bearings: (beams,) [rad]
        segments: (m, 4) [m]
        circles: (c, 3) [m]
        shine: (m + c,)
        faults: Of the laser.
        draws: Chance.
        found: (n, beams) to be filled [m].
    """
    edge = 0
    for k in range(poses.shape[0]):
        x, y, heading = poses[k, 0], poses[k, 1], poses[k, 2]
        for b in range(bearings.size):
            hit, away = hits[0, k, b], ranges[0, k, b]
            if hits.shape[0] == 3 and is_edge(hits, k, b):
                if draws.mixed[0, edge] < faults.mixed:
                    share = draws.mixed[1, edge]
                    away = share * ranges[2, k, b] + (1.0 - share) * ranges[1, k, b]
                edge += 1
            lost = hit < 0 or draws.missing[k, b] < faults.missing
            if not lost and faults.specular * shine[hit] > 0.0:
                straight = incidence(hit, x, y, heading + bearings[b], segments, circles)
                lost = math.asin(min(straight, 1.0)) < faults.specular * shine[hit]
            if lost:
                found[k, b] = math.nan
            else:
                found[k, b] = max(away + (faults.noise + faults.noise_growth * away) * draws.noise[k, b], 0.0)


@kernel(error_model="numpy", allocates=False)
def incidence(hit: int, x: float, y: float, direction: float, segments: Array, circles: Array) -> float:
    """How straight a beam from (x, y) comes at what it meets: the cosine of the angle to its normal."""
    ahead, left = math.cos(direction), math.sin(direction)
    if hit < segments.shape[0]:
        along_x, along_y = segments[hit, 2] - segments[hit, 0], segments[hit, 3] - segments[hit, 1]
        length = math.hypot(along_x, along_y)
        return abs(ahead * (along_y / length) - left * (along_x / length))
    disc = circles[hit - segments.shape[0]]
    across = (ahead * (disc[1] - y) - left * (disc[0] - x)) / disc[2]
    return math.sqrt(max(1.0 - across * across, 0.0))
