"""Plates and wheels on test rigs, as evidence about soil."""

import numpy as np
import pytest
from numba import config

from sandlot.errors import RecordingError
from sandlot.physics.soil import PRESETS
from sandlot.surrogates.soil.columns import read_columns
from sandlot.surrogates.soil.fit import FitSettings, fit
from sandlot.surrogates.soil.result import FittedSoil
from sandlot.surrogates.soil.rigs import PlateTest, WheelTest
from sandlot.surrogates.soil.tables import rig_of

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
DEPTHS = np.linspace(0.005, 0.05, 10)
PLATE = "soil,length_m,width_m,grid_m,sinkage_m,force_N\nsoft,0.4,0.2,0.02,0.01,100\nhard,0.4,0.2,0.02,0.01,900\n"
WHEEL = (
    "wheel_radius_m,wheel_width_m,load_N,slip,speed_m_s,sinkage_m,drawbar_pull_N,torque_Nm\n"
    "0.25,0.2,500,0,0.4,0.02,-10,20\n0.25,0.2,500,0.3,0.4,0.02,200,80\n0.1,0.1,50,0.3,0.4,0.02,20,8\n"
)


def plate(kind):
    forces = PlateTest((0.4, 0.2), DEPTHS, np.ones(len(DEPTHS)), 0.02).predict(kind)
    return PlateTest((0.4, 0.2), DEPTHS, forces, 0.02)


def test_a_plate_needs_the_force_of_bekkers_law():
    soil = PRESETS["LETE sand"]
    expected = 0.08 * (soil.kc / 0.2 + soil.kphi) * DEPTHS**soil.exponent
    assert plate(soil).measured == pytest.approx(expected, rel=0.02)


def test_bekkers_curve_is_found_from_a_plate_and_nothing_else():
    soil = PRESETS["mid"]
    found = FittedSoil.of(fit([plate(soil)], FitSettings(first=12, rounds=4)), 0.2)
    assert found.values()["exponent"] == pytest.approx(soil.exponent, abs=0.1)
    assert found.values()["pressure"] == pytest.approx(soil.kphi * 0.01**soil.exponent, rel=0.1)
    lines = " ".join(found.unidentified())
    for name in ("cohesion", "friction", "shear length", "share of k_c"):
        assert name in lines


def test_a_wheel_pulls_more_with_more_slip_and_its_torque_drives_it():
    test = WheelTest(0.25, 0.2, 500.0, 0.4, np.array([0.1, 0.6]), np.zeros((2, 3)), 0.05)
    (sinkage, pull, torque), (_, more_pull, more_torque) = test.predict(PRESETS["mid"]).reshape(2, 3)
    assert 0.0 < sinkage < 0.1
    assert more_pull > pull
    assert more_torque > torque > 0.0


def test_tables_hold_one_test_for_each_plate_or_wheel(tmp_path):
    (tmp_path / "wheel.csv").write_text(WHEEL)
    tests = rig_of(read_columns(tmp_path / "wheel.csv"), tmp_path / "wheel.csv")
    assert [test.width for test in tests] == [0.1, 0.2]
    assert tests[1].measured.tolist() == [0.02, -10.0, 20.0, 0.02, 200.0, 80.0]
    (tmp_path / "plate.csv").write_text(PLATE)
    (test,) = rig_of(read_columns(tmp_path / "plate.csv", "hard"), tmp_path / "plate.csv")
    assert test.measured.tolist() == [900.0]


@pytest.mark.parametrize(
    ("text", "soil", "message"),
    [
        (PLATE, None, "has the soils soft, hard; choose one with --soil"),
        (PLATE, "mud", "has no soil 'mud'; it has soft, hard"),
        ("width_m,force_N\n1,2\n", None, "lacks length_m, sinkage_m"),
        ("a,b\n1,two\n", None, "no table with a line of names"),
        ("a,b\n1,nan\n", None, "no table with a line of names"),
        ("", None, "no table with a line of names"),
        (PLATE.replace("0.02", "7"), "soft", "grid_m=7 is not possible"),
        (WHEEL.replace("500", "-1"), None, "must be more than 0"),
    ],
)
def test_wrong_tables_are_explained(tmp_path, text, soil, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(RecordingError, match=message):
        rig_of(read_columns(path, soil), path)
