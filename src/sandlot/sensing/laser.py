"""A 2D laser scanner with the errors of real ones: noise, missing returns, specular surfaces and mixed edges."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from sandlot.geometry.walls import Walls
from sandlot.kernels import kernel
from sandlot.places.plans import Plan
from sandlot.sensing.rays import Echoes, bearings, cast
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray

Hits: TypeAlias = NDArray[np.int32]
Chance: TypeAlias = np.random.Generator | Sequence[np.random.Generator]
"""One generator for all poses, or one for each pose, so that a scan does not depend on the other poses."""
BLOCK = 256
"""Poses that are scanned at a time; more would not fit into the processor's cache."""


class Draws(NamedTuple):
    """Random numbers for n scans.

    Attributes:
        mixed: (2, edges) uniform, for each beam over an edge: one decides whether it is mixed, one is the weight of
            its left side.
        missing: (n, beams) uniform; decides whether a beam is lost.
        noise: (n, beams) standard normal.
    """

    mixed: Array
    missing: Array
    noise: Array


class Faults(NamedTuple):
    """The error parameters of a `Laser`."""

    mixed: float
    specular: float
    missing: float
    noise: float
    noise_growth: float


class Surfaces(NamedTuple):
    """Walls, and the shine of each segment, then of each circle."""

    walls: Walls
    shine: Array


class Laser(Settings):
    """A 2D laser scanner. By default 360 beams over the front 180 degrees, as the SICK of Nehmzow et al. (2009).

    Beam k points along ``bearings[k]``, from right to left. A scan is the exact distance to the walls, with these
    errors applied in order:

    1. *Mixed edges.* A beam has a width, its ``divergence``. Where its left and right sides hit different surfaces, it
       returns, with probability ``mixed``, a range between the two distances.
    2. *Specular surfaces.* A shiny surface reflects a beam away from the sensor unless it hits nearly perpendicularly.
       A surface of shine s returns nothing where the angle between beam and surface is below s times ``specular``.
    3. *Missing returns.* Every beam is lost with probability ``missing``.
    4. *Noise.* Gaussian, with standard deviation ``noise`` plus ``noise_growth`` times the range.

    Attributes:
        beams: Number of beams.
        field_of_view: Angle that the beams cover [rad].
        max_range: Surfaces further away return nothing [m].
        noise: Standard deviation of a range at distance 0 [m].
        noise_growth: Increase of that standard deviation per metre of range.
        missing: Probability that a beam returns nothing.
        specular: A mirror (shine 1) returns nothing where the angle between beam and surface is below this [rad]. With
            the default, the limit for a shine of 0.1 is 7 degrees.
        divergence: Width of a beam [rad].
        mixed: Probability that a beam over an edge returns a range in between.
    """

    beams: int = Field(360, ge=1, le=100_000)
    field_of_view: float = Field(math.pi, gt=0.0, le=2.0 * math.pi)
    max_range: float = Field(30.0, gt=0.0, le=10_000.0)
    noise: float = Field(0.005, ge=0.0)
    noise_growth: float = Field(0.001, ge=0.0)
    missing: float = Field(0.002, ge=0.0, le=1.0)
    specular: float = Field(1.2, ge=0.0, le=0.5 * math.pi)
    divergence: float = Field(0.0087, ge=0.0, le=0.2)
    mixed: float = Field(0.5, ge=0.0, le=1.0)

    @property
    def bearings(self) -> Array:
        """Bearings of the beams, 0 straight ahead, positive to the left: (beams,) [rad]."""
        return bearings(self.beams, self.field_of_view)

    def exact(self) -> "Laser":
        """The same scanner without errors."""
        return self.model_copy(update=dict.fromkeys(("noise", "noise_growth", "missing", "specular", "mixed"), 0.0))

    def cast(self, plan: Plan, poses: ArrayLike, threads: int | None = None) -> Echoes:
        """Exact distances from poses (n, 3): x, y [m], yaw [rad]."""
        poses = np.asarray(poses, np.float64).reshape(-1, 3)
        return cast(plan.walls, poses, self.beams, self.field_of_view, self.max_range, threads)

    def scan(self, plan: Plan, poses: ArrayLike, rng: Chance, threads: int | None = None) -> Array:
        """Measure ranges, with errors.

        Args:
            plan: Floor plan with walls and obstacles.
            poses: (n, 3) x, y [m] and yaw [rad] of the sensor.
            rng: Source of randomness.
            threads: As in `sandlot.sensing.rays.cast`.

        Returns:
            (n, beams) ranges [m], NaN without a return.
        """
        poses = np.asarray(poses, np.float64).reshape(-1, 3)
        found = np.empty((len(poses), self.beams))
        for low in range(0, len(poses), BLOCK):
            part = slice(low, low + BLOCK)
            echoes = self._cast_wide(plan, poses[part], threads)
            draws = self._draw(count_edges(echoes.hits), rng if isinstance(rng, np.random.Generator) else rng[part])
            faults = Faults(self.mixed, self.specular, self.missing, self.noise, self.noise_growth)
            surfaces = Surfaces(plan.walls, plan.shine)
            measure(echoes, poses[part], self.bearings, surfaces, faults, draws, found[part])
        return found

    def _cast_wide(self, plan: Plan, poses: Array, threads: int | None) -> Echoes:
        """Exact distances along the axes of the beams, and along their right and left sides: (fans, n, beams)."""
        half = np.array([0.0, 0.0, 0.5 * self.divergence])
        wide = self.mixed > 0.0 and self.divergence > 0.0
        echoes = self.cast(plan, np.concatenate([poses, poses - half, poses + half]) if wide else poses, threads)
        shape = (-1, len(poses), self.beams)
        return Echoes(echoes.ranges.reshape(shape), echoes.hits.reshape(shape))

    def _draw(self, edges: IntArray, rng: Chance) -> Draws:
        """Draw random numbers for n scans; ``edges`` (n,) is the number of beams of each scan that cross an edge."""
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
    """Whether the sides of beam b of scan k hit different surfaces, and both sides and the axis hit something."""
    right, left = hits[1, k, b], hits[2, k, b]
    return right != left and right >= 0 and left >= 0 and hits[0, k, b] >= 0


@kernel(error_model="numpy", nogil=True)
def count_edges(hits: Hits) -> IntArray:
    """Number of beams over edges in each scan: (n,), from hits (fans, n, beams)."""
    edges = np.zeros(hits.shape[1], np.int64)
    if hits.shape[0] == 3:
        for k in range(hits.shape[1]):
            for b in range(hits.shape[2]):
                edges[k] += is_edge(hits, k, b)
    return edges


@kernel(error_model="numpy", nogil=True, allocates=False)
def measure(
    echoes: Echoes, poses: Array, bearings: Array, surfaces: Surfaces, faults: Faults, draws: Draws, found: Array
) -> None:
    """Apply the errors of a `Laser` to exact ranges, in the order listed there.

    Args:
        echoes: (fans, n, beams) along the axes, right sides and left sides of beams, or along the axes only.
        poses: (n, 3) [m, rad]
        bearings: (beams,) [rad]
        surfaces: What beams hit.
        faults: Error parameters.
        draws: Random numbers.
        found: (n, beams) to be filled with ranges [m].
    """
    ranges, hits, shine, edge = echoes.ranges, echoes.hits, surfaces.shine, 0
    for k in range(poses.shape[0]):
        x, y, yaw = poses[k, 0], poses[k, 1], poses[k, 2]
        for b in range(bearings.size):
            hit, distance = hits[0, k, b], ranges[0, k, b]
            if hits.shape[0] == 3 and is_edge(hits, k, b):
                if draws.mixed[0, edge] < faults.mixed:
                    share = draws.mixed[1, edge]
                    distance = share * ranges[2, k, b] + (1.0 - share) * ranges[1, k, b]
                edge += 1
            lost = hit < 0 or draws.missing[k, b] < faults.missing
            if not lost and faults.specular * shine[hit] > 0.0:
                cosine = incidence(hit, x, y, yaw + bearings[b], surfaces.walls)
                lost = math.asin(min(cosine, 1.0)) < faults.specular * shine[hit]
            if lost:
                found[k, b] = math.nan
            else:
                found[k, b] = max(distance + (faults.noise + faults.noise_growth * distance) * draws.noise[k, b], 0.0)


@kernel(error_model="numpy", allocates=False)
def incidence(hit: int, x: float, y: float, direction: float, walls: Walls) -> float:
    """Cosine of the angle between a beam from (x, y) and the normal of the surface that it hits."""
    segments, circles = walls.segments, walls.circles
    ahead, left = math.cos(direction), math.sin(direction)
    if hit < segments.shape[0]:
        along_x, along_y = segments[hit, 2] - segments[hit, 0], segments[hit, 3] - segments[hit, 1]
        length = math.hypot(along_x, along_y)
        return abs(ahead * (along_y / length) - left * (along_x / length))
    disc = circles[hit - segments.shape[0]]
    across = (ahead * (disc[1] - y) - left * (disc[0] - x)) / disc[2]
    return math.sqrt(max(1.0 - across * across, 0.0))
