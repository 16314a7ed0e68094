"""Recordings and tables that soil is fitted to, by their paths."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.models.card import TrainingData
from sandlot.recordings.digests import digest
from sandlot.settings import Settings
from sandlot.surrogates.soil.columns import read_columns
from sandlot.surrogates.soil.evidence import Evidence
from sandlot.surrogates.soil.rover_log import TERRAIN, check_quantities, interval_of, make_log, read_logs
from sandlot.surrogates.soil.shooting import Shooting
from sandlot.surrogates.soil.tables import rig_of

DEFAULT_ROVER = "wheeled"


class ReadSettings(Settings):
    """What is read of recordings.

    Attributes:
        rover: ``wheeled``, ``tracked`` or a TOML file; if left out, that of a recording of the terrain world.
        soil: Which soil of a table with several.
        seconds: Of each drive that are used at most [s].
        window: Time after which a simulated rover is put back to where it was recorded [s].
    """

    rover: str | None = None
    soil: str | None = None
    seconds: float = Field(10.0, gt=0.0)
    window: float = Field(0.5, gt=0.0)


def read_evidence(paths: Sequence[Path], given: ReadSettings) -> list[Evidence]:
    """Everything in recordings, and in ``.csv`` tables of plates, wheels or logs.

    Raises:
        SandlotError: If one cannot be read, lacks quantities, or is too short.
    """
    found: list[Evidence] = []
    for path in paths:
        more = _of_table(path, given) if path.suffix == ".csv" else _of_recording(path, given)
        if not more:
            raise RecordingError(f"{path} has no drive of at least {given.window:g} s; give a longer one")
        found += more
    return found


def _of_table(path: Path, given: ReadSettings) -> list[Evidence]:
    columns = read_columns(path, given.soil)
    rigs = rig_of(columns, path)
    if rigs is not None:
        return rigs
    check_quantities(columns, path)
    interval = interval_of(columns["time"], path)
    frames = round(given.seconds / interval) + 1
    log = make_log(path, interval, {name: each[:frames] for name, each in columns.items()}, False, None)
    return [Shooting(log, given.rover or DEFAULT_ROVER, given.window)] if log.seconds >= given.window - 1e-9 else []


def _of_recording(path: Path, given: ReadSettings) -> list[Evidence]:
    recording = recordings.open(path)
    rover = given.rover
    if rover is None and recording.attrs.get("world") == TERRAIN:
        rover = str((recordings.settings(recording).get("rovers") or [DEFAULT_ROVER])[0])
    logs = read_logs(path, given.seconds, given.window)
    return [Shooting(log, rover or DEFAULT_ROVER, given.window) for log in logs]


def training_data(paths: Sequence[Path]) -> list[TrainingData]:
    """What a card says about recordings; tables are not recordings, and are left out."""
    opened = {path: recordings.open(path) for path in paths if path.suffix != ".csv"}
    return [
        TrainingData(path=str(path), digest=digest(each), frames=int(each.sizes["time"]))
        for path, each in opened.items()
    ]
