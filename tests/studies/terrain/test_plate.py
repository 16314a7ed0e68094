"""The study of a plate on soil: its claims about made-up results, and Bekker's law."""

import numpy as np
import pytest
from numba import config

from claims import assert_fails, bumped, changed, failing
from sandlot.studies.terrain import chrono
from sandlot.studies.terrain.plate import DEPTHS, LIFTS, SECOND_DEPTHS, Plate, bekker

IDEAL = {
    "loading": lambda job: bekker(job["ground"], DEPTHS),
    "unloading": lambda job: bekker(job["ground"], DEPTHS)[-1] * (1.0 - LIFTS),
    "reloading": lambda job: bekker(job["ground"], DEPTHS)[-1] * (1.0 - LIFTS),
    "second_loading": lambda job: np.where(
        SECOND_DEPTHS - DEPTHS[-1] < -1e-9, 0.0, bekker(job["ground"], SECOND_DEPTHS)
    ),
}


def test_all_claims_hold_for_ideal_results():
    assert failing(Plate(), **IDEAL) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"loading": bumped(20, 400.0)}, ["sinks along Bekker"]),
        ({"unloading": bumped(5, 5e3)}, ["elastic line", "the same line"]),
        ({"reloading": bumped(5, 5e3)}, ["the same line"]),
        ({"second_loading": bumped(2, 5e3)}, ["above its previous depth"]),
        ({"second_loading": bumped(30, 5e4)}, ["Bekker's curve again"]),
        ({"loading": bumped(20, np.nan)}, ["sinks along Bekker"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    assert_fails(Plate(), changed(IDEAL, **changes), words)


def test_bekkers_law_has_the_values_of_the_preset():
    assert bekker("LETE sand", np.array(0.05)) == pytest.approx(0.08 * (1.02e5 / 0.2 + 5.301e6) * 0.05**0.793)
    assert chrono.PLATE[0.05] / bekker("soft", np.array(0.05)) == pytest.approx(1.16, abs=0.01)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
def test_a_plate_follows_bekkers_curve():
    study = Plate(spacings=(0.03,))
    (job,) = (job for job in study.jobs() if job.parameters["ground"] == "mid")
    found = study.run(job)
    assert found["loading"] == pytest.approx(bekker("mid", DEPTHS), rel=0.02)
    assert found["reloading"] == pytest.approx(found["unloading"], rel=1e-6)
