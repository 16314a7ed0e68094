"""What nets get to know of a soil."""

import numpy as np
import pytest
from numba import config

from rover_contacts import TRACKED, WHEELED
from sandlot.physics.soil import PRESETS
from sandlot.physics.soil.patch import patch_width as reference_width
from sandlot.surrogates.terrain.inputs import patch_width
from sandlot.worlds.terrain.world import Terrain


@pytest.mark.skipif(config.DISABLE_JIT, reason="the reference calls MuJoCo from compiled code")
def test_cohesive_soil_is_stiffer_below_a_short_contact():
    """Bekker's cohesive modulus counts over the smaller side of the contact patch, as in the reference."""
    world = Terrain(soil="LETE sand", terrain="flat", shape=(100, 100))
    world.reset(seed=1)
    for _ in range(60):
        world.step(np.array([[0.2, 0.0]]))
    contacts = world.task.ground.soil._contacts
    patches = [contacts.patches.contact[each["patch_start"] : each["patch_end"]] for each in contacts.shapes]
    widths = [reference_width(each, 0.01) for each in patches if len(each)]
    assert patch_width(PRESETS["LETE sand"], WHEELED) == pytest.approx(np.mean(widths), rel=0.2)
    assert patch_width(PRESETS["LETE sand"], TRACKED) == TRACKED.width
