"""Short recordings of the terrain world, made once."""

import pytest

from sandlot.worlds.record import record_world


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """Recordings of a rover on two soils, by name."""
    folder = tmp_path_factory.mktemp("recordings")
    paths = {}
    for soil in ("mid", "soft"):
        paths[soil] = folder / soil
        given = {"soil": soil, "terrain": "B", "shape": (120, 120), "map_every": 50}
        record_world("terrain", paths[soil], 240, "session", seed=1, settings=given)
    return paths
