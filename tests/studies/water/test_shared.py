"""The study of shared parameters: evolution, and its claims about made-up results."""

import numpy as np
import pytest
import xarray as xr

from sandlot.control.snake.gaits import Gait
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.studies.water.carry import Carry
from sandlot.studies.water.heads import Heads
from sandlot.studies.water.shared import Shared, prepared

MILD = np.array([0.3, 0.7, 0.8])


@pytest.mark.parametrize("interval", [0.02, 0.05])
@pytest.mark.parametrize("study", [Shared, Heads, Carry])
def test_a_single_simulation_equals_the_one_in_evolution(study, interval):
    made = study(seconds=6.1, snake=Snake(interval=interval))
    job = next(made.jobs())
    plan, swimmers = made.whole(job, MILD), FastSwimmers(made.snake, 1)
    for k in range(round(made.seconds / interval)):
        swimmers.command(plan.targets((k + 1) * interval, made.snake)[None])
    ready = prepared(made.snake, made.before(job), made.begin())
    (fitness,) = made.evaluate(job, MILD[None])
    assert abs(fitness) > 0.1
    assert made.distance(ready, swimmers)[0] == pytest.approx(fitness, rel=1e-9)


@pytest.mark.parametrize("study", [Shared(), Heads(), Carry()])
def test_the_gait_of_an_individual_has_its_waves(study):
    for job in study.jobs():
        if job.parameters["replicate"] == 0:
            gait, joints = study.gait(job, MILD), study.snake.joints
            np.testing.assert_allclose(gait.waves(joints), study.waves(job, MILD[None])[..., 0], atol=1e-12)


def test_shared_parameters_are_saved_as_single_values():
    study = Shared()
    assert study.gait(next(study.jobs()), MILD) == Gait(amplitude=0.3, frequency=0.7, phase=0.8)


def test_the_fitness_is_the_distance_also_if_motors_reach_their_torque_limit():
    study = Shared(seconds=2.0, snake=Snake(max_torque=100.0))
    job = next(study.jobs())
    swimmers, plan = FastSwimmers(study.snake, 1), study.whole(job, MILD)
    distance = study.swum(swimmers, plan)
    assert swimmers.drive[0] < 0.5
    assert study.evaluate(job, MILD[None])[0] == pytest.approx(distance, rel=1e-9)


def made_up(best, mean, genes, generations=60, replicates=4, **reference):
    """Results of `water.shared` that end near these values; the same in the reference unless given."""
    rng = np.random.default_rng(0)
    noise = 1.0 + 0.001 * rng.standard_normal((replicates, generations))
    shape = (replicates, generations, 3)
    return xr.Dataset(
        {
            "best": (("job", "generation"), best * noise),
            "mean": (("job", "generation"), mean * noise),
            "genes": (("job", "generation", "gene"), np.broadcast_to(genes, shape)),
            "champion": (("job", "gene"), np.broadcast_to(genes, (replicates, 3))),
            "drive": ("job", np.full(replicates, 0.95)),
            "reference_distance": ("job", reference.get("way", np.full(replicates, best))),
            "reference_drive": ("job", reference.get("drive", np.full(replicates, 0.95))),
            "halved_distance": ("job", reference.get("halved", np.full(replicates, best))),
            "sensitivity": ("job", reference.get("sensitivity", np.full(replicates, 1e-4))),
            "exploded": ("job", reference.get("exploded", np.zeros(replicates))),
        }
    )


def test_claims_hold_for_the_sources_values_and_fail_for_others():
    study = Shared()
    right = {claim.text: claim.holds for claim in study.claims(made_up(97.2, 80.9, (0.46, 2.0, 0.68)))}
    wrong = {claim.text: claim.holds for claim in study.claims(made_up(60.0, 59.0, (0.9, 1.0, 0.3)))}
    assert all(right.values())
    assert not any(wrong[text] for text in wrong if "converge" in text or "97.20 m in" in text)


@pytest.mark.parametrize(
    ("genes", "holds", "note"),
    [
        ((0.46, 2.0, 0.68), True, ""),
        ((0.46, 2.99, 0.68), False, "too close: frequency"),
        ((0.1, 2.0, 0.01), False, "too close: amplitude, phase"),
    ],
    ids=["inside", "at the highest frequency", "at two lower bounds"],
)
def test_the_claim_about_the_bounds_can_hold_and_fail(genes, holds, note):
    claims = {claim.text: claim for claim in Shared().claims(made_up(97.2, 80.9, genes))}
    claim = claims["The optimum lies inside the bounds."]
    assert claim.holds is holds
    assert note in claim.note
    assert str(claim.measured).startswith("in 4 of 4" if holds else "in 0 of 4")


def test_one_sensitive_replicate_makes_the_claim_fail():
    results = made_up(97.2, 80.9, (0.46, 2.0, 0.68), sensitivity=np.array([1e-4, 1e-4, 1e-4, 0.02]))
    claim = Shared().claims(results)[-2]
    assert "changes by 0.01%" in claim.text
    assert not claim.holds
    assert claim.measured == "0.01% (median), 2.00% (maximum)"


def test_the_sensitivity_is_that_of_the_most_sensitive_parameter(monkeypatch):
    monkeypatch.setattr(Shared, "evaluate", lambda self, job, genes: genes[:, 0] * genes[:, 1] ** 3)
    study = Shared()
    assert study.sensitivity(next(study.jobs()), MILD) == pytest.approx(3e-4, rel=1e-3)


@pytest.mark.parametrize(
    ("reference", "holds"),
    [
        ({"way": [100.0] * 4}, True),
        ({"way": [91.0] * 4}, False),
        ({"drive": [0.88] * 4}, False),
        ({"way": [np.nan, 97.2, 97.2, 97.2], "drive": [np.nan, 0.95, 0.95, 0.95], "exploded": [1, 0, 0, 0]}, False),
        ({"way": [np.nan] * 4, "exploded": [1] * 4}, False),
    ],
    ids=["near", "less far", "more motors at their limit", "one exploded", "all exploded"],
)
def test_the_claim_about_the_reference_can_hold_and_fail(reference, holds):
    claim = Shared().claims(made_up(97.2, 80.9, (0.46, 2.0, 0.68), **reference))[-1]
    assert claim.holds is holds
    assert f"{sum(reference.get('exploded', [0]))} of 4 exploded" in claim.note
    assert "nan" not in str(claim.measured)


def test_the_note_counts_gaits_that_did_not_converge():
    halved = np.array([97.2, 97.2, 60.0, 120.0])
    claim = Shared().claims(made_up(97.2, 80.9, (0.46, 2.0, 0.68), halved=halved))[-1]
    assert "for 2 of the others half the step" in claim.note


def test_a_gait_below_the_motors_limit_swims_the_same_in_the_reference():
    study = Shared(seconds=1.0)
    job = next(study.jobs())
    found = study.judge(job, MILD)
    assert found["exploded"] == 0.0
    assert found["drive"] > 0.95
    assert 0.0 < found["sensitivity"] < 0.01
    assert found["reference_drive"] == pytest.approx(found["drive"], rel=0.02)
    assert found["reference_distance"] == pytest.approx(study.evaluate(job, MILD[None])[0], rel=0.02)
    assert found["halved_distance"] == pytest.approx(found["reference_distance"], rel=0.02)
