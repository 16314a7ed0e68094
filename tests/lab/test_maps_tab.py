"""What is drawn of a map in the making."""

import numpy as np

from sandlot.lab.maps_tab import MOST, map_scene
from sandlot.mapping.mapper import Mapper
from sandlot.recordings.logs import read_scans
from sandlot.worlds.record import record_world


def test_a_map_grows_with_the_scans(tmp_path):
    record_world("indoor", tmp_path / "log", 80, settings={"plan": "arena"})
    mapper, sizes = Mapper(), []
    for scan in read_scans(tmp_path / "log").scans:
        mapper.add(scan)
        scene = map_scene(mapper, scan)
        items = {item.name: item for item in scene.items}
        np.testing.assert_allclose(items["robot"].position[:2], mapper.pose[:2])
        sizes.append(len(items["map"].positions))
    assert 100 < sizes[0] < sizes[-1] <= MOST
    assert len(items["path"].ends) == len(mapper.keyframes) - 1
