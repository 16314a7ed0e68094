"""Where real logs are, which are not part of the project; tests that need them skip without."""

from pathlib import Path

import pytest

from sandlot.recordings.logs.data import VARIABLE, data_folder

DATA = data_folder() or Path("no folder")


def real_log(name: str) -> Path:
    """A file of the real data, by its path below the directory in ``SANDLOT_DATA``."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"there is no {name} in {DATA}; say where real logs are by {VARIABLE}")
    return path
