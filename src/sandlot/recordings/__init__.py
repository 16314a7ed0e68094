"""Recordings: frames over time, on disk, in one form for simulated and real robots.

A recording is a directory, a Zarr store that xarray reads: each quantity is an array along ``time`` with its unit and
meaning; its attributes hold the world, settings and seed that the frames were made with. `Writer` streams frames in and
may be killed at any moment; `open` returns the frames as an ``xarray.Dataset``, `episode` those of one episode, and
`settings` what they were made with. `sandlot.recordings.logs` imports logs of real robots, and exports recordings for
other tools.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandlot.recordings.frames import Frame, Quantity, check_frame
    from sandlot.recordings.reader import episode, open, outcomes, settings
    from sandlot.recordings.writer import Writer

__all__ = ["Frame", "Quantity", "Writer", "check_frame", "episode", "open", "outcomes", "settings"]
_READER = ("episode", "open", "outcomes", "settings")


def __getattr__(name: str) -> Any:
    """Import what is used, when it is used: xarray and Zarr take a second to load."""
    if name in __all__:
        module = "reader" if name in _READER else "writer" if name == "Writer" else "frames"
        return getattr(importlib.import_module(f"sandlot.recordings.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
