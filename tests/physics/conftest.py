"""What tests of physics share: settled particles."""

import numpy as np
import pytest

from particle_scenes import RADIUS, bed
from sandlot.physics.particles import Particles


@pytest.fixture(scope="module")
def settled():
    """Ground that no test may change; see `ground`."""
    return bed()


@pytest.fixture
def ground(settled):
    """A copy of settled ground."""
    particles = Particles(np.full((12, 12), 4 * 2.0 * RADIUS), 2.0 * RADIUS)
    particles.restore(settled.snapshot())
    return particles
