"""Bodies that fall on the ground hardly rebound, whatever their mass, the height, and the step."""

import mujoco
import numpy as np
import pytest

from sandlot.physics.soil import PRESETS, Soil
from sandlot.physics.soil.stress import REBOUND_SPEED
from soil_scenes import GRAVITY, compiled

BALLS = [(0.005, 0.02), (0.005, 0.05), (0.1, 0.03), (1.0, 0.05), (1.0, 0.2), (10.0, 0.1), (100.0, 0.05), (500.0, 0.3)]
"""Mass [kg] and radius [m]."""
FALLS = (0.02, 0.2, 1.0)
STEPS = (0.00025, 0.0005, 0.001, 0.002)
HIGHEST = 0.5 * REBOUND_SPEED**2 / GRAVITY
"""How high a body flies that leaves the ground at the speed from which on soil does not push it: 0.18 mm."""


def dropped(kind, dt, fall):
    """Heights of balls over time after they first touch the ground [m], and their energy over that of the fall."""
    mass, radius = np.transpose(BALLS)
    balls = "".join(
        f'<body pos="{0.8 * (k % 4)} {0.8 * (k // 4)} {fall + r}"><freejoint/>'
        f'<geom type="sphere" size="{r}" mass="{m}"/></body>'
        for k, (m, r) in enumerate(BALLS)
    )
    text = f'<mujoco><option timestep="{dt}"/><worldbody>{balls}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(text)
    data, soil = mujoco.MjData(model), Soil(np.zeros((85, 165)), 0.02, kind, corner=(-0.403, -0.407)).attach(model)
    soil.step(data, int(np.sqrt(2.0 * fall / GRAVITY) / dt))
    heights, energies = [], []
    for _ in range(round(0.15 / dt)):
        soil.step(data)
        heights.append(data.qpos[2::7] - radius)
        speeds = data.qvel.reshape(-1, 6)
        turning = 0.4 * mass * radius**2 * np.square(speeds[:, 3:]).sum(axis=1)
        kinetic = 0.5 * (mass * np.square(speeds[:, :3]).sum(axis=1) + turning)
        energies.append((kinetic + mass * GRAVITY * heights[-1]) / (mass * GRAVITY * fall))
    return np.array(heights), np.array(energies)


def rebound(heights):
    """How high above the undeformed ground balls rise after their lowest point [m]."""
    return np.array([max(each[each.argmin() :].max(), 0.0) for each in heights.T])


@compiled
@pytest.mark.parametrize("fall", FALLS)
def test_rebound_on_rigid_ground_does_not_depend_on_mass_or_step(fall):
    found = [dropped("rigid", dt, fall) for dt in STEPS]
    rebounds = np.array([rebound(heights) for heights, _ in found])
    assert rebounds.max() < HIGHEST
    assert np.ptp(rebounds, axis=0).max() < HIGHEST
    for dt, (_, energies) in zip(STEPS, found, strict=True):
        # MuJoCo's velocities are those of the middle of a step, so that the energy of a fall is wrong by the work of
        # gravity in half a step.
        assert energies.max() < 1.0 + 0.5 * dt * np.sqrt(2.0 * GRAVITY / fall)


@compiled
@pytest.mark.parametrize("kind", PRESETS)
def test_light_and_heavy_balls_do_not_leave_the_ground_again(kind):
    heights, _ = dropped(kind, 0.002, 0.2)
    assert rebound(heights).max() < HIGHEST
