"""Coordinates of a fit and the parameters of soil."""

import numpy as np
import pytest

from sandlot.physics.soil import PRESETS
from sandlot.surrogates.soil.parameters import FITTED, HIGH, LOW, kind_of, known, parameters_of, standardised_of


@pytest.mark.parametrize("name", ["soft", "mid", "LETE sand"])
def test_a_preset_is_the_same_after_its_coordinates(name):
    soil = PRESETS[name]
    again = kind_of(standardised_of(soil, 0.05), 0.05)
    for field in ("kphi", "kc", "exponent", "cohesion", "friction", "shear", "elastic"):
        assert getattr(again, field) == pytest.approx(getattr(soil, field), rel=1e-9, abs=1e-6), field
    found = parameters_of(standardised_of(soil, 0.05), 0.05)
    assert found.keys() == FITTED.keys() == known(soil, 0.05).keys()
    assert {name: float(value) for name, value in found.items()} == pytest.approx(known(soil, 0.05), abs=1e-6)


def test_coordinates_beyond_their_bounds_are_clipped():
    far = np.array([LOW - 5.0, HIGH + 5.0])
    found = parameters_of(far, 0.05)
    assert found["cohesion"].tolist() == [0.0, 20e3]
    assert found["kc"][0] == 0.0
    assert (found["kphi"] > 0.0).all()
