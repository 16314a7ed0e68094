"""The study of shared parameters: evolution, and its claims about made-up results."""

import numpy as np
import pytest
import xarray as xr

from sandlot.control.snake.gaits import Gait
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.studies.water.base import FOLLOWED
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


def test_the_fitness_of_overloaded_motors_is_negative():
    study = Shared(seconds=5.0)
    genes = np.array([[0.46, 1.0, 0.68], [0.45, 3.0, 0.35]])
    fair, overloaded = study.evaluate(next(study.jobs()), genes)
    assert fair > 0.0
    assert -1.0 <= overloaded < FOLLOWED - 1.0


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
            "exploded": ("job", reference.get("exploded", np.zeros(replicates))),
        }
    )


def test_claims_hold_for_the_sources_values_and_fail_for_others():
    study = Shared()
    own = "The source's best parameters swim 97.20 m."
    right = {claim.text: claim.holds for claim in study.claims(made_up(97.2, 80.9, (0.46, 2.0, 0.68)))}
    wrong = {claim.text: claim.holds for claim in study.claims(made_up(60.0, 59.0, (0.9, 1.0, 0.3)))}
    assert all(holds for text, holds in right.items() if text != own)
    assert not any(wrong[text] for text in wrong if "converge" in text or "97.20 m in" in text)


@pytest.mark.parametrize(
    ("reference", "holds"),
    [
        ({"way": [100.0] * 4}, True),
        ({"way": [91.0] * 4}, False),
        ({"drive": [0.88] * 4}, False),
        ({"way": [np.nan, 97.2, 97.2, 97.2], "drive": [np.nan, 0.95, 0.95, 0.95], "exploded": [1, 0, 0, 0]}, False),
        ({"way": [np.nan] * 4, "exploded": [1] * 4}, False),
    ],
    ids=["near", "less far", "motors give less", "one exploded", "all exploded"],
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


def test_a_gait_far_from_the_motors_limit_swims_the_same_in_the_reference():
    study = Shared(seconds=1.0)
    job = next(study.jobs())
    found = study.judge(job, MILD)
    assert found["exploded"] == 0.0
    assert found["drive"] > FOLLOWED
    assert found["reference_drive"] == pytest.approx(found["drive"], rel=0.02)
    assert found["reference_distance"] == pytest.approx(study.evaluate(job, MILD[None])[0], rel=0.02)
    assert found["halved_distance"] == pytest.approx(found["reference_distance"], rel=0.02)
