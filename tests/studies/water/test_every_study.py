"""All water studies but `water.fidelity`: small runs draw and claim."""

import io
from pathlib import Path

import numpy as np
import pytest

from sandlot.control.snake.files import load_controller
from sandlot.learning.cmaes import Adaptive
from sandlot.learning.evolution import Genetic
from sandlot.learning.neat import Neat
from sandlot.learning.pareto import Pareto
from sandlot.robots.snake import Snake
from sandlot.studies import all_studies, find
from sandlot.studies.runner import run

FEW = Genetic(population=8, generations=3)
SMALL = {
    "water.evolve": {"replicates": 2, "seconds": 1.0, "genetic": FEW},
    "water.neat": {"replicates": 2, "seconds": 1.0, "neat": Neat(population=8, generations=3)},
    "water.turn": {"seconds": 1.0},
    "water.drift": {"frequencies": [1.0, 2.0], "swims": 2.0, "seconds": 4.0},
    "water.stop": {"durations": [0.0, 0.1], "seconds": 12.0},
    "water.spin": {"seconds": 1.0, "snake": Snake(links=9, mass=100.0)},
    "water.shared": {"replicates": 2, "seconds": 1.0, "genetic": FEW},
    "water.heads": {"replicates": 2, "seconds": 4.0, "genetic": FEW},
    "water.grasp": {},
    "water.carry": {"replicates": 2, "seconds": 4.0, "genetic": FEW},
    "water.capture": {"seconds": 2.0},
    "water.deliver": {"seconds": 2.0, "targets": 4, "sets": 2},
    "water.calibration": {
        "drags": [18.0, 19.0],
        "gains": [20.0, 32.0],
        "torques": [1.0],
        "rates": [100.0],
        "intervals": [0.02],
        "steps": [0.01],
        "genetic": FEW,
    },
    "water.optimizers": {"replicates": 2, "seconds": 1.0, "evaluations": 240, "adaptive": Adaptive(population=24)},
    "water.pareto": {"replicates": 2, "seconds": 1.0, "nsga": Pareto(population=8, generations=3)},
    "water.currents": {"seconds": 1.0, "targets": 4, "sets": 2},
}


@pytest.fixture(scope="module", params=SMALL)
def outcome(request, tmp_path_factory):
    study = find(request.param)(**SMALL[request.param])
    return run(study, tmp_path_factory.mktemp(request.param), workers=1)


def test_no_study_is_missing():
    water = [name for name in all_studies() if name.startswith("water.")]
    assert [name for name in water if name != "water.fidelity"] == list(SMALL)


def test_runs_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert outcome.claims
    assert all(claim.text and claim.source and str(claim.measured) for claim in outcome.claims)
    assert all(type(claim.holds) is bool for claim in outcome.claims), "or else JSON could not show it"
    for figure in [study.figure(results), *(picture.figure for picture in study.scenes(results))]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_tracks_are_finite(outcome):
    study = outcome.study
    if study.name not in ("water.drift", "water.stop", "water.spin"):
        pytest.skip("has no track")
    for name in study.outcomes.keys() - {"rest"}:
        assert np.isfinite(outcome.results[name].values).all()


KEPT = {
    "water.evolve": ["best_10.toml", "best_100.toml"],
    "water.neat": ["best.json"],
    "water.shared": ["best.toml"],
    "water.heads": ["square.toml", "circle.toml"],
    "water.carry": ["best.toml"],
    "water.pareto": ["cheapest.toml", "fastest.toml"],
}


def test_saved_controllers_load(outcome, tmp_path):
    study = outcome.study
    assert list(study.files(outcome.results)) == KEPT.get(study.name, [])
    for name, text in study.files(outcome.results).items():
        (tmp_path / name).write_text(text)
        controller = load_controller(tmp_path / name, study.snake)
        controller.reset([np.random.SeedSequence(0)])
        assert controller.act(np.zeros((1, 8 + 2 * study.snake.joints))).shape == (1, study.snake.joints)


def test_two_workers_give_the_same_digest(outcome):
    study = outcome.study
    if study.name not in ("water.shared", "water.neat"):
        pytest.skip("two of them are enough")
    again = run(study, Path(f"{outcome.directory}-again"), workers=2)
    assert again.digest == outcome.digest


@pytest.mark.parametrize(("name", "jobs"), [("water.drift", 32), ("water.stop", 26), ("water.spin", 8)])
def test_jobs_are_in_order_and_all_different(name, jobs):
    made = list(find(name)().jobs())
    assert [job.index for job in made] == list(range(jobs))
    assert len({tuple(job.parameters.items()) for job in made}) == jobs
