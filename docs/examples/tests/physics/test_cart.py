import numpy as np

from sandlot.physics.cart import roll
from twins import cart as twin


def test_agrees_with_its_twin():
    rng = np.random.default_rng(0)
    carts, forces = rng.uniform(-2.0, 2.0, (100, 2)), rng.uniform(-1.0, 1.0, 100)
    expected = [twin.roll(*cart, force, 0.5, 0.1) for cart, force in zip(carts, forces, strict=True)]
    np.testing.assert_allclose(roll(carts, forces, 0.5, 0.1), expected)
