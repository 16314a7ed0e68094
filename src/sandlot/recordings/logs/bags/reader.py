"""Reads the scans of a bag by log time, each with the pose of its moment."""

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sandlot.extras import need
from sandlot.geometry.planar import compose
from sandlot.recordings.logs.bags.decoding import decode
from sandlot.recordings.logs.bags.files import read_messages
from sandlot.recordings.logs.bags.survey import LaserScan, Layout, Survey, read_scan
from sandlot.recordings.logs.bags.transforms import directions
from sandlot.recordings.logs.source import Source
from sandlot.recordings.scans import Pose, Scan

SORT_BYTES = 2**25
"""Maximum bytes of scans that are held in memory to sort them."""


def read_bag(source: Source) -> Iterator[Scan]:
    """Read the scans of a bag of ROS 1 or ROS 2, in a file or a directory, in the order they were logged.

    Poses by odometry are those of the first Odometry topic, else of ``odom`` in tf, interpolated between the messages
    before and after a scan. Where tf also has ``map``, the best known pose is on the map. The laser's pose on the robot
    comes from tf. Yaws by an inertial unit are those of the first Imu topic. Times count from the first scan.

    Yields:
        One scan for each LaserScan message of ``source.topic``, or else of the first such topic.

    Raises:
        DamagedError: The bag cannot be read any further.
        LogError: The topic was not found.
    """
    need("rosbags", "logs")
    survey = Survey(source)
    logged = np.array(survey.stream.logged, np.int64)
    if len(logged):
        yield from _scans(source, survey, logged)
    if survey.damage:
        raise survey.damage


def _scans(source: Source, survey: Survey, logged: NDArray[np.int64]) -> Iterator[Scan]:
    mount, layout = survey.mount, survey.stream.layout
    if mount is None:
        source.note("the bag does not say where the laser is; it is taken to be at the robot's centre")
        mount = np.eye(4)
    if not len(survey.odometry):
        source.note("the bag has no odometry; poses are NaN")
    bearings = directions(mount, layout.angles)
    start: int | None = None
    refitted = uncorrected = 0
    for logged_at, scan in _in_order(source, survey, logged):
        if start is None:
            start = scan.time
            source.settings |= {
                "topic": survey.topic,
                "start": start / 1e9,
                "laser_position": [float(mount[0, 3]), float(mount[1, 3])],
            }
        odometry = survey.odometry.at(scan.time, logged_at)
        correction = survey.corrections.latest(logged_at)
        pose = Pose(*compose(correction, odometry.pose).tolist()) if correction else odometry.pose
        uncorrected += correction is None
        ranges = _fit(scan, layout)
        refitted += ranges is not scan.ranges
        yield Scan(
            (scan.time - start) / 1e9,
            ranges,
            bearings,
            pose,
            odometry.pose,
            odometry.speed,
            odometry.turn_rate,
            inertial_yaw=survey.inertial.yaw(scan.time, logged_at) if survey.inertial else math.nan,
        )
    for note in survey.odometry.notes():
        source.note(note)
    if uncorrected and len(survey.corrections):
        source.note(f"{uncorrected:,} scans come before the first pose on the map; their poses are by odometry")
    if refitted:
        source.note(f"{refitted:,} scans had other beams than most; each range went to the nearest beam")


def _in_order(source: Source, survey: Survey, logged: NDArray[np.int64]) -> Iterator[tuple[int, LaserScan]]:
    """Scans by the time they were logged [ns].

    If the bag has them in that order, they are passed on; else each pass over the bag sorts as many as fit into memory.
    """
    if (np.diff(logged) >= 0).all():
        source.passes, source.finished_passes = 2, 1
        yield from _in_file(source, survey)
        return
    rank = np.empty(len(logged), np.int64)
    rank[np.argsort(logged, kind="stable")] = np.arange(len(logged))
    window = max(1, SORT_BYTES // (4 * max(layout.beams for layout in survey.stream.layouts) + 500))
    starts = range(0, len(logged), window)
    source.passes = 1 + len(starts)
    for number, first in enumerate(starts):
        source.finished_passes = 1 + number
        held = [
            (place, each)
            for place, each in zip(rank.tolist(), _in_file(source, survey), strict=False)
            if first <= place < first + window
        ]
        for _, each in sorted(held, key=lambda pair: pair[0]):
            yield each


def _in_file(source: Source, survey: Survey) -> Iterator[tuple[int, LaserScan]]:
    """When each scan of the chosen laser was logged [ns], and the scan, in file order."""
    for message in islice(read_messages(source), survey.messages):
        if message.kind == "LaserScan" and message.topic == survey.topic:
            try:
                scan = read_scan(message, decode(message))
            except ValueError:  # the survey has counted it
                continue
            if scan.frame == survey.frame:
                yield message.time, scan


def _fit(scan: LaserScan, layout: Layout) -> NDArray[np.float32]:
    """The ranges at the beams of ``layout``; some lasers have a few more or fewer beams every turn."""
    if scan.layout == layout:
        return scan.ranges
    wanted, given = layout.angles, scan.layout.angles
    step = layout.step if layout.beams > 1 else 1.0
    if len(wanted) == len(given) and abs(wanted - given).max() <= abs(step) / 2:
        return scan.ranges
    fitted = np.full(len(wanted), np.nan, np.float32)
    with np.errstate(all="ignore"):
        places = np.round((given - wanted[0]) / step)
    inside = (places >= 0) & (places < len(wanted)) & np.isfinite(scan.ranges)
    fitted[places[inside].astype(int)] = scan.ranges[inside]
    return fitted
