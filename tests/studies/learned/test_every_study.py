"""All studies of learned simulation: small runs draw and claim, and repeated jobs give the same."""

import io

import numpy as np
import pytest
from numba import config

from sandlot.settings import build
from sandlot.studies import all_studies, find
from sandlot.studies.runner import run

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
SMALL = {
    "learned.v1": {"frames": 400, "epochs": 5, "replicates": 1},
    "learned.v2": {"frames": 1000, "epochs": 1, "sessions": 1},
    "learned.terrain_net": {"frames": 256, "epochs": 1},
    "learned.preprocessing": {"frames": 1000, "epochs_1": 5, "epochs_2": 1},
    "learned.rover": {"replicates": 1, "seconds": 2.5, "run_seconds": 2.0},
    "learned.soil": {"plates": 2, "wheels": 2, "drives": 2, "seconds": 1, "first": 1, "rounds": 1},
    "learned.standins": {
        **{"replicates": 1, "training": 1, "tests": 1, "seconds": 2.5, "run_seconds": 2.0, "nodes": 70},
        **{"relief": 0.01, "first": 1, "rounds": 1, "epochs": 1},
    },
}
SLOW = {"learned.terrain_net", "learned.preprocessing", "learned.rover", "learned.soil", "learned.standins"}
TIMES = {"frame_time", "step_time", "particle_time", "soil_time"}


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in SMALL]
)
def outcome(request, tmp_path_factory):
    study = build(find(request.param), SMALL[request.param])
    return run(study, tmp_path_factory.mktemp(request.param), workers=1)


def test_every_published_study_is_here():
    assert set(SMALL) <= {name for name in all_studies() if name.startswith("learned.")}


def test_a_small_run_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert all(type(claim.holds) is bool and str(claim.measured) for claim in outcome.claims)
    assert len(outcome.claims) >= 3
    for figure in [study.figure(results), *(picture.figure for picture in study.scenes(results))]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_a_repeated_job_gives_the_same_finite_values(outcome):
    study = outcome.study
    again = study.run(next(iter(study.jobs())))
    for name in set(study.outcomes) - TIMES:
        kept = outcome.results[name].values[0]
        text = isinstance(kept, str)
        assert text or np.isfinite(kept).all() or study.outcomes[name].dims == ("run",), name
        assert np.array_equal(kept, again[name], equal_nan=not text), name
