"""A sensorgraph: laser scans with their poses, the training data of sensor models."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from sandlot.errors import ModelError, RecordingError
from sandlot.geometry.planar import rotate, wrap, wrap_below_pi
from sandlot.recordings import settings
from sandlot.recordings.needs import SENSOR
from sandlot.typing import Array, IntArray

SEGMENTS = 6
"""Number of segments of a scan: as in the source, 180 degrees in six segments of 30 degrees."""
THIN = 0.25
"""A bin of a histogram with less than this share of the mean count has few scans."""


@dataclass(frozen=True)
class Sensorgraph:
    """Scans with their poses.

    Attributes:
        poses: (samples, 3) x [m], y [m] and yaw [rad] of the laser.
        ranges: (samples, beams) [m], NaN without a return.
        bearings: (beams,) [rad] evenly spaced, from right to left; 0 is straight ahead.
    """

    poses: Array
    ranges: Array
    bearings: Array

    @classmethod
    def of(cls, recording: xr.Dataset) -> Self:
        """Read a recording of a robot with a laser, simulated or real.

        Poses are moved from the robot's centre to its laser, if the recording's settings have ``laser_position``. Beams
        are sorted from right to left.

        Raises:
            RecordingError: If the recording has no scans or no poses, or is damaged.
        """
        missing = [name for name in SENSOR if name not in recording.variables]
        if missing:
            raise RecordingError(f"the recording has no {', '.join(missing)}; a sensor model needs scans and poses")
        try:
            poses = np.column_stack([recording[name].values for name in ("x", "y", "yaw")])
            ranges, bearings = recording["ranges"].values, recording["bearings"].values
        except Exception as error:  # Zarr and its codecs raise nearly every kind
            raise RecordingError(f"the recording is damaged: {type(error).__name__}: {error}") from error
        table = bearings.ndim == ranges.ndim == 2 and bearings.size and bearings.shape[1] == ranges.shape[1]
        if not table or not np.isfinite(bearings[0]).all():
            raise RecordingError(
                "the bearings of the beams are missing, or do not match the ranges; record or import it again"
            )
        known = np.isfinite(poses).all(1)
        if not known.any():
            raise RecordingError("the recording has no scan with a known pose")
        made_with = settings(recording) if "settings" in recording.attrs else {}
        poses = poses[known]
        poses[:, :2] += rotate(made_with.get("laser_position", (0.0, 0.0)), poses[:, 2])
        order, directed = _ordered(bearings[0].astype(np.float64))
        return cls(poses, ranges[known][:, order].astype(np.float64), directed)

    @classmethod
    def join(cls, graphs: "Sequence[Sensorgraph]") -> Self:
        """Concatenate the scans of several logs.

        Raises:
            ModelError: If the logs are of different lasers.
        """
        first = graphs[0].bearings
        for each in graphs[1:]:
            if each.bearings.shape != first.shape or not np.allclose(each.bearings, first, atol=1e-4):
                raise ModelError(
                    f"the logs are of different lasers: {len(first)} beams from {first[0]:.3g} rad on, and "
                    f"{len(each.bearings)} beams from {each.bearings[0]:.3g} rad on; fit one model for each"
                )
        return cls(np.concatenate([g.poses for g in graphs]), np.concatenate([g.ranges for g in graphs]), first)

    def check(self, count: int = SEGMENTS) -> None:
        """Check that a model with ``count`` segments can be fitted.

        Raises:
            ModelError: If there are no scans, too few beams, or no returns.
        """
        if not len(self):
            raise ModelError("there are no scans to fit a model to")
        if len(self.bearings) < count:
            raise ModelError(f"a scan has {len(self.bearings)} beams; {count} segments need at least {count}")
        if not np.isfinite(self.ranges).any():
            raise ModelError("no beam of any scan has a return; there is nothing to fit a model to")

    def __len__(self) -> int:
        """Number of scans."""
        return len(self.poses)

    def part(self, which: ArrayLike | slice) -> "Sensorgraph":
        """A subset of the scans."""
        chosen = which if isinstance(which, slice) else np.asarray(which)
        return Sensorgraph(self.poses[chosen], self.ranges[chosen], self.bearings)

    @cached_property
    def field_of_view(self) -> float:
        """Angle that the beams cover [rad]."""
        return float(np.ptp(self.bearings)) * len(self.bearings) / max(len(self.bearings) - 1, 1)

    @cached_property
    def centre_bearing(self) -> float:
        """Bearing of the centre of the field of view [rad]."""
        found = float(self.bearings.mean())
        return found if abs(found) > 1e-9 else 0.0

    def split(self, share: float) -> "tuple[Sensorgraph, Sensorgraph]":
        """Split into the first scans and the given share of scans at the end."""
        first = len(self) - round(share * len(self))
        return self.part(slice(first)), self.part(slice(first, None))

    def folds(self, count: int) -> "Iterator[tuple[Sensorgraph, IntArray]]":
        """Cross-validation: for each contiguous part of the log, all other scans, and the indices of the part.

        A part is left out if it has no scan, or if the other scans have no return.
        """
        every = np.arange(len(self))
        for part in np.array_split(every, count):
            others = self.part(np.delete(every, part))
            if len(part) and np.isfinite(others.ranges).any():
                yield others, part

    def segments(self, count: int = SEGMENTS) -> Array:
        """Median range of each segment of every scan, from right to left: (samples, count) [m].

        NaN where a segment has no return.
        """
        return np.column_stack([_median(self.ranges[:, part]) for part in parts(len(self.bearings), count)])

    def segment_bearings(self, count: int = SEGMENTS) -> Array:
        """Bearing of the centre of each segment: (count,) [rad]."""
        return np.array([self.bearings[part].mean() for part in parts(len(self.bearings), count)])

    def windows(self, count: int = SEGMENTS, step: float = np.radians(5.0)) -> tuple[Array, Array, IntArray]:
        """Medians of overlapping windows that are as wide as a segment.

        The range in a direction does not depend on which beams measure it. So a scan gives many more samples than its
        segments.

        Args:
            count: Number of segments of a scan; a window is as wide as one of them.
            step: Angle between neighbouring windows [rad].

        Returns:
            (windows, 3) x [m], y [m] and direction in the world [rad]; (windows,) medians [m]; and (windows,) index
            of the scan. Windows without a return are left out.
        """
        beams = len(self.bearings)
        width = max(beams // count, 1)
        starts = np.arange(0, beams - width + 1, max(1, round(step / (self.field_of_view / beams))))
        medians = np.column_stack([_median(self.ranges[:, start : start + width]) for start in starts])
        centres = np.array([self.bearings[start : start + width].mean() for start in starts])
        poses = np.repeat(self.poses, len(starts), 0)
        poses[:, 2] += np.tile(centres, len(self))
        values = medians.ravel()
        known = np.isfinite(values)
        return poses[known], values[known], np.repeat(np.arange(len(self)), len(starts))[known]

    def coverage(self, bins: int = 12) -> xr.Dataset:
        """Histograms of x, y and yaw: number of scans in each of ``bins`` equal bins."""
        data = {}
        for k, (name, unit) in enumerate((("x", "m"), ("y", "m"), ("yaw", "rad"))):
            values, limits = (wrap(self.poses[:, k]), (-np.pi, np.pi)) if name == "yaw" else (self.poses[:, k], None)
            counts, edges = np.histogram(values, bins, limits)
            dim, about = f"{name}_bin", {"units": unit, "long_name": f"centre of a bin of {name}"}
            centres = (dim, 0.5 * (edges[1:] + edges[:-1]), about)
            data[name] = xr.DataArray(
                counts, {dim: centres}, (dim,), attrs={"units": "1", "long_name": f"scans by {name}"}
            )
        return xr.Dataset(data)

    def thin(self, bins: int = 12) -> list[str]:
        """One line for each of x, y and yaw that says where there are few scans; empty if coverage is even."""
        found = []
        for name, counts in self.coverage(bins).data_vars.items():
            few = counts.values < THIN * counts.values.mean()
            if few.any():
                centres = counts[counts.dims[0]]
                places = ", ".join(f"{value:.1f}" for value in centres.values[few])
                found.append(
                    f"few scans around {name} = {places} {centres.attrs['units']}: the model is unreliable there"
                )
        return found


def parts(beams: int, count: int = SEGMENTS) -> list[IntArray]:
    """Indices of the beams of each segment, from right to left."""
    return np.array_split(np.arange(beams), count)


def fallback(medians: Array) -> Array:
    """Median range of each segment, which models predict where they know nothing: (segments,) [m].

    A segment without any return gets the median of all.

    Args:
        medians: (samples, segments) from `Sensorgraph.segments` [m].
    """
    never = np.isnan(medians).all(0)
    result: Array = np.nanmedian(np.where(never, np.nanmedian(medians), medians), 0)
    return result


def check_poses(poses: ArrayLike) -> Array:
    """Poses as an array (poses, 3): x [m], y [m] and yaw [rad].

    Raises:
        ModelError: If the shape is another.
    """
    array = np.ascontiguousarray(poses, np.float64)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ModelError(f"poses are x [m], y [m] and yaw [rad], of shape (poses, 3), not {array.shape}")
    return array


def directions(poses: Array, bearings: Array) -> Array:
    """The ray of each segment: (poses * segments, 3) x [m], y [m] and direction in the world [rad].

    Args:
        poses: (poses, 3) of the laser.
        bearings: (segments,) as `Sensorgraph.segment_bearings` [rad].
    """
    found = np.repeat(poses, len(bearings), 0)
    found[:, 2] += np.tile(bearings, len(poses))
    return found


def _ordered(bearings: Array) -> tuple[IntArray, Array]:
    """Order of the beams from right to left, however the laser turns and is mounted, and their bearings [rad]."""
    wrapped = wrap_below_pi(bearings)
    order = np.argsort(wrapped, kind="stable")
    gaps = np.diff(wrapped[order], append=wrapped[order[0]] + 2.0 * np.pi)
    if gaps.max() > 1.5 * np.median(gaps):  # not a full circle: the first beam is the one after the gap
        order = np.roll(order, -(int(np.argmax(gaps)) + 1))
    directed = wrapped[order]
    directed = np.where(directed < directed[0], directed + 2.0 * np.pi, directed)
    return order, directed - 2.0 * np.pi * np.round(directed.mean() / (2.0 * np.pi))


def _median(values: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # rows without a return
        result: Array = np.nanmedian(values, 1)
    return result
