"""The study of a wheel on soil: its claims about made-up results, and the Mohr-Coulomb limit."""

import numpy as np
import pytest
from numba import config

from claims import assert_fails, bumped, changed, failing, scaled, synthetic
from sandlot.studies.terrain import chrono
from sandlot.studies.terrain.wheel import SLIPS, Wheel, max_pull


def known(job):
    """Slips, sinkage and pull of Project Chrono, or values that could be its."""
    rows = sorted((slip, *found) for (ground, slip), found in chrono.WHEEL.items() if ground == job["ground"])
    return np.array(rows or [(0.0, 0.003, -5.0), (0.7, 0.003, 290.0)]).T


def ideal(slips):
    def sinkage(job):
        at, depth, _ = known(job)
        return np.interp(slips, at, depth)

    def pull(job):
        at, _, force = known(job)
        ends = ([-1.0, *at, slips[-1]], [force[0] - 100.0, *force, max_pull(job["ground"], sinkage(job)[-1])])
        return np.interp(slips, *ends)

    return {"sinkage": sinkage, "pull": pull}


IDEAL = ideal(SLIPS)


def test_all_claims_hold_for_ideal_results():
    assert failing(Wheel(), **IDEAL) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pull": lambda job, x: np.abs(x)}, ["crosses zero once", "whole range", "pulls as much"]),
        ({"pull": bumped(12, -200.0)}, ["whole range"]),
        ({"pull": bumped(-1, 40.0)}, ["Mohr-Coulomb"]),
        ({"sinkage": scaled(0.8, ground="soft")}, ["as deep as in Project Chrono"]),
        ({"pull": bumped(7, -60.0)}, ["pulls as much", "whole range"]),
        ({"sinkage": scaled(1.11, ground="LETE sand", spacing=0.01)}, ["Halving the grid"]),
        ({"sinkage": scaled(np.nan, spacing=0.005)}, ["Halving the grid"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    assert_fails(Wheel(), changed(IDEAL, **changes), words)


def test_without_shared_slips_nothing_is_compared_with_chrono():
    study = Wheel(slips=(0.05, 0.95))
    assert not any("Chrono" in claim.text for claim in study.claims(synthetic(study, **ideal(study.slips))))


def test_one_grid_spacing_cannot_support_the_claim_about_the_grid():
    assert any("Halving the grid" in text for text in failing(Wheel(spacings=(0.02,)), **IDEAL))


def test_the_mohr_coulomb_limit_includes_cohesion():
    assert max_pull("soft", 0.05) == pytest.approx(500.0 * np.tan(np.radians(30.0)))
    patch = 0.2 * np.sqrt(0.25**2 - 0.24**2)
    assert max_pull("LETE sand", 0.01) == pytest.approx(1300.0 * patch + 500.0 * np.tan(np.radians(31.1)))


def test_values_of_chrono_are_kept_by_soil_and_slip():
    assert chrono.WHEEL["mid", 0.3] == (0.02558, 226.527)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
def test_a_wheel_pulls_only_with_slip():
    study = Wheel(seconds=1.0)
    pull = [study.drive("mid", 0.02, slip)[1] for slip in (0.0, 0.5)]
    assert pull[0] < 0.0 < pull[1]
