"""Opens a recording as a labelled dataset, or says in one line why it cannot.

Zarr fills what is missing with zeros and reports damage deep from within; a
recording is evidence, so holes are looked for before anybody sees the numbers.
"""

import json
import os
from pathlib import Path
from typing import Any

import xarray as xr

from sandlot.errors import SandlotError
from sandlot.recordings.logs.columns import rows
from sandlot.recordings.writer import FORMAT, FORMAT_VERSION


def open(path: str | Path) -> xr.Dataset:
    """Open a recording, finished, still being written, or left behind by a killed process.

    Numbers are read from disk when they are used, except ``time``. A chunk whose bytes
    were changed fails its checksum then, and raises.

    Args:
        path: Directory written by `Writer`.

    Returns:
        The flushed frames: each quantity with dims ``("time", ...)``, ``units`` and ``long_name``, and ``time``
        as coordinate; one that was kept only now and then with ``("time_<name>", ...)`` and the times of its frames
        as coordinate. Its attributes hold ``world``, ``settings`` (JSON text, which `settings` reads), ``seed`` if
        there was any, ``version`` of Sandlot, ``created`` (UTC), and the number of ``frames``. They are texts and
        numbers, so that ``to_netcdf`` takes them; seeds from 2**31 on need a netCDF that has such numbers.

    Raises:
        SandlotError: There is no recording at ``path``, it is damaged, or a newer Sandlot wrote it.
    """
    path = Path(path)
    root = _read_root(path)
    try:
        for name, array in root["consolidated_metadata"]["metadata"].items():
            json.loads((path / name / "zarr.json").read_bytes())
            _check_chunks(path, name, array, root["attributes"]["frames"])
        # The consolidated metadata hold the committed shapes; those of the arrays themselves lag behind.
        dataset: xr.Dataset = xr.open_zarr(path, consolidated=True, chunks=None, decode_cf=False)
        settings(dataset)
        if dataset.attrs["seed"] is None:  # netCDF has no word for it
            del dataset.attrs["seed"]
        time = dataset["time"]
        for name, values in dataset.data_vars.items():
            if (every := values.attrs.get("every", 1)) > 1:
                dim = values.dims[0]
                about = {**time.attrs, "long_name": f"{time.attrs['long_name']}, where {name} was kept"}
                dataset = dataset.assign_coords({dim: (dim, time.values[::every], about)})
    except SandlotError:
        raise
    except Exception as error:  # Zarr, its codecs and xarray raise nearly every kind
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    return dataset


def settings(recording: xr.Dataset) -> dict[str, Any]:
    """What a recording was made with, be it opened here or read back from another format."""
    found: dict[str, Any] = json.loads(recording.attrs["settings"])
    return found


def _read_root(path: Path) -> dict[str, Any]:
    """Read the root metadata of what is surely a recording this version knows."""
    if not path.exists():
        raise SandlotError(f"there is no recording at {path}; check the path")
    if not path.is_dir():
        raise SandlotError(f"{path} is a file; a recording is a directory")
    try:
        root: dict[str, Any] = json.loads((path / "zarr.json").read_bytes())
        attributes = root.get("attributes", {})
        known = attributes.get("format") == FORMAT
        newer = known and attributes["format_version"] > FORMAT_VERSION
    except FileNotFoundError as error:
        raise SandlotError(
            f"{path} is not a Zarr store, as it has no zarr.json; give the directory of a recording"
        ) from error
    except OSError as error:
        raise SandlotError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, f"its zarr.json cannot be understood ({error})") from error
    if not known:
        raise SandlotError(f"{path} is a Zarr store but not a recording; give one that Sandlot has written")
    if newer:
        raise SandlotError(
            f"{path} has recording format {attributes['format_version']}, "
            f"newer than {FORMAT_VERSION}, the newest known here; update Sandlot"
        )
    return root


def _check_chunks(path: Path, name: str, array: dict[str, Any], frames: int) -> None:
    """Raise unless there are as many rows as frames ask for, and each chunk of them has a file that is not empty."""
    found, *lengths = array["shape"]
    every = array["attributes"].get("every", 1)
    if found != rows(frames, every):
        raise _damaged(path, f"{name} has {found} rows, which is not one for every {every} of {frames} frames")
    if 0 in lengths:
        return
    chunk = array["chunk_grid"]["configuration"]["chunk_shape"][0]
    with os.scandir(path / name) as entries:
        present = {entry.name for entry in entries if entry.stat().st_size}
    for number in range(-(-found // chunk)):
        if ".".join(["c", str(number), *("0" for _ in lengths)]) not in present:
            first, last = every * number * chunk, every * (min(found, (number + 1) * chunk) - 1)
            raise _damaged(path, f"{name} of frames {first} to {last} is missing")


def _damaged(path: Path, reason: str) -> SandlotError:
    line = " ".join(reason.split())
    return SandlotError(f"recording {path} is damaged: {line}; restore it from a copy or record it again")
