"""Exports a recording as it looks: for Foxglove, for rerun, or as a video."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from sandlot import recordings
from sandlot.errors import RecordingError, SettingError
from sandlot.worlds.picture import picture
from sandlot.worlds.replay import moments, steps_a_second
from sandlot.worlds.video import Video
from sandlot.writing import drafted

Target = Literal["mcap", "rerun", "mp4", "gif", "webp"]
SUFFIXES: dict[Target, str] = {"mcap": ".mcap", "rerun": ".rrd", "mp4": ".mp4", "gif": ".gif", "webp": ".webp"}
RATE = 30.0
"""At most so many moments of a second are exported for viewers."""


def export_scenes(
    recording: Path, to: Target, out: Path, progress: Callable[[int, int], None], speed: float = 1.0
) -> int:
    """Replay a recording and write what there is to draw.

    Args:
        recording: Of any world, or of a log with scans.
        to: For which viewer.
        out: The file, which must not exist.
        progress: Called with the number of frames that are done, and of all.
        speed: Of a video, relative to real time.

    Returns:
        How many moments were written.

    Raises:
        SandlotError: The recording cannot be replayed, or the file not be written. Then there is no file.
    """
    if out.suffix.lower() != SUFFIXES[to]:
        raise SettingError(f"{out.name}: a file for {to} ends in {SUFFIXES[to]}")
    with recordings.open(recording) as dataset:
        total = dataset.sizes["time"]
    rate, count = steps_a_second(recording), 0
    if to in ("mp4", "gif", "webp"):
        with Video(out, rate, speed) as film:
            for moment in moments(recording, film.every):
                film.put(picture(moment.scene))
                count += 1
                progress(moment.number + 1, total)
        return count
    from sandlot.worlds.viewers.foxglove import FoxgloveWriter
    from sandlot.worlds.viewers.rerun import RerunWriter

    every = max(1, round(rate / RATE))
    with drafted(out, RecordingError) as draft, (FoxgloveWriter if to == "mcap" else RerunWriter)(draft) as writer:
        for moment in moments(recording, every):
            writer.write(moment)
            count += 1
            progress(moment.number + 1, total)
    return count
