"""What the kernels of the terrain world account for and gather is what NumPy finds."""

import numpy as np
import pytest

from sandlot.geometry.planar import wrap
from sandlot.worlds.terrain.frames import ROVER_QUANTITIES, rover_columns
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.task import account

ROVERS = 5


@pytest.mark.parametrize("exploded", [False, True])
def test_what_rovers_have_driven_is_accounted_for(exploded):
    rng = np.random.default_rng(0)
    (start, position), speeds = rng.normal(size=(2, ROVERS, 3)), rng.normal(size=(ROVERS, 2))
    before, after = rng.uniform(-np.pi, np.pi, (2, ROVERS, 3))
    radius, travel = rng.uniform(0.1, 0.2, ROVERS), rng.uniform(0.0, 1.0, (3, ROVERS))
    added = travel.copy()
    moved, forward = account(start, before, position, after, speeds, radius, 0.01, exploded, added)
    shift, turn = (position - start)[:, :2], wrap(after[:, 2] - before[:, 2])
    assert np.array_equal(moved, np.column_stack([shift, turn]))
    if exploded:
        assert np.array_equal(added, travel)
        assert not forward.any()
        return
    yaw, rolled = before[:, 2] + 0.5 * turn, radius * speeds.mean(axis=1) * 0.01
    ahead = shift[:, 0] * np.cos(yaw) + shift[:, 1] * np.sin(yaw)
    assert forward == pytest.approx(ahead, abs=1e-15)
    assert added - travel == pytest.approx(
        np.array([np.hypot(*shift.T), np.abs(rolled), ahead * np.sign(rolled)]), abs=1e-14
    )


@pytest.mark.parametrize("wraps", [False, True])
def test_quantities_of_rovers_are_gathered(wraps):
    rng = np.random.default_rng(1)
    position, attitude, moved = rng.normal(size=(3, ROVERS, 3))
    speeds, commands = rng.normal(size=(2, ROVERS, 2))
    lengths, grid = rng.normal(size=ROVERS), Grid((60, 80), 0.01, wraps)
    columns, nodes = np.zeros((len(ROVER_QUANTITIES), ROVERS)), np.zeros((ROVERS, 2))
    about = grid.corner, grid.spacing, grid.shape, grid.wrap
    rover_columns(position, attitude, moved, speeds, commands, lengths, *about, columns, nodes)
    assert np.array_equal(nodes, grid.nodes(position))
    expected = [grid.places(nodes), position[:, 2], attitude, moved, speeds, commands, lengths]
    assert np.array_equal(columns.T, np.column_stack(expected))
