"""The digest of a recording: equal for equal frames, however and whenever they were written."""

import hashlib
import json

import numpy as np
import xarray as xr

from sandlot.errors import RecordingError

BLOCK_BYTES = 2**24
"""Of a quantity that is read at a time."""


def digest(recording: xr.Dataset) -> str:
    """SHA-256 of the names, axes, types and values of all quantities, and of the world, its settings and its seed.

    The time of writing, the version of Sandlot and the compression make no difference.

    Raises:
        RecordingError: If the recording is damaged.
    """
    found = hashlib.sha256()
    about = {name: recording.attrs.get(name) for name in ("world", "settings", "seed")}
    found.update(json.dumps(about, default=int, sort_keys=True).encode())
    try:
        for name in sorted(map(str, recording.variables)):
            values = recording[name]
            dtype = values.dtype.newbyteorder("<")
            found.update(json.dumps([name, values.dims, dtype.str, values.shape]).encode())
            rows = max(1, BLOCK_BYTES * max(len(values), 1) // max(values.nbytes, 1)) if values.dims else 0
            for low in range(0, len(values), rows) if values.dims else [None]:
                part = values if low is None else values[low : low + rows]
                found.update(np.ascontiguousarray(part.values, dtype).tobytes())
    except Exception as error:  # Zarr and its codecs raise nearly every kind
        raise RecordingError(f"the recording is damaged: {type(error).__name__}: {error}") from error
    return found.hexdigest()
