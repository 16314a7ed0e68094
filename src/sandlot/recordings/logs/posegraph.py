"""Pose graphs of a SLAM system: VERTEX2 (a pose) before each ROBOTLASER1 (the scan made there).

Edges between poses are left out; the vertices are the best known poses.
"""

from collections.abc import Iterator

from sandlot.errors import quote
from sandlot.recordings.logs.carmen import laser_mount, parse_robotlaser, split
from sandlot.recordings.logs.source import Source, numbers
from sandlot.recordings.scans import Pose, Scan

VERTICES = ("VERTEX2", "VERTEX_SE2")
OTHERS = ("EDGE2", "EDGE_SE2", "EQUIV", "FIX")


def read_posegraph(source: Source) -> Iterator[Scan]:
    """Read the scans of a pose graph.

    A ROBOTLASER1 line belongs to the vertex before it. If the first time stamp is zero, the log has no times: then the
    number of a scan stands for its time, and a note says so.

    Yields:
        One scan for each ROBOTLASER1 line.

    Raises:
        DamagedError: A line is malformed, or a scan has no vertex.
    """
    pose: Pose | None = None
    start: float | None = None
    timeless, scans = False, 0
    for number, line in source.lines():
        words = split(line)
        name = words[0]
        if name.startswith("#") or name in OTHERS:
            continue
        try:
            if name in VERTICES:
                _, *values = numbers(words[1:5])
                pose = Pose(*values)
                continue
            if name != "ROBOTLASER1":
                raise ValueError(f"known are VERTEX2, ROBOTLASER1, {', '.join(OTHERS)}")
            if pose is None:
                raise ValueError("a vertex has to come before every scan")
            scan = parse_robotlaser(words)
            if start is None:
                start, timeless = scan.time, scan.time == 0.0
                source.settings["laser_position"] = list(laser_mount(words)[:2])
                source.settings["start"] = start
                if timeless:
                    source.note("the log has no times; the number of a scan stands for its time")
        except (ValueError, TypeError) as error:
            raise source.damaged(number, f"not a valid {name[:20]!r} line of a pose graph: {quote(error)}") from error
        time = float(scans) if timeless else scan.time - start
        yield Scan(time, scan.ranges, scan.bearings, pose, scan.odometry, scan.speed, scan.turn_rate)
        pose = None
        scans += 1
