"""The study of Project Chrono's choices at low slip: its claims about made-up results."""

import numpy as np
import pytest
from numba import config

from claims import assert_fails, changed, failing, scaled, synthetic
from sandlot.studies.terrain import chrono
from sandlot.studies.terrain.low_slip import ALL, PLAIN, SOIL, LowSlip

SLIPS = LowSlip().slips
BOTH = "summed slip and rays"


def known(job):
    """Slips, sinkage and pull of Project Chrono."""
    return np.array(
        sorted((slip, *found) for (ground, slip), found in chrono.WHEEL.items() if ground == job["ground"])
    ).T


def pull(job):
    at, _, force = known(job)
    force = np.interp(SLIPS, at, force)
    if job["model"] in (ALL, BOTH):
        return force
    low = np.where(np.array(SLIPS) <= 0.1, -150.0, 0.0)
    if job["model"] == "summed slip":
        low[np.array(SLIPS) > 0.0] = 0.0
    return force + low


IDEAL = {"sinkage": lambda job: np.interp(SLIPS, *known(job)[:2]), "pull": pull}


def test_all_claims_hold_for_ideal_results():
    assert failing(LowSlip(), **IDEAL) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pull": scaled(1.2, model=SOIL)}, ["as the soil of Sandlot does"]),
        ({"pull": scaled(-1.0, model="summed slip", ground="soft")}, ["summing slip is the one choice"]),
        ({"pull": scaled(-1.0, model="full cells", ground="soft")}, ["summing slip is the one choice"]),
        ({"pull": scaled(0.5, model="rays", ground="soft")}, ["without slip"]),
        ({"pull": scaled(2.0, model=BOTH, ground="soft")}, ["without slip"]),
        ({"pull": scaled(1.3, model=ALL)}, ["pulls as much as Project Chrono"]),
        ({"pull": scaled(-1.0, model=ALL, ground="mid")}, ["pulls as much as Project Chrono"]),
        ({"sinkage": scaled(0.8, model=ALL)}, ["sinks as deep"]),
        ({"sinkage": scaled(np.nan, model=ALL)}, ["sinks as deep"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    assert_fails(LowSlip(), changed(IDEAL, **changes), words)


def test_without_shared_slips_nothing_is_compared_with_chrono():
    study = LowSlip(slips=(0.02, 0.04))
    claims = study.claims(synthetic(study, sinkage=lambda job: np.full(2, 0.01), pull=lambda job: np.zeros(2)))
    assert len(claims) == 1


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
def test_the_plain_model_pulls_as_the_soil_does():
    study = LowSlip(seconds=1.0)
    (depth, force), (plain_depth, plain_force) = (study.drive(model, "mid", 0.3) for model in (SOIL, PLAIN))
    assert plain_depth == pytest.approx(depth, rel=0.05)
    assert plain_force == pytest.approx(force, rel=0.05)
