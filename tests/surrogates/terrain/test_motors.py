"""Motors that turn the wheels of learned rovers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config

from sandlot.surrogates.terrain.drives import WHEELS
from sandlot.surrogates.terrain.motors import Motors, fit_motors, turned
from sandlot.surrogates.terrain.recorded import read_drives
from sandlot.surrogates.terrain.shape import shape_of

SHAPE = shape_of("wheeled")
RECORDS = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
SPEED = st.floats(-20.0, 20.0)


@given(st.floats(0.01, 1.0), st.floats(0.01, 5.0), SPEED, SPEED)
def test_wheels_come_closer_to_what_is_commanded_and_never_pass_it(share, most, speed, commanded):
    after = turned(Motors(share, most), speed, commanded)
    assert abs(after - speed) <= most + 1e-12
    assert abs(commanded - after) <= abs(commanded - speed) + 1e-12
    assert (commanded - after) * (commanded - speed) >= -1e-12


@RECORDS
def test_recorded_wheels_are_followed(recorded):
    drives = read_drives(list(recorded.values()), SHAPE)
    motors = fit_motors(drives, SHAPE)
    for drive in drives:
        now, later = drive.states[:-1, WHEELS], drive.states[1:, WHEELS]
        away = drive.rows(SHAPE)[:, -2:] - now
        found = np.array(
            [[turned(motors, *pair) for pair in zip(*each, strict=True)] for each in zip(now, now + away, strict=True)]
        )
        assert np.sqrt(np.mean((found - later) ** 2)) < 0.1 * np.sqrt(np.mean((now - later) ** 2))


@RECORDS
def test_known_motors_are_found_again(recorded):
    drive, given = read_drives([recorded["mid"]], SHAPE)[0], Motors(0.6, 1.5)
    wheels = drive.wheels.copy()
    for k, targets in enumerate(drive.rows(SHAPE)[:, -2:]):
        wheels[k + 2] = [turned(given, *pair) for pair in zip(wheels[k + 1], targets, strict=True)]
    found = fit_motors([replace(drive, wheels=wheels)], SHAPE)
    assert found == pytest.approx(given, rel=1e-3)
