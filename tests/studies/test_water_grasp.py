"""Grasping a ball within reach, and one that is not."""

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
