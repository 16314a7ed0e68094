"""How the water studies score a gait."""

import numpy as np

from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.studies.water.base import LIGHT, score, shared_waves


def test_the_fitness_of_an_exploded_simulation_is_nan():
    swimmers = FastSwimmers(LIGHT, 2)
    swimmers.swim([0.0], shared_waves(np.array([[0.2, 0.2, 0.9]] * 2), LIGHT.joints)[None], 0.1)
    swimmers.state[0, 1] = np.nan
    fitness = score(swimmers, np.ones(2))
    assert fitness[0] == 1.0
    assert np.isnan(fitness[1])
