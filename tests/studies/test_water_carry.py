"""A ball is held before it is carried."""

import numpy as np

from sandlot.studies.water.carry import Carry
from sandlot.studies.water.shared import prepared


def test_four_links_hold_before_it_carries():
    study = Carry()
    ready = prepared(study.snake, study.before(next(study.jobs())), study.begin())
    assert np.allclose(ready.angles[0, :3], np.pi / 2, atol=0.05)
    assert np.allclose(ready.angles[0, 3:], 0.0, atol=0.05)
