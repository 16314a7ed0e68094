"""A laser that scans vertical lines and is panned from line to line: what the climbing robot sees of the ground.

Obstacles are straight across y, so a beam is a ray in x and z. The beams of one line lie in a plane; seen in that
plane, the ground is again made of segments, squeezed along x by the pan angle. So the rays of floor plans
(`sandlot.sensing.rays`) serve here too, and measure along the beams.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from pydantic import Field

from sandlot.kernels import kernel
from sandlot.physics.climbing.ground import AX, AZ, LENGTH, TX, TZ, Ground
from sandlot.sensing.rays import Echoes, Fan, bearings, hit_segment
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray

PANS = 19
"""Number of pan angles."""
PAN_ANGLES = np.arange(-9, 10).astype(np.float64) * (math.pi / 36.0)
"""Of the lines, from right to left [rad]: equation 27 of Vincent 2008."""
MAP_ROWS = {1: np.array([9]), 5: np.array([5, 7, 9, 11, 13]), PANS: np.arange(PANS)}
"""Pan angles of the rows of an elevation map, as indices of `PAN_ANGLES`, by the number of rows: straight ahead; -20 to
20 degrees in steps of 10 (section 5.2 of the source); -45 to 45 degrees in steps of 5 (equation 27)."""
WIDE = 1e3
"""Half the length of a ceiling [m]."""


class View(NamedTuple):
    """From where robots look.

    Attributes:
        middles: (robots, 2) x and z of the middle of the body [m].
        attitudes: (robots, 3) roll, pitch and yaw [rad]; pitch is positive with the nose down.
        mount: (2,) the laser from there, ahead and above in the body's frame [m]: T_H and T_V.
        pans: (robots, lines) index in `PAN_ANGLES` of each line, negative for a line that is not scanned.
    """

    middles: Array
    attitudes: Array
    mount: Array
    pans: IntArray


class Faults(NamedTuple):
    """The error parameters of a `PannedLaser`."""

    max_range: float
    noise: float
    noise_growth: float
    missing: float
    ceiling: float


class PannedLaser(Settings):
    """A laser with vertical scan lines on a pan mechanism, as the URG-04LX of Vincent 2008, section 3.1.2.

    Beam k of a line points along ``bearings[k]`` above the body's x axis, from below to above. Beams do not hit the
    robot itself. Beams, field of view and pan angles are the source's; the rest is chosen after the data sheet of the
    URG-04LX (range 4 m, accuracy 10 mm or 1%, taken as three standard deviations).

    Attributes:
        beams: Of a scan line.
        field_of_view: That they cover [rad].
        lines: Scan lines between two commands. With fewer than 19 the pan angle sweeps to and fro.
        max_range: Surfaces further away return nothing [m].
        noise: Standard deviation of a range at distance 0 [m].
        noise_growth: Increase of that standard deviation per metre of range.
        missing: Probability that a beam returns nothing.
        ceiling: Height of a ceiling [m]; without one if left out.
    """

    beams: int = Field(512, ge=2, le=10_000)
    field_of_view: float = Field(math.pi, gt=0.0, le=math.pi)
    lines: int = Field(PANS, ge=1, le=PANS)
    max_range: float = Field(4.0, gt=0.0, le=1000.0)
    noise: float = Field(0.003, ge=0.0)
    noise_growth: float = Field(0.003, ge=0.0)
    missing: float = Field(0.02, ge=0.0, le=1.0)
    ceiling: float | None = Field(None, gt=0.0, le=100.0)

    @property
    def fan(self) -> Fan:
        """Directions of the beams in the plane of a line: ahead and up."""
        return _fan(self.beams, self.field_of_view)

    def exact(self) -> "PannedLaser":
        """The same laser without errors."""
        return self.model_copy(update=dict.fromkeys(("noise", "noise_growth", "missing"), 0.0))

    def sweep(self, commands: IntArray) -> IntArray:
        """Indices of the pan angles that are scanned after so many commands (robots,): (robots, lines)."""
        if self.lines == PANS:
            return np.tile(np.arange(PANS), (len(commands), 1))
        round_trip = 2 * (PANS - 1)
        at = (commands[:, None] * self.lines + np.arange(self.lines)) % round_trip
        return np.minimum(at, round_trip - at)

    def scan(self, ground: Ground, view: View, generators: Mapping[int, np.random.Generator]) -> Array:
        """Measure ranges, with errors.

        Args:
            ground: Of all robots.
            view: Of all robots.
            generators: Of each robot that has lines to scan; so a scan does not depend on the other robots.

        Returns:
            (robots, lines, beams) ranges [m], NaN without a return.
        """
        draws, found = np.zeros((2, *view.pans.shape, self.beams)), np.empty((*view.pans.shape, self.beams))
        for k in np.flatnonzero((view.pans >= 0).any(axis=1)).tolist():
            if self.missing:
                generators[k].random(out=draws[0, k])
            if self.noise or self.noise_growth:
                generators[k].standard_normal(out=draws[1, k])
        ceiling = math.inf if self.ceiling is None else self.ceiling
        faults = Faults(self.max_range, self.noise, self.noise_growth, self.missing, ceiling)
        nearest = Echoes(np.empty(self.beams), np.empty(self.beams, np.int32))
        scan_lines(ground, view, PAN_ANGLES, self.fan, faults, draws, nearest, found)
        return found


@lru_cache(maxsize=16)
def _fan(beams: int, field_of_view: float) -> Fan:
    angles = bearings(beams, field_of_view)
    return Fan(np.ascontiguousarray([np.cos(angles), np.sin(angles)]), field_of_view / beams)


@kernel(error_model="numpy", allocates=False)
def turned(roll: float, pitch: float, ahead: float, left: float, up: float) -> tuple[float, float, float]:
    """A vector of the body's frame in the robot's horizontal frame: forward, left and up.

    This is the rotation of equation 22, whose pitch is positive with the nose up, unlike that of equation 24 and here.
    """
    cp, sp, cr, sr = math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll)
    forward, above = cp * ahead + sp * up, cp * up - sp * ahead
    return forward, cr * left - sr * above, sr * left + cr * above


@kernel(error_model="numpy", nogil=True, allocates=False)
def scan_lines(
    ground: Ground, view: View, pan_angles: Array, fan: Fan, faults: Faults, draws: Array, nearest: Echoes, found: Array
) -> None:
    """Cast the lines of all robots and apply the errors.

    Args:
        ground: Of all robots.
        view: Of all robots.
        pan_angles: (pans,) [rad]
        fan: Of one line.
        faults: Error parameters.
        draws: (2, robots, lines, beams) uniform, which decides whether a beam is lost, and standard normal.
        nearest: (beams,) scratch.
        found: (robots, lines, beams) to be filled with ranges [m], NaN without a return.
    """
    for k in range(view.pans.shape[0]):
        roll, pitch, yaw = view.attitudes[k, 0], view.attitudes[k, 1], view.attitudes[k, 2]
        cosine, sine = math.cos(yaw), math.sin(yaw)
        forward, left, up = turned(roll, pitch, view.mount[0], 0.0, view.mount[1])
        at = (view.middles[k, 0] + cosine * forward - sine * left, view.middles[k, 1] + up)
        forward, left, bz = turned(roll, pitch, 0.0, 0.0, 1.0)
        bx = cosine * forward - sine * left
        for m in range(view.pans.shape[1]):
            if view.pans[k, m] < 0:
                found[k, m, :] = math.nan
                continue
            pan = pan_angles[view.pans[k, m]]
            forward, left, az = turned(roll, pitch, math.cos(pan), math.sin(pan), 0.0)
            ax = cosine * forward - sine * left
            cast_line(ground.segments[k], at, (ax, az, bx, bz), faults, fan, nearest)
            for b in range(found.shape[2]):
                distance = 1.0 / nearest.ranges[b]
                error = (faults.noise + faults.noise_growth * distance) * draws[1, k, m, b]
                lost = nearest.hits[b] < 0 or draws[0, k, m, b] < faults.missing
                found[k, m, b] = math.nan if lost else max(distance + error, 0.0)


@kernel(error_model="numpy", allocates=False)
def cast_line(
    segments: Array,
    at: tuple[float, float],
    plane: tuple[float, float, float, float],
    faults: Faults,
    fan: Fan,
    nearest: Echoes,
) -> None:
    """Cast the beams of one line at segments of the ground.

    Args:
        segments: (n, 8) columns of `sandlot.physics.climbing.ground`; they end at a length of 0.
        at: x and z of the laser [m].
        plane: x and z that a unit ahead and a unit up in the plane of the line amount to.
        faults: Error parameters.
        fan: Beams in that plane.
        nearest: (beams,) to be filled; ``ranges`` with the inverse of distances [1/m].
    """
    (x, z), (ax, az, bx, bz) = at, plane
    area = ax * bz - az * bx
    for b in range(nearest.ranges.size):
        nearest.ranges[b] = 1.0 / faults.max_range
        nearest.hits[b] = -1
    if not abs(area) > 1e-9:  # the line is parallel to the obstacle's edges
        return
    ax, az, bx, bz = ax / area, az / area, bx / area, bz / area
    for n in range(segments.shape[0]):
        row = segments[n]
        if row[LENGTH] == 0.0:
            break
        ux, uz = row[AX] - x, row[AZ] - z
        vx, vz = ux + row[TX] * row[LENGTH], uz + row[TZ] * row[LENGTH]
        p, q = (bz * ux - bx * uz, ax * uz - az * ux), (bz * vx - bx * vz, ax * vz - az * vx)
        if p[0] >= 0.0 or q[0] >= 0.0:
            hit_segment(n, p, q, fan, nearest)
    if faults.ceiling < math.inf:
        uz = faults.ceiling - z
        p, q = (-bz * WIDE - bx * uz, ax * uz + az * WIDE), (bz * WIDE - bx * uz, ax * uz - az * WIDE)
        hit_segment(segments.shape[0], p, q, fan, nearest)
