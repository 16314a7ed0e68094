"""The elevation map of the climbing robot: panned scans of 19 lines of 512 beams each, cast at stairs and mapped.

The rays are those of floor plans, seen in the plane of each scan line (`sandlot.sensing.panned_laser`). MuJoCo casts
the same beams at the same stairs, and must measure the same ranges.
"""

from functools import partial
from typing import Any

import mujoco
import numpy as np

from _side_by_side import Comparison, best_rates, main
from sandlot.mapping.elevation_map import ElevationMap
from sandlot.physics.climbing.ground import Ground, empty_ground, set_ground
from sandlot.places.course_kinds import Stairs
from sandlot.places.courses import Course
from sandlot.sensing.panned_laser import PAN_ANGLES, PANS, PannedLaser, View
from sandlot.typing import Array

REPETITIONS, SCANS, PEER_SCANS = 7, 200, 5
LASER = PannedLaser()
MOUNT = np.array([0.15, 0.12])
MIDDLE = np.array([0.0, 0.1])


def scan(laser: PannedLaser, ground: Ground, view: View, count: int) -> float:
    """Scan; returns the number of beams."""
    generators = {0: np.random.default_rng(0)}
    for _ in range(count):
        laser.scan(ground, view, generators)
    return float(count * PANS * laser.beams)


def scan_and_map(ground: Ground, view: View) -> float:
    """Scan with all errors, put the scan into the map and read the map; returns the number of scans."""
    made, generators, driven = ElevationMap(1, 201, np.arange(PANS)), {0: np.random.default_rng(0)}, np.zeros(1)
    for k in range(SCANS):
        now = np.array([0.05 * k])
        made.add(LASER.scan(ground, view, generators), view, LASER.fan, driven, now)
        made.read(driven, view.middles[:, 1], now)
    return float(SCANS)


class Peer:
    """MuJoCo's rays at the same solids."""

    def __init__(self, course: Course) -> None:
        """Build the solids as boxes."""
        boxes = ""
        for corners in course.solids():
            (x, z), (dx, dz) = 0.5 * (corners.min(0) + corners.max(0)), 0.5 * np.ptp(corners, axis=0)
            boxes += f'<geom type="box" pos="{x} 0 {z}" size="{dx} 20 {dz}"/>'
        self.model: Any = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{boxes}</worldbody></mujoco>")
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        ahead, up = LASER.fan.directions
        parts = (np.outer(np.cos(PAN_ANGLES), ahead), np.outer(np.sin(PAN_ANGLES), ahead), np.tile(up, (PANS, 1)))
        self.beams = np.stack(parts, axis=-1).reshape(-1)
        self.ranges, self.hits = np.zeros(self.beams.size // 3), np.zeros(self.beams.size // 3, np.int32)

    def cast(self, count: int) -> float:
        """Cast all beams of so many scans; returns their number."""
        start = np.array([MIDDLE[0] + MOUNT[0], 0.0, MIDDLE[1] + MOUNT[1]])
        number, far = self.ranges.size, LASER.max_range
        for _ in range(count):
            mujoco.mj_multiRay(
                self.model, self.data, start, self.beams, None, 1, -1, self.hits, self.ranges, None, number, far
            )
        return float(count * number)

    def measured(self) -> Array:
        """Ranges of one scan, NaN without a return: (lines, beams) [m]."""
        self.cast(1)
        return np.where(self.ranges < 0.0, np.nan, self.ranges).reshape(PANS, -1)


def compare() -> list[Comparison]:
    """Measure panned scans of 19 x 512 beams, with and without errors, and their way into the map."""
    course = Stairs(distance=1.0).draw(np.random.default_rng(0))
    ground = set_ground(empty_ground(1), 0, course.outlines(), course.near, course.end)
    view = View(MIDDLE[None], np.zeros((1, 3)), MOUNT, np.arange(PANS)[None])
    exact, peer = LASER.exact(), Peer(course)
    if not np.allclose(exact.scan(ground, view, {})[0], peer.measured(), atol=1e-6, equal_nan=True):
        raise SystemExit("MuJoCo and Sandlot do not measure the same")
    works = (partial(scan, exact, ground, view, SCANS), partial(peer.cast, PEER_SCANS))
    rays, other, noisy, maps = best_rates(
        REPETITIONS, *works, partial(scan, LASER, ground, view, SCANS), partial(scan_and_map, ground, view)
    )
    return [
        Comparison("rays of a panned scan, one core", rays, "rays/s", other, at_least=10),
        Comparison("the same with noise and missing returns, one core", noisy, "rays/s"),
        Comparison("a panned scan of 19 x 512 beams, cast and mapped, one core", 1e3 / maps, "ms", at_most=1.0),
    ]


if __name__ == "__main__":
    main(compare)
