"""Soils in TOML files."""

import numpy as np
import pytest

from sandlot.errors import ModelError, SettingError
from sandlot.physics.soil import PRESETS, Soil
from sandlot.physics.soil.files import load_soil, save_soil
from sandlot.settings import build
from sandlot.worlds.terrain.settings import TerrainSettings

TEXT = 'kind = "soil"\nkphi = 3e5\nexponent = 0.9\nfriction = 28\nshear = 0.02\nelastic = 5e7\n'


@pytest.mark.parametrize("name", ["soft", "mid", "LETE sand"])
def test_a_soil_is_the_same_after_its_file(tmp_path, name):
    save_soil(tmp_path / "soil.toml", PRESETS[name])
    assert load_soil(tmp_path / "soil.toml") == PRESETS[name]


def test_a_soil_that_a_person_wrote_is_used_by_ground_and_world(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(TEXT)
    soil = Soil(np.zeros((5, 5)), 0.1, str(path))
    assert (soil.kind.kphi, soil.kind.friction) == (3e5, 28.0)
    assert build(TerrainSettings, {"soil": str(path)}).soil == soil.kind


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("28", "-28"), "friction=-28"),
        (TEXT.replace("shear = 0.02\n", ""), "shear is missing"),
        (TEXT + "mud = 1\n", "no setting 'mud'"),
        (TEXT.replace("soil", "gait"), "this is a gait"),
        ("not toml", "not TOML"),
    ],
)
def test_wrong_files_are_explained(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ModelError, match=message):
        load_soil(path)
    with pytest.raises(SettingError, match=message):
        build(TerrainSettings, {"soil": str(path)})


def test_rigid_ground_has_no_file(tmp_path):
    with pytest.raises(ModelError, match="preset 'rigid'"):
        save_soil(tmp_path / "soil.toml", PRESETS["rigid"])
