"""The plain model of a wheel on soil: compared with a twin on whole arrays, and its choices one at a time."""

import math

import numpy as np
import pytest
from numba import config

from sandlot.physics.soil import PRESETS
from sandlot.studies.terrain.plain_wheel import GRAVITY, Choices, PlainWheel, mobilised, plain_drive

WHEEL = PlainWheel(radius=0.25, width=0.2, load=500.0, speed=0.4, turning=0.4 / (0.25 * 0.83))
SPACING, STEP = 0.02, 0.001
EXACT = Choices(summed=False, full=False, rays=False)


def twin(soil, choices, steps):
    """A drive with exact levels, on the whole ground at once."""
    x = np.arange(-WHEEL.radius, WHEEL.speed * STEP * steps + 2.0 * WHEEL.radius, SPACING)
    plastic, limit, shear, z, sinking, found = np.zeros(len(x)), np.zeros(len(x)), np.zeros(len(x)), 0.25, 0.0, []
    rows = 11 if choices.full else 10
    for step in range(steps):
        ahead = x - WHEEL.speed * STEP * step
        under = np.abs(ahead) <= WHEEL.radius + 1e-12
        level = z - np.sqrt(np.maximum(WHEEL.radius**2 - ahead**2, 0.0))
        stress = soil.elastic * (-level - plastic)
        on = under & (stress >= 0.0)
        slip = WHEEL.speed + WHEEL.turning * (level - z)
        left = np.exp(-np.abs(slip) * STEP / soil.shear)
        if choices.summed:
            shear[on] += np.abs(slip[on]) * STEP
            share = np.sign(slip) * (1.0 - np.exp(-shear / soil.shear))
        else:
            shear[on] = (shear * left + np.sign(slip) * (1.0 - left))[on]
            share = shear
        yields = on & (stress > limit)
        stress[yields] = soil.kphi * np.maximum(-level[yields], 0.0) ** soil.exponent
        limit[yields] = stress[yields]
        plastic[yields] = -level[yields] - stress[yields] / soil.elastic
        stress = np.where(on, stress - soil.damping * (sinking - WHEEL.turning * ahead), 0.0)
        up, along = rows * SPACING**2 * stress.sum(), -rows * SPACING**2 * (stress * soil.friction * share).sum()
        sinking += STEP * GRAVITY * (up / WHEEL.load - 1.0)
        z += STEP * sinking
        if step >= steps // 2:
            found.append((WHEEL.radius - z, along))
    return np.mean(found, axis=0)


@pytest.mark.parametrize("ground", ["soft", "mid"])
@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_a_drive_is_that_of_its_twin(ground, summed, full):
    soil, choices = PRESETS[ground].parameters(), Choices(summed, full, rays=False)
    assert plain_drive(WHEEL, soil, choices, SPACING, STEP, 300) == pytest.approx(twin(soil, choices, 300), rel=1e-6)


def test_a_vector_of_shear_turns_with_the_slip_and_a_sum_does_not_forget():
    there, _ = mobilised(0.0, 1.0, 0.02, 0.01, False)
    back, share = mobilised(there, -1.0, 0.02, 0.01, False)
    assert there == pytest.approx(1.0 - math.exp(-2.0))
    assert back == share == pytest.approx(there * math.exp(-2.0) - (1.0 - math.exp(-2.0)))
    way, share = mobilised(0.02, -1.0, 0.02, 0.01, True)
    assert way == pytest.approx(0.04)
    assert share == pytest.approx(-(1.0 - math.exp(-4.0)))


def test_a_cell_that_counts_in_full_carries_more_than_one_that_is_covered_by_half():
    soil = PRESETS["soft"].parameters()
    covered, full = (
        plain_drive(WHEEL, soil, EXACT._replace(full=each), SPACING, STEP, 300)[0] for each in (False, True)
    )
    assert full < covered


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="minutes without compiling")
def test_rays_change_what_a_wheel_does_but_little():
    soil = PRESETS["mid"].parameters()
    exact, rays = (plain_drive(WHEEL, soil, EXACT._replace(rays=each), SPACING, STEP, 300) for each in (False, True))
    assert rays[0] != exact[0]
    assert rays == pytest.approx(exact, rel=0.3)
