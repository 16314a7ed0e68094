"""The elevation that robots of the obstacles world observe, exact and perceived."""

import gymnasium
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from sandlot.control.climbing.sight import STATES
from sandlot.errors import SettingError
from sandlot.worlds import register
from sandlot.worlds.obstacles.elevation import PerceivedElevation
from sandlot.worlds.obstacles.settings import ObstaclesSettings

register()
NAME = "sandlot/Obstacles-v0"
BOX = {"kind": "box", "distance": 1.0, "height": 0.15, "depth": 0.4}
DRIVE = np.array([0.3, 0.0, 0.55, 0.55])


def maps(world):
    """Elevations of the last observation: (rows, cells)."""
    given = world.unwrapped.settings
    return world.unwrapped.task.observe()[0, STATES:].reshape(given.rows, given.cells)


def driven(steps=20, **given):
    world = gymnasium.make(NAME, interface="units", **given)
    world.reset(seed=1)
    for _ in range(steps):
        world.step(DRIVE)
    return world


@pytest.mark.parametrize("rows", [1, 5, 19])
def test_a_perceived_map_is_near_the_true_one(rows):
    exact, seen = (driven(course=BOX, rows=rows, perception=each) for each in ("exact", "laser"))
    # Noise moves a face by up to two cells; up to its upper edge it is visible.
    true = sliding_window_view(np.pad(maps(exact), ((0, 0), (2, 2)), "edge"), 5, axis=1)
    above, below = maps(seen) - true.max(axis=2), true.min(axis=2) - maps(seen)
    near = slice(0, 60)
    assert np.maximum(above, below)[:, near].max() < 0.02
    assert (maps(exact)[:, near].max(axis=1) > 0.0).all()
    assert maps(exact).shape == maps(seen).shape == (rows, 201)


def test_rows_to_the_side_reach_an_obstacle_at_another_distance():
    """A robot that is turned to the left meets the box later with its left lines."""
    world = gymnasium.make(NAME, interface="units", course=BOX, rows=19, fidelity="reference", yaw=0.3)
    for seed in range(20):
        world.reset(seed=seed)
        yaw = world.unwrapped.task.attitude[0, 2]
        first = (maps(world) > 0.0).argmax(axis=1)
        slopes, mount = np.tan(np.deg2rad([-45, 0, 45])), world.unwrapped.climbers.climber.laser.ahead
        away = 1.0 - world.unwrapped.task.x[0] - mount * slopes * np.sin(yaw)
        expected = away / (np.cos(yaw) - np.sin(yaw) * slopes)
        np.testing.assert_allclose(0.01 * first[[0, 9, 18]], expected, atol=0.011)


def test_vector_and_single_worlds_perceive_the_same():
    """Resets of some members must not make others draw noise."""
    given = {"course": BOX, "perception": "laser", "patience": 0.3, "seconds": 0.5}
    many = gymnasium.make_vec(NAME, num_envs=3, interface="units", **given)
    seen, _ = many.reset(seed=[4, 5, 6])
    actions = np.tile(DRIVE, (3, 1)) * np.array([[1.0], [0.0], [0.5]])
    singles = [gymnasium.make(NAME, interface="units", **given) for _ in range(3)]
    alone = [world.reset(seed=seed)[0] for world, seed in zip(singles, (4, 5, 6), strict=True)]
    ended = [False] * 3
    for _ in range(25):
        np.testing.assert_array_equal(seen, alone)
        seen, *_ = many.step(actions)
        for k, world in enumerate(singles):
            if ended[k]:
                alone[k], ended[k] = world.reset()[0], False
            else:
                alone[k], _, terminated, truncated, _ = world.step(actions[k])
                ended[k] = terminated or truncated


def test_a_slow_pan_fills_the_rows_one_after_the_other():
    world = gymnasium.make(NAME, interface="units", course=BOX, rows=19, perception="laser", laser={"lines": 2})
    world.reset(seed=0)
    known = [(maps(world) != 0.0).any(axis=1).sum()]
    for _ in range(12):
        world.step(DRIVE)
        known.append((maps(world) != 0.0).any(axis=1).sum())
    assert known[:3] == [2, 4, 6]
    assert known[-1] == 19
    assert isinstance(world.unwrapped.task.elevation, PerceivedElevation)


@pytest.mark.parametrize("given", [{"rows": 3}, {"perception": "guess"}, {"laser": {"lines": 20}}])
def test_bad_settings_get_one_line(given):
    with pytest.raises(SettingError) as caught:
        gymnasium.make(NAME, interface="units", **given)
    assert "\n" not in str(caught.value)
    assert next(iter(given)) in str(caught.value)


def test_defaults_observe_the_true_map_straight_ahead():
    settings = ObstaclesSettings()
    assert (settings.perception, settings.rows, settings.cells) == ("exact", 1, 201)
