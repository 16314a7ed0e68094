"""The study of the source's constants: its misfit, its likelihood, and its claims about made-up results."""

import numpy as np
import pytest
import xarray as xr

from sandlot.robots.snake import DRAG, GAIN, Snake
from sandlot.studies.water.calibration import NUMBERS, OWN_GAIT, Calibration, misfit, swum

PUBLISHED = np.array([number.value for number in NUMBERS])


def made_up(study, numbers, gait=(0.5, 2.9, 0.6), frequency=2.0):
    """Results in which ``numbers(parameters, drag)`` gives the numbers of every job."""
    jobs = list(study.jobs())
    found = np.array([[numbers(job.parameters, drag) for drag in study.drags] for job in jobs])
    shape = (len(jobs), len(study.drags))
    return xr.Dataset(
        {
            "numbers": (("job", "drag", "number"), found),
            "frequency": (("job", "drag"), np.full(shape, frequency)),
            "fitted": ("job", np.full(len(jobs), DRAG)),
            "best": ("job", np.full(len(jobs), 170.0)),
            "gait": (("job", "gene"), np.tile(gait, (len(jobs), 1))),
            **{name: ("job", [job.parameters[name] for job in jobs]) for name in jobs[0].parameters},
        }
    )


def exact(parameters, drag):
    """Numbers that fit at the constants in use, with a little noise, and worse the further away."""
    off = abs(np.log(drag / 18.5)) + abs(np.log(parameters["gain"] / GAIN)) + (parameters["mass"] != 15.625)
    off += parameters["torque"] != 1.0
    return PUBLISHED * np.exp(off + 0.01 * np.sin(np.arange(PUBLISHED.size)))


def test_the_gait_of_section_7_7_swims_what_the_source_reports():
    assert swum(Snake(), np.array([OWN_GAIT]))[0] == pytest.approx(97.20, rel=0.001)


def test_the_misfit_is_zero_for_the_published_numbers_and_infinite_for_negative_ones():
    assert misfit(PUBLISHED) == 0.0
    assert misfit(1.1 * PUBLISHED) == pytest.approx(np.log(1.1))
    assert misfit(np.where(np.arange(PUBLISHED.size) == 0, -1.0, PUBLISHED)) == np.inf


def test_numbers_that_test_the_fit_are_not_fitted():
    assert misfit(np.where(np.arange(PUBLISHED.size) >= 6, 2.0 * PUBLISHED, PUBLISHED)) == 0.0


def test_the_best_fit_and_the_likely_region_are_found():
    study = Calibration()
    results = made_up(study, exact)
    assert study.best(results, 15.625)[:2] == (GAIN, 18.5)
    likelihood = study.likelihood(results)
    assert likelihood.max() == 1.0
    assert likelihood[study.gains.index(GAIN), study.drags.index(18.5)] == 1.0
    assert likelihood[0, 0] < 1e-6


def test_every_claim_but_the_optimum_holds_for_a_perfect_fit():
    study = Calibration()
    claims = study.claims(made_up(study, exact))
    failing = [claim.text for claim in claims if not claim.holds]
    assert failing == ["The best gait of section 7.7 has 2.00 Hz."]


def test_constants_far_from_the_fit_are_not_likely():
    study = Calibration()
    away = study.claims(made_up(study, lambda parameters, drag: exact(parameters, 0.8 * drag)))
    assert next(claim.text for claim in away if not claim.holds) == "The constants that Sandlot uses are likely ones."


def test_an_optimum_that_other_motors_explain_is_seen():
    study = Calibration()
    claims = study.claims(
        made_up(study, lambda parameters, drag: exact({**parameters, "torque": 1.0}, drag), (0.46, 2.0, 0.68))
    )
    texts = {claim.text: claim.holds for claim in claims}
    assert texts["The best gait of section 7.7 has 2.00 Hz."]
    assert not texts["With this gain, no limits of torque and rate explain the optimum of 7.7 and the other numbers."]
