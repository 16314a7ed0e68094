"""Logs of real robots: `import_log` makes a recording of one, `export_log` writes a recording for other tools.

`FORMATS` is the table of all log formats that can be read.
"""

from sandlot.recordings.logs.exporting import export_log
from sandlot.recordings.logs.findings import Findings
from sandlot.recordings.logs.formats import FORMATS, guess_format
from sandlot.recordings.logs.importing import import_log
from sandlot.recordings.logs.reading import ScanLog, read_scans
from sandlot.recordings.logs.source import DamagedError, Source
from sandlot.recordings.scans import Pose, Scan

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
