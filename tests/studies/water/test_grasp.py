"""The study of grasping: a ball within reach, and one out of reach."""

import numpy as np

from claims import synthetic
from sandlot.robots import swimmer_models
from sandlot.studies.water.grasp import Grasp


def test_four_links_hold_the_ball_to_either_side():
    study = Grasp()
    for job in study.jobs():
        found = study.run(job)
        assert found["held"] == 1.0
        assert found["exploded"] == 0.0


def test_a_ball_out_of_reach_is_not_held():
    study = Grasp(ball=(10.0, 8.0))
    found = study.run(next(study.jobs()))
    assert found["held"] == 0.0
    assert found["moved"] < 0.01


def test_an_exploded_simulation_does_not_hold_the_ball(monkeypatch):
    class Broken(swimmer_models.ReferenceSwimmers):
        @property
        def exploded(self):
            return np.array([True])

    monkeypatch.setattr(swimmer_models, "ReferenceSwimmers", Broken)
    study = Grasp()
    found = study.run(next(study.jobs()))
    assert (found["held"], found["exploded"]) == (0.0, 1.0)


def test_the_note_counts_exploded_simulations():
    outcomes = {"held": lambda job: 0.0, "exploded": lambda job: float(job["side"] == "left")}
    (claim,) = Grasp().claims(synthetic(Grasp(), **outcomes))
    assert not claim.holds
    assert claim.note == "1 exploded"
