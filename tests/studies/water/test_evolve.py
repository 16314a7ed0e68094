"""The study of gaits with separate parameters for every joint."""

import numpy as np

from sandlot.studies.water.evolve import Evolve


def test_swimming_backwards_counts_as_negative():
    study = Evolve(seconds=4.0)
    forwards = np.tile([0.6, 0.5, 2.0 * np.pi / 7.0], 7)
    # Phases count modulo a turn: from the other side they run backwards.
    backwards = np.tile([0.6, 0.5, 2.0 * np.pi - 2.0 * np.pi / 7.0], 7)
    ahead, astern = study.evaluate(next(study.jobs()), np.array([forwards, backwards]))
    assert ahead > 0.5
    assert astern < -0.5
