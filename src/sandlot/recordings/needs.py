"""What recordings need to hold, by what is done with them: checked before libraries that read recordings are loaded."""

from pathlib import Path

from sandlot.errors import RecordingError
from sandlot.reading import check_recording, lacking

SCANS = ("ranges", "bearings")
SENSOR = ("bearings", "ranges", "x", "y", "yaw")
"""To fit a sensor model."""
MOTION = ("x", "y", "z", "roll", "pitch", "yaw", "dx", "dy", "wheel_speed_left", "wheel_speed_right")
COMMANDS = ("command_speed", "command_turn_rate")
GROUND = ("heights", "height_change", "window_row", "window_column")
ROVER = (*MOTION, *COMMANDS, *GROUND)
"""To fit a learned rover."""
SOIL = ("x", "y", "yaw", "wheel_speed_left", "wheel_speed_right")
"""To fit soil, besides time."""
MESSAGES = {
    SCANS: "{path} is not a recording of scans: it has no {missing}",
    SENSOR: "{path}: the recording has no {missing}; a sensor model needs scans and poses",
    ROVER: "{path} lacks {missing}; a model of a rover needs them in its recordings",
    SOIL: "{path} lacks {missing}; to fit soil, a log needs time, {all}",
}


def check_needs(path: Path, needs: tuple[str, ...]) -> None:
    """Refuse a recording that lacks quantities.

    Args:
        path: Of the recording.
        needs: One of the constants above.

    Raises:
        RecordingError: There is no recording, or it lacks some; the message names them.
    """
    check_recording(path)
    if missing := lacking(path, needs):
        said = MESSAGES[needs].format(path=path, missing=", ".join(missing), all=", ".join(needs))
        raise RecordingError(said)
