"""The simulator in the plane, and what it takes from a height map and from recordings."""

import math

import numpy as np
import pytest
import xarray as xr

from sandlot.errors import SandlotError
from sandlot.models.dense import forward, make_dense
from sandlot.surrogates.published.motion import QUANTITIES, Motion, attitude_on
from sandlot.surrogates.published.preprocessing import Scale
from sandlot.surrogates.published.scores import Score
from sandlot.surrogates.published.simulator import PATH, Map, simulate


def test_attitude_on_a_slope():
    rows, columns = np.indices((40, 60))
    heights = 0.01 * (0.2 * columns + 0.1 * rows)  # rises by 0.2 along x, by 0.1 along y
    for yaw, (pitch, roll) in {0.0: (0.2, 0.1), math.pi / 2: (0.1, -0.2), math.pi: (-0.2, -0.1)}.items():
        found = attitude_on(heights, 20.0, 30.0, yaw, 0.05, 0.01, False)
        assert np.tan(found) == pytest.approx([pitch, roll])


def recorded(frames=6, **changes):
    rng = np.random.default_rng(0)
    values = {name: (("time", "rover"), rng.normal(size=(frames, 1))) for name in QUANTITIES}
    return xr.Dataset({**values, "episode": ("time", [0, 0, 0, 1, 1, 1])} | changes)


def test_motion_of_a_recording():
    recording = recorded()
    motion = Motion.of(recording)
    kept = [1, 2, 4, 5]  # first frames of episodes have no motion
    assert np.array_equal(motion.column("pitch"), -recording["pitch"].values[kept, 0])
    assert np.array_equal(motion.column("dyaw"), recording["dyaw"].values[kept, 0])
    assert motion.column("speed") == pytest.approx(np.hypot(motion.column("dx"), motion.column("dy")))
    assert np.array_equal(motion.command_speed, recording["command_speed"].values[kept, 0])


def test_missing_quantities_are_named():
    with pytest.raises(SandlotError, match="no wheel_speed_left, roll;"):
        Motion.of(recorded().drop_vars(["wheel_speed_left", "roll"]))


def test_the_simulator_is_its_twin():
    rng = np.random.default_rng(0)
    nets = tuple(
        make_dense([rng.normal(size=(4, 5)), rng.normal(size=(5, 1))], [rng.normal(size=5), np.zeros(1)], 2 * ["tanh"])
        for _ in range(2)
    )
    low = np.array([-8.0, -8.0, -0.2, -0.2, 0.0, -0.02, 0.0, 0.0])
    scale, ground = Scale(low, low + 0.1 + np.arange(8.0)), Map(rng.uniform(0.0, 0.01, (50, 60)), 0.01, True, 0.04)
    speeds, command = rng.uniform(-8.0, 8.0, (30, 2)), rng.choice([-1.0, 0.0, 1.0], 30)
    path = simulate(nets, scale, ground, speeds, command, (0.1, -0.05, 0.3))
    assert path.shape == (31, len(PATH))
    x, y, yaw = 0.1, -0.05, 0.3
    for k in range(30):
        pitch, roll = attitude_on(ground.heights, y / 0.01 + 24.5, x / 0.01 + 29.5, yaw, 0.04, 0.01, True)
        row = scale.apply(np.array([[*speeds[k], pitch, roll, 0.0, 0.0, 0.0, 0.0]]))[:, :4]
        speed, turn = (
            scale.restore(forward(net, np.ascontiguousarray(row))[0], name)[0]
            for net, name in zip(nets, ("speed", "dyaw"), strict=True)
        )
        speed = -speed if command[k] < 0.0 else speed
        x, y, yaw = x + speed * np.cos(yaw), y + speed * np.sin(yaw), yaw + turn
        assert path[k + 1] == pytest.approx([x, y, yaw, speed, turn, pitch, roll])


def test_scores():
    recorded = np.array([0.0, 1.0, 2.0, 3.0])
    assert Score.of(recorded, recorded) == Score(0.0, pytest.approx(1.0), 1.0)
    shifted = Score.of(recorded + 1.0, recorded)
    assert (shifted.mse, shifted.r2, shifted.determined) == pytest.approx((1.0, 1.0, 0.2))
    assert Score.of(np.ones(4), recorded).r2 == 0.0
