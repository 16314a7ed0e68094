"""Scans as a lidar makes them: of a device, an emulated one, or a recording; recorded and mapped on the way."""

import contextlib
import time
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sandlot.recordings.logs import read_scans
from sandlot.recordings.scans import Pose, Scan
from sandlot.sensing.rplidar.driver import Lidar
from sandlot.sensing.rplidar.receiver import Losses

if TYPE_CHECKING:
    from sandlot.mapping.mapper import Mapper
    from sandlot.recordings.scan_recorder import ScanRecorder

BEAMS = 720
"""Of a recording."""


@dataclass(frozen=True, slots=True)
class Live:
    """A scan as it was made.

    Attributes:
        scan: With the beams that were measured; its time is since the first scan, its pose that in the map, if any.
        even: With beams in fixed directions, as recordings keep them.
        complete: Whether nothing was lost in it.
    """

    scan: Scan
    even: Scan
    complete: bool = True


class Source(Protocol):
    """Where scans come from."""

    name: str

    def scans(self) -> Iterator[Live]:
        """Scans as they come."""

    def about(self) -> dict[str, Any]:
        """What a recording should keep about it."""

    @property
    def losses(self) -> Losses:
        """What was lost on the way."""


class LidarSource:
    """A lidar that scans.

    Args:
        lidar: That was started.
        yaw: Of its front on the robot, counter-clockwise [rad].
        beams: Of even scans.
    """

    def __init__(self, lidar: Lidar, yaw: float = 0.0, beams: int = BEAMS) -> None:
        self._lidar, self._yaw, self._beams = lidar, yaw, beams
        major, minor = lidar.info.firmware
        self.name = (
            f"RPLIDAR {lidar.info.name} at {lidar.name}, firmware {major}.{minor}, mode {lidar.mode.name}: "
            f"{1.0 / lidar.mode.period:,.0f} samples/s"
        )

    def scans(self) -> Iterator[Live]:
        """Whole turns, without end."""
        first: float | None = None
        limit = self._lidar.mode.max_range
        for turn in self._lidar.turns():
            first = turn.end if first is None else first
            scan, even = turn.scan(limit, self._yaw), turn.even_scan(self._beams, limit, self._yaw)
            at = turn.end - first
            yield Live(replace(scan, time=at), replace(even, time=at), turn.complete)

    def about(self) -> dict[str, Any]:
        """Model, serial number and mode."""
        info, mode = self._lidar.info, self._lidar.mode
        return {"lidar": {**asdict(info), "firmware": list(info.firmware)}, "mode": mode.name, "period": mode.period}

    @property
    def losses(self) -> Losses:
        """What was lost on the way."""
        return self._lidar.losses


class RecordedSource:
    """Scans of a recording or a log, at the pace at which they were made.

    Args:
        path: Of the recording or log.
        speed: Times faster.
    """

    losses = Losses()

    def __init__(self, path: Path, speed: float = 1.0) -> None:
        """Read it.

        Raises:
            SandlotError: It cannot be read.
        """
        self._log, self._speed, self.name = read_scans(path), speed, str(path)
        self._path = path

    def scans(self) -> Iterator[Live]:
        """Its scans."""
        begun, first = time.monotonic(), self._log.scans[0].time
        for scan in self._log.scans:
            at = scan.time - first
            time.sleep(max(at / self._speed - (time.monotonic() - begun), 0.0))
            shown = replace(scan, time=at)
            yield Live(shown, shown)

    def about(self) -> dict[str, Any]:
        """Its path."""
        return {"recording": str(self._path)}


class LiveScans:
    """Takes scans from a source, and records and maps them.

    Args:
        source: Of the scans.
        record: Directory of a recording to make.
        mapping: Whether to make a map, from scans alone.

    Attributes:
        mapper: Makes the map; None if none is made.
        count: Number of scans.
        damaged: Of these, how many lost samples.
        started: When the first came, in seconds since 1970 [s].
        rate: Scans per second of the last ten [1/s].
    """

    def __init__(self, source: Source, record: Path | None = None, mapping: bool = False) -> None:
        self._source = source
        self.mapper = _mapper() if mapping else None
        self.count = self.damaged = 0
        self.started, self.rate = time.time(), 0.0
        self._record = record

    def run(self) -> Generator[Scan, None, None]:
        """Scans as they come; the recording is closed when they end, or when the caller ends them."""
        times: list[float] = []
        about = {**self._source.about(), "start": self.started}
        with contextlib.ExitStack() as stack:
            recorder = None if self._record is None else stack.enter_context(_recorder(self._record, about))
            for live in self._source.scans():
                if not self.count:
                    self.started = time.time()
                scan, even = live.scan, live.even
                if self.mapper is not None:
                    pose = self.mapper.add(scan).pose
                    scan, even = replace(scan, pose=pose), replace(even, pose=pose)
                if recorder is not None:
                    recorder.add(even)
                self.count += 1
                self.damaged += not live.complete
                times = [*times[-10:], scan.time]
                taken = times[-1] - times[0]
                self.rate = (len(times) - 1) / taken if taken > 0.0 else 0.0
                yield scan

    @property
    def pose(self) -> Pose | None:
        """In the map; None without one."""
        return None if self.mapper is None else Pose(*self.mapper.pose.tolist())


def _mapper() -> "Mapper":
    """Loaded when a map is made: a mistake, or a scan on the screen, need not wait for it."""
    from sandlot.mapping.mapper import Mapper

    return Mapper(odometry=False)


def _recorder(path: Path, about: dict[str, Any]) -> "ScanRecorder":
    """Loaded when a recording is made, as above."""
    from sandlot.recordings.scan_recorder import ScanRecorder

    return ScanRecorder(path, about)
