"""The study of steering to targets."""

import numpy as np

from claims import synthetic
from sandlot.studies.water.fetching import SAMPLES
from sandlot.studies.water.turn import Turn

SHAPES = {"body": (4, SAMPLES, 2), "ball": (4, SAMPLES, 2), "mark": (4, 2)}


def test_targets_in_all_quadrants_are_reached():
    study = Turn(veers=(0.1,))
    for job in study.jobs():
        found = study.run(job)
        assert (found["when"] < 30.0).all()
        assert found["body"].shape == (4, SAMPLES, 2)
        assert np.isnan(found["body"][:, -1]).all(), "a path ends when the target is reached"


def test_the_note_counts_exploded_simulations():
    study = Turn(veers=(0.05,))
    outcomes = {
        "when": lambda job: np.array([np.nan, 9.0, 9.0, 9.0]),
        "exploded": lambda job: np.array([float(job["fidelity"] == "reference"), 0.0, 0.0, 0.0]),
        **{name: (lambda job, shape=shape: np.zeros(shape)) for name, shape in SHAPES.items()},
    }
    claims = study.claims(synthetic(study, **outcomes))
    assert [claim.note for claim in claims] == ["0 exploded", "1 exploded"]
    assert not any(claim.holds for claim in claims)
