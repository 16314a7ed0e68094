"""All terrain studies but `terrain.drive`: small runs are finite, repeatable, and draw and claim."""

import io

import numpy as np
import pytest
from numba import config

from sandlot.settings import build
from sandlot.studies import all_studies, find
from sandlot.studies.runner import run

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
SMALL = {
    "terrain.plate": {"spacings": [0.05]},
    "terrain.wheel": {"spacings": [0.05, 0.04], "slips": [0.0, 0.3], "seconds": 0.2},
    "terrain.low_slip": {"slips": [0.0, 0.1], "seconds": 0.1},
    "terrain.turning": {"seconds": 0.2},
    "terrain.slope": {"angles": [0.0, 10.0], "seconds": 0.1},
    "terrain.heaps": {"frictions": [0.2, 0.9], "length": 14, "width": 4, "layers": 4},
    "terrain.volume": {"steps": 200},
    "terrain.particles": {"steps": 100, "picture": {"bed": [0.4, 0.36, 0.04], "radius": 0.02, "seconds": 0.1}},
    "terrain.steps": {"seconds": 0.2},
    "terrain.energy": {"seconds": 0.5},
}
PICTURES = {"terrain.particles": 1}


@pytest.fixture(scope="module", params=SMALL)
def outcome(request, tmp_path_factory):
    study = build(find(request.param), SMALL[request.param])
    return run(study, tmp_path_factory.mktemp(request.param), workers=1)


def test_no_study_is_missing():
    terrain = [name for name in all_studies() if name.startswith("terrain.")]
    assert terrain == [*SMALL, "terrain.drive"]


def test_a_small_run_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert outcome.claims
    assert all(type(claim.holds) is bool and str(claim.measured) for claim in outcome.claims)
    pictures = list(study.scenes(results))
    assert len(pictures) == PICTURES.get(study.name, 0)
    for figure in [study.figure(results), *(picture.figure for picture in pictures)]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_a_repeated_job_gives_the_same_finite_values(outcome):
    study, results = outcome.study, outcome.results
    job = list(study.jobs())[-1]
    found = study.run(job)
    assert found.keys() == study.outcomes.keys()
    for name, value in found.items():
        assert np.isfinite(value).all()
        assert np.array_equal(value, results[name].values[job.index])
