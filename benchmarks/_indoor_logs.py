"""Scan matching and mapping of a real log, compared with KISS-ICP on the same scans.

The log is fr079: 4,791 scans that were driven in 1,061 s. It is not part of Sandlot; without it, these rows are left
out, and a line says so. Rates are per second of processor time of one core.
"""

import math
import sys
from functools import partial
from pathlib import Path

import numpy as np

from _side_by_side import Comparison, best_rates
from sandlot.mapping.mapper import MAX_RANGE
from sandlot.mapping.matching.field import add_points, make_field
from sandlot.mapping.matching.matcher import Expected, match
from sandlot.mapping.matching.points import scan_points
from sandlot.recordings.logs import ScanLog, read_scans
from sandlot.recordings.logs.data import VARIABLE, locate_log
from sandlot.studies.indoor.logs import FILES, mapped, run_kiss_icp

SECONDS = 60.0
"""Bar of the whole log [s]."""
MATCHES = 200


def match_often(log: ScanLog) -> float:
    """Match a scan with a map of the one before, from offsets within the search window; returns the number."""
    before, first = (scan_points(scan, log.mount, max_range=MAX_RANGE) for scan in log.scans[:2])
    field = make_field(20.0, 5)
    add_points(field, before)
    truth = match(field, first, Expected(np.zeros(3), 0.1, 0.1)).pose
    rng = np.random.default_rng(0)
    for offset in rng.uniform((-0.2, -0.2, -0.2), (0.2, 0.2, 0.2), (MATCHES, 3)):
        found = match(field, first, Expected(truth + offset, 0.1, 0.1))
        if found.reason or math.dist(found.pose[:2], truth[:2]) > 0.02:
            raise SystemExit("a scan was not found in a map of the one before")
    return float(MATCHES)


def map_all(log: ScanLog) -> float:
    """Map a log from scans alone; returns the number of scans."""
    mapped(log, "scans")
    return float(len(log.scans))


def peer_all(log: ScanLog) -> float:
    """The same scans by KISS-ICP."""
    run_kiss_icp(log)
    return float(len(log.scans))


def compare_logs() -> list[Comparison]:
    """Rates of matching and mapping; none without the log."""
    path = locate_log(Path(FILES["fr079"]))
    if not path.exists():
        print(f"left out: mapping, since there is no log {path}; set {VARIABLE} to its folder", file=sys.stderr)
        return []
    log = read_scans(path)
    short = ScanLog(log.scans[:50], log.mount, log.start, ())
    match_often(short)
    map_all(short)
    (matches,) = best_rates(3, partial(match_often, log))
    ours, peer = best_rates(2, partial(map_all, log), partial(peer_all, log))
    many = len(log.scans)
    return [
        Comparison("a scan of fr079 matched within 30 cm and 17 degrees", 1e3 / matches, "ms"),
        Comparison(f"fr079, {many:,} scans, mapped with loop closing", many / ours, "s", at_most=SECONDS),
        Comparison("the same against KISS-ICP, which does not close loops", ours, "scans/s", peer),
    ]
