"""Logs of a pose graph: what a SLAM system has made of a drive, VERTEX2 (where) before ROBOTLASER1 (what was seen).

Edges between poses are left out; the poses are the best that is known.
"""

from collections.abc import Iterator

from sandlot.recordings.logs.carmen import mounting, robotlaser, split
from sandlot.recordings.logs.scans import Pose, Scan
from sandlot.recordings.logs.source import Source, numbers

OTHERS = ("EDGE2", "EDGE_SE2", "EQUIV", "FIX")


def read_posegraph(source: Source) -> Iterator[Scan]:
    """Read the scans of a pose graph.

    A ROBOTLASER1 line belongs to the vertex before it. If its time stamp is zero, nobody knows when it was; then a
    scan's number stands for its time, and a note says so.

    Yields:
        One scan for each ROBOTLASER1 line.

    Raises:
        DamagedError: A line is not what its name says, or a scan has no vertex.
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
            if name in ("VERTEX2", "VERTEX_SE2"):
                _, *values = numbers(words[1:5])
                pose = Pose(*values)
                continue
            if name != "ROBOTLASER1":
                raise ValueError(f"known are VERTEX2, ROBOTLASER1, {', '.join(OTHERS)}")
            if pose is None:
                raise ValueError("a vertex has to come before every scan")
            scan = robotlaser(words)
            if start is None:
                start, timeless = scan.time, scan.time == 0.0
                source.settings["laser_position"] = list(mounting(words)[:2])
                source.settings["start"] = start
                if timeless:
                    source.note("the log has no times; the number of a scan stands for its time")
        except (ValueError, TypeError) as error:
            raise source.damaged(number, f"no {name[:20]!r} line of a pose graph: {error}") from error
        time = float(scans) if timeless else scan.time - start
        yield Scan(time, scan.ranges, scan.bearings, pose, scan.odometry, scan.speed, scan.turn)
        pose = None
        scans += 1
