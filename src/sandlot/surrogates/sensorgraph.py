"""A sensorgraph: what a laser saw, and from where, as a robot wandered about; the raw material of sensor models."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from sandlot.errors import SandlotError
from sandlot.geometry.planar import wrap
from sandlot.recordings import settings
from sandlot.typing import Array, IntArray

SEGMENTS = 6
"""Into how many parts a scan is cut, as in the source: half a circle into six of 30 degrees."""
THIN = 0.25
"""A bin of a histogram with less than this share of its mean is thin."""


@dataclass(frozen=True)
class Sensorgraph:
    """Scans with their poses.

    Attributes:
        poses: (samples, 3) x [m], y [m] and heading [rad] of the laser.
        ranges: (samples, beams) [m], not a number where nothing came back.
        bearings: (beams,) [rad] from straight ahead, counter-clockwise, evenly spaced.
    """

    poses: Array
    ranges: Array
    bearings: Array

    @classmethod
    def of(cls, recording: xr.Dataset) -> Self:
        """Take it from a recording of a robot with a laser, simulated or real.

        Poses are moved from the robot's middle to where its laser is, if the recording's settings say where:
        ``laser_position``. Beams are sorted from the right to the left.

        Raises:
            SandlotError: If the recording has no scans, or no poses, or is damaged.
        """
        missing = {"position", "heading", "ranges", "bearings"} - set(recording.variables)
        if missing:
            raise SandlotError(
                f"the recording has no {', '.join(sorted(missing))}; a sensorgraph needs scans and poses"
            )
        try:
            poses = np.column_stack([recording["position"].values, recording["heading"].values])
            seen, bearings = recording["ranges"].values, recording["bearings"].values
        except Exception as error:  # Zarr and its codecs raise nearly every kind
            raise SandlotError(f"the recording is damaged: {type(error).__name__}: {error}") from error
        known = np.isfinite(poses).all(1)
        if not known.any():
            raise SandlotError("the recording has no scan with a known pose; a sensorgraph needs some")
        poses = poses[known]
        ahead, left = settings(recording).get("laser_position", (0.0, 0.0)) if "settings" in recording.attrs else (0, 0)
        cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
        poses[:, 0] += ahead * cos - left * sin
        poses[:, 1] += ahead * sin + left * cos
        order, directed = _ordered(bearings[0].astype(np.float64))
        return cls(poses, seen[known][:, order].astype(np.float64), directed)

    @classmethod
    def join(cls, graphs: "Sequence[Sensorgraph]") -> Self:
        """All of several, of the same laser.

        Raises:
            SandlotError: If it is not the same.
        """
        first = graphs[0].bearings
        for each in graphs[1:]:
            if each.bearings.shape != first.shape or not np.allclose(each.bearings, first, atol=1e-4):
                raise SandlotError(
                    f"the logs are of different lasers, of {len(first)} and {len(each.bearings)} beams from "
                    f"{first[0]:.3g} and {each.bearings[0]:.3g} rad on; model each on its own"
                )
        return cls(np.concatenate([g.poses for g in graphs]), np.concatenate([g.ranges for g in graphs]), first)

    def check(self, count: int = SEGMENTS) -> None:
        """Refuse scans from which no model of so many segments can be made.

        Raises:
            SandlotError: If they have too few beams, or nothing ever came back.
        """
        if len(self.bearings) < count:
            raise SandlotError(
                f"a scan has {len(self.bearings)} of the {count} beams that {count} segments need at least"
            )
        if not np.isfinite(self.ranges).any():
            raise SandlotError("nothing came back in any scan; there is nothing to learn from")

    def __len__(self) -> int:
        """How many scans."""
        return len(self.poses)

    def part(self, which: ArrayLike | slice) -> "Sensorgraph":
        """Some of the scans."""
        chosen = which if isinstance(which, slice) else np.asarray(which)
        return Sensorgraph(self.poses[chosen], self.ranges[chosen], self.bearings)

    @cached_property
    def spread(self) -> float:
        """The whole field of view [rad]."""
        return float(np.ptp(self.bearings)) * len(self.bearings) / max(len(self.bearings) - 1, 1)

    @cached_property
    def middle(self) -> float:
        """Where the middle of the field of view is, from straight ahead [rad]."""
        found = float(self.bearings.mean())
        return found if abs(found) > 1e-9 else 0.0

    def split(self, share: float) -> "tuple[Sensorgraph, Sensorgraph]":
        """The first scans, and so large a share of them from the end."""
        first = len(self) - round(share * len(self))
        return self.part(slice(first)), self.part(slice(first, None))

    def segments(self, count: int = SEGMENTS) -> Array:
        """The median range of each part of every scan, from the right to the left: (samples, count) [m].

        Not a number where a part had no return at all.
        """
        return np.column_stack([_median(self.ranges[:, part]) for part in parts(len(self.bearings), count)])

    def centres(self, count: int = SEGMENTS) -> Array:
        """Where each of these parts looks, from straight ahead: (count,) [rad]."""
        return np.array([self.bearings[part].mean() for part in parts(len(self.bearings), count)])

    def windows(self, count: int = SEGMENTS, step: float = np.radians(5.0)) -> tuple[Array, Array, IntArray]:
        """Medians of windows as wide as a segment, but at every few degrees of a scan.

        To know what is seen in a direction it does not matter which part of the laser looks there: so a scan says much
        more than its six segments do.

        Args:
            count: How many segments a scan has; the windows are as wide as one of them.
            step: From window to window [rad].

        Returns:
            (windows, 3) x [m], y [m] and direction [rad]; (windows,) medians [m]; and (windows,) which scan each is
            of. Only windows with a return.
        """
        beams = len(self.bearings)
        wide = max(beams // count, 1)
        starts = np.arange(0, beams - wide + 1, max(1, round(step / (self.spread / beams))))
        medians = np.column_stack([_median(self.ranges[:, start : start + wide]) for start in starts])
        middles = np.array([self.bearings[start : start + wide].mean() for start in starts])
        poses = np.repeat(self.poses, len(starts), 0)
        poses[:, 2] += np.tile(middles, len(self))
        values = medians.ravel()
        known = np.isfinite(values)
        return poses[known], values[known], np.repeat(np.arange(len(self)), len(starts))[known]

    def coverage(self, bins: int = 12) -> xr.Dataset:
        """Histograms of x, y and heading: how many scans in each of so many equal parts."""
        limits = {"x": None, "y": None, "heading": (-np.pi, np.pi)}
        data = {}
        for k, (name, limit) in enumerate(limits.items()):
            values = wrap(self.poses[:, k]) if name == "heading" else self.poses[:, k]
            counts, edges = np.histogram(values, bins, limit)
            unit = "rad" if name == "heading" else "m"
            middle = (
                f"{name}_bin",
                0.5 * (edges[1:] + edges[:-1]),
                {"units": unit, "long_name": f"middle of a bin of {name}"},
            )
            data[name] = xr.DataArray(
                counts, {middle[0]: middle}, (middle[0],), attrs={"units": "1", "long_name": f"scans by {name}"}
            )
        return xr.Dataset(data)

    def thin(self, bins: int = 12) -> list[str]:
        """Where there are few scans, one line for each of x, y and heading; none if all is well covered."""
        found, coverage = [], self.coverage(bins)
        for name, counts in coverage.data_vars.items():
            few = counts.values < THIN * counts.values.mean()
            if few.any():
                places = ", ".join(f"{value:.1f}" for value in counts[counts.dims[0]].values[few])
                unit = "rad" if name == "heading" else "m"
                found.append(f"few scans around {name} = {places} {unit}: models know little there")
        return found


def parts(beams: int, count: int = SEGMENTS) -> list[IntArray]:
    """Which beams each segment has, from the right to the left."""
    return np.array_split(np.arange(beams), count)


def check_poses(poses: ArrayLike) -> Array:
    """Refuse what are no poses; returns them: (poses, 3) x [m], y [m] and heading [rad].

    Raises:
        SandlotError: If it is so.
    """
    array = np.ascontiguousarray(poses, np.float64)
    if array.ndim != 2 or array.shape[1] != 3:
        raise SandlotError(f"poses are x [m], y [m] and heading [rad], of shape (poses, 3), not {array.shape}")
    return array


def directions(poses: Array, centres: Array) -> Array:
    """Where each segment looks: (poses * segments, 3) x [m], y [m] and direction [rad].

    Args:
        poses: (poses, 3) of the laser.
        centres: (segments,) as `Sensorgraph.centres` [rad].
    """
    found = np.repeat(poses, len(centres), 0)
    found[:, 2] += np.tile(centres, len(poses))
    return found


def _ordered(bearings: Array) -> tuple[IntArray, Array]:
    """Beams from the right to the left, whichever way a laser turns and is mounted, and their bearings [rad]."""
    wrapped = np.where(np.abs(bearings) < np.pi, bearings, (bearings + np.pi) % (2.0 * np.pi) - np.pi)
    order = np.argsort(wrapped, kind="stable")
    gaps = np.diff(wrapped[order], append=wrapped[order[0]] + 2.0 * np.pi)
    if gaps.max() > 1.5 * np.median(gaps):  # not a full circle: begin behind the gap
        order = np.roll(order, -(int(np.argmax(gaps)) + 1))
    directed = wrapped[order]
    directed = np.where(directed < directed[0], directed + 2.0 * np.pi, directed)
    return order, directed - 2.0 * np.pi * np.round(directed.mean() / (2.0 * np.pi))


def _median(values: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a row without a return
        result: Array = np.nanmedian(values, 1)
    return result
