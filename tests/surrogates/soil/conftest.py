"""A short recording of a rover on soil, made once."""

import pytest

from sandlot.worlds.record import record_world


@pytest.fixture(scope="session")
def drive(tmp_path_factory):
    """A recording of two seconds on mid soil."""
    path = tmp_path_factory.mktemp("drive") / "mid"
    given = {"soil": "mid", "terrain": "B", "shape": (120, 120), "map_every": 300}
    record_world("terrain", path, 200, "varied", seed=3, settings=given)
    return path
