"""What tests of physics share: settled particles."""

import numpy as np
import pytest

from particle_scenes import RADIUS, bed, copied
from sandlot.physics.particles import Particles


@pytest.fixture(scope="module")
def settled():
    """Ground that all tests that change it must copy: see `ground`."""
    return bed()


@pytest.fixture
def ground(settled):
    particles = Particles(np.full((12, 12), 4 * 2.0 * RADIUS), 2.0 * RADIUS)
    particles.state = copied(settled.state)
    return particles
