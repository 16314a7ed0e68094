"""Logs of real robots: `import_log` makes a recording of one, `export_log` writes a recording for other tools.

`FORMATS` is the table of all log formats that can be read.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandlot.recordings.logs.exporting import export_log
    from sandlot.recordings.logs.findings import Findings
    from sandlot.recordings.logs.formats import FORMATS, guess_format
    from sandlot.recordings.logs.importing import import_log
    from sandlot.recordings.logs.reading import ScanLog, read_scans
    from sandlot.recordings.logs.source import DamagedError, Source
    from sandlot.recordings.scans import Pose, Scan

_PLACES = {
    "FORMATS": "logs.formats",
    "DamagedError": "logs.source",
    "Findings": "logs.findings",
    "Pose": "scans",
    "Scan": "scans",
    "ScanLog": "logs.reading",
    "Source": "logs.source",
    "export_log": "logs.exporting",
    "guess_format": "logs.formats",
    "import_log": "logs.importing",
    "read_scans": "logs.reading",
}
"""Where each name is."""

__all__ = [
    "FORMATS",
    "DamagedError",
    "Findings",
    "Pose",
    "Scan",
    "ScanLog",
    "Source",
    "export_log",
    "guess_format",
    "import_log",
    "read_scans",
]


def __getattr__(name: str) -> Any:
    """Import what is used, when it is used: xarray and Numba take a second to load."""
    if name in _PLACES:
        return getattr(importlib.import_module(f"sandlot.recordings.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
