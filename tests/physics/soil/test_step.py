"""The soil's account: it gives back no more energy than it had, and soaks up slow motion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.physics.soil.step import DULL, MOST, SOAK, Bodies, Simulation, calm

DT = 1e-3


def some(seed, slow):
    """Two shapes on bodies that move somehow, and what the ground did to them."""
    rng = np.random.default_rng(seed)
    empty = {name: np.zeros(0) for name in Bodies._fields}
    whole = np.array([[6, 2, 1, -1, 0, 0, 0, 0, 0], [6, 1, 1, 3, -1, 0, 0, 0, 0]])
    real = np.zeros((2, 19))
    real[:, 16:] = rng.uniform(0.1, 5.0, (2, 3))
    sums, account = rng.normal(0.0, 50.0, (2, 11)), rng.uniform(0.0, 0.1, (2, 2))
    sums[:, 10] = rng.uniform(0.0, 0.1, 2)
    bodies = Bodies(**{**empty, "whole": whole, "real": real, "sums": sums, "account": account})
    place = {name: rng.normal(0.0, 0.3, (3, 3)) for name in ("xpos", "xipos", "subtree_com")}
    rest = {name: np.zeros((3, 9)) for name in ("xmat", "geom_xpos", "geom_xmat", "xfrc_applied")}
    moves = {"cvel": rng.normal(0.0, 0.01 if slow else 1.0, (3, 6)), "qvel": np.zeros(4), "qfrc_applied": np.zeros(4)}
    return bodies, Simulation(**place, **rest, **moves)


@given(seed=st.integers(0, 2**32 - 1), slow=st.booleans(), belt=st.floats(-0.5, 0.5))
def test_calm_agrees_with_its_twin(seed, slow, belt):
    bodies, simulation = some(seed, slow)
    for shape in (0, 1):
        body, root = bodies.whole[shape, 1:3]
        mass, inertia = bodies.real[shape, 16:18]
        before, account = bodies.sums[shape].copy(), bodies.account[shape].copy()
        turning = simulation.cvel[body, :3]
        moving = simulation.cvel[body, 3:] + np.cross(turning, simulation.xipos[body] - simulation.subtree_com[root])
        calm(bodies, shape, simulation, belt, DT)
        given_ = (before[:3] @ moving + before[3:6] @ turning + before[6] * belt) * DT
        owed = max(account[1] + given_ + before[10] - account[0], 0.0)
        motion = mass * moving @ moving + inertia * turning @ turning
        paid = min(owed, MOST * motion)
        rate = paid / (motion * DT) + SOAK / (1.0 + motion / mass / DULL**2) ** 2
        assert bodies.sums[shape, :3] == pytest.approx(before[:3] - rate * mass * moving, rel=1e-9, abs=1e-9)
        assert bodies.sums[shape, 3:6] == pytest.approx(before[3:6] - rate * inertia * turning, rel=1e-9, abs=1e-9)
        assert np.array_equal(bodies.sums[shape, 6:], before[6:])
        assert bodies.account[shape, 1] == pytest.approx(owed - paid, rel=1e-6, abs=1e-12)
