"""Recordings: frames over time, on disk, simulated or from a real robot alike.

A recording is a directory, a Zarr store that xarray reads: each quantity an array
along ``time``, with its units and meaning; beside them the world, settings and
seed the frames came from. `Writer` streams frames in and survives being
killed; `open` gives them back as an ``xarray.Dataset``, and `settings` what they
were made with. Logs of real robots come in, and go out to other tools, by
`sandlot.recordings.logs.logs`.
"""

from sandlot.recordings.frames import Frame, Quantity, check_frame
from sandlot.recordings.reader import open, settings
from sandlot.recordings.writer import Writer

__all__ = ["Frame", "Quantity", "Writer", "check_frame", "open", "settings"]
