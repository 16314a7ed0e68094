"""Opens a recording as a labelled dataset, or says in one line why it cannot.

Zarr reads a missing chunk as zeros, so `open` checks that every chunk is there before it returns any number.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sandlot.errors import RecordingError, SandlotError, os_reason, quote
from sandlot.reading import MAX_BYTES, check_recording, check_regular, parse_json
from sandlot.recordings.columns import row_count
from sandlot.recordings.frames import ONCE
from sandlot.recordings.zarr_store import FORMAT, FORMAT_VERSION


def open(path: str | Path) -> xr.Dataset:
    """Open a recording, finished, still being written, or left behind by a killed process.

    Numbers other than ``time`` are read from disk when they are used; a chunk whose bytes were changed fails its
    checksum then, and raises.

    Args:
        path: Directory written by `Writer`.

    Returns:
        The flushed frames: each quantity with dims ``("time", ...)``, ``units`` and ``long_name``, and ``time``
        as coordinate; a quantity that was not kept in every frame with ``("time_<name>", ...)`` and the times of
        its frames as coordinate. The attributes hold ``world``, ``settings`` (JSON text, which `settings` reads),
        ``outcomes`` of its episodes if there are any (JSON text, which `outcomes` reads), ``seed`` if there was any,
        ``version`` of Sandlot, ``created`` (UTC), and the number of ``frames``. They are texts and numbers, so that
        ``to_netcdf`` accepts them; seeds from 2**31 on need 64-bit integers there.

    Raises:
        RecordingError: There is no recording at ``path``, it is damaged, or a newer Sandlot wrote it.
    """
    path = Path(path)
    root = _read_root(path)
    try:
        for name, array in root["consolidated_metadata"]["metadata"].items():
            _read_metadata(path / name / "zarr.json")
            _check_chunks(path, name, array, root["attributes"]["frames"])
        # The consolidated metadata hold the committed shapes; those of the arrays themselves lag behind.
        dataset: xr.Dataset = xr.open_zarr(path, consolidated=True, chunks=None, decode_cf=False)
        dict(parse_json(dataset.attrs["settings"]))
        if dataset.attrs["seed"] is None:  # netCDF has no null
            del dataset.attrs["seed"]
        time = dataset["time"]
        for name, values in dataset.data_vars.items():
            if (every := values.attrs.get("every", 1)) > 1:
                dataset[name].attrs["every"] = min(every, ONCE)  # earlier versions wrote 2**31, too much for netCDF
                dim = values.dims[0]
                about = {**time.attrs, "long_name": f"{time.attrs['long_name']}, frames with {name}"}
                dataset = dataset.assign_coords({dim: (dim, time.values[::every], about)})
    except SandlotError:
        raise
    except Exception as error:  # Zarr, its codecs and xarray raise nearly every kind
        if isinstance(error, OSError) and not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise _unreadable(path, error) from error
        raise _damaged(path, f"{type(error).__name__}: {quote(error)}") from error
    return dataset


def episode(recording: xr.Dataset, number: int) -> xr.Dataset:
    """The frames of one episode, whose times ascend: ``episode(recording, 2).sel(time=1.5, method="nearest")``.

    The time of a world begins anew with each episode, so that a whole recording may have the same time more than once.

    Args:
        recording: What `open` returned.
        number: Which episode, from 0. A recording of one episode, such as a log of a real robot, has only 0.

    Raises:
        RecordingError: There is no such episode.
    """
    frames = recording.sizes["time"]
    numbers = recording["episode"].values if "episode" in recording else np.zeros(frames, np.int64)
    mine = np.flatnonzero(numbers == number)
    if not len(mine):
        known = f"0 to {int(numbers.max())}" if frames else "none"
        raise RecordingError(f"the recording has no episode {quote(number)}; its episodes: {known}")
    first, end = int(mine[0]), int(mine[-1]) + 1
    rows = {"time": slice(first, end)}
    for values in recording.data_vars.values():
        every = int(values.attrs.get("every", 1))
        if 1 < every < ONCE:  # what never changes stays
            rows[str(values.dims[0])] = slice(row_count(first, every), row_count(end, every))
    return recording.isel(rows)


def settings(recording: xr.Dataset) -> dict[str, Any]:
    """What a recording was made with, be it opened here or read back from another format.

    Raises:
        RecordingError: Its settings are not a JSON table.
    """
    try:
        found: dict[str, Any] = parse_json(recording.attrs["settings"])
        return dict(found)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordingError(f"the settings of the recording are damaged: {quote(error)}") from error


def outcomes(recording: xr.Dataset) -> list[dict[str, float]]:
    """Outcomes of each episode of a world that has ended, by name; NaN where one does not apply.

    Raises:
        RecordingError: They are damaged.
    """
    try:
        found = parse_json(recording.attrs.get("outcomes", "[]"))
        return [{str(k): float("nan") if v is None else float(v) for k, v in dict(each).items()} for each in found]
    except (TypeError, ValueError) as error:
        raise RecordingError(f"the outcomes of the recording are damaged: {quote(error)}") from error


def _read_root(path: Path) -> dict[str, Any]:
    """The root metadata of a recording whose format this version knows."""
    try:
        check_recording(path)
        root: dict[str, Any] = _read_metadata(path / "zarr.json")
        attributes = root.get("attributes", {})
        known = attributes.get("format") == FORMAT
        newer = known and attributes["format_version"] > FORMAT_VERSION
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, f"its zarr.json cannot be understood ({quote(error)})") from error
    if not known:
        raise RecordingError(f"{path} is a Zarr store but not a recording; give one that Sandlot has written")
    if newer:
        raise RecordingError(
            f"{path} has recording format {quote(attributes['format_version'])}, "
            f"newer than {FORMAT_VERSION}, the newest known here; update Sandlot"
        )
    return root


def _read_metadata(file: Path) -> Any:
    check_regular(file)
    with file.open("rb") as opened:
        return parse_json(opened.read(MAX_BYTES))


def _check_chunks(path: Path, name: str, array: dict[str, Any], frames: int) -> None:
    """Raise unless the array has one row for each frame it is kept in, and a non-empty file for each chunk."""
    found, *lengths = array["shape"]
    every = array["attributes"].get("every", 1)
    if found != row_count(frames, every):
        raise _damaged(path, f"{quote(name)} has {quote(found)} rows, not one for every {every} of {frames} frames")
    if 0 in lengths:
        return
    chunk = array["chunk_grid"]["configuration"]["chunk_shape"][0]
    with os.scandir(path / name) as entries:
        present = {entry.name for entry in entries if entry.stat().st_size}
    for number in range(-(-found // chunk)):
        if ".".join(["c", str(number), *("0" for _ in lengths)]) not in present:
            first, last = every * number * chunk, every * (min(found, (number + 1) * chunk) - 1)
            raise _damaged(path, f"{name} of frames {first} to {last} is missing")


def _unreadable(path: Path, error: OSError) -> RecordingError:
    return RecordingError(f"{path} cannot be read: {os_reason(error, path)}; check its permissions")


def _damaged(path: Path, reason: str) -> RecordingError:
    return RecordingError(f"recording {path} is damaged: {reason}; restore it from a copy or record it again")
