"""Where real logs are, which are not part of the project; tests that need them skip without."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("SANDLOT_DATA") or Path(__file__).parents[2] / "shared" / "data")


def real_log(name: str) -> Path:
    """A file of the real data, by its path below the directory in ``SANDLOT_DATA``."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"there is no {name} in {DATA}; say where real logs are by SANDLOT_DATA")
    return path
