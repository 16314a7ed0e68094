"""The studies that evolve and search, at small size, and their claims on made-up results."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from sandlot.control.files import load_controller
from sandlot.learning.cmaes import Adaptive
from sandlot.learning.evolution import Genetic
from sandlot.learning.neat import Neat
from sandlot.learning.pareto import Pareto
from sandlot.robots.swimmers import FastSwimmers
from sandlot.studies import find
from sandlot.studies.runner import run
from sandlot.studies.water.base import FOLLOWED, LIGHT, score, shared_waves
from sandlot.studies.water.evolution import Carry, Evolve, Heads, Shared, prepared
from sandlot.studies.water.search import Optimizers

FEW = Genetic(population=8, generations=3)
SMALL = {
    "water.evolve": {"replicates": 2, "seconds": 1.0, "genetic": FEW},
    "water.shared": {"replicates": 2, "seconds": 1.0, "genetic": FEW},
    "water.heads": {"replicates": 2, "seconds": 4.0, "genetic": FEW},
    "water.carry": {"replicates": 2, "seconds": 4.0, "genetic": FEW},
    "water.neat": {"replicates": 2, "seconds": 1.0, "neat": Neat(population=8, generations=3)},
    "water.optimizers": {"replicates": 2, "seconds": 1.0, "evaluations": 240, "adaptive": Adaptive(population=24)},
    "water.pareto": {"replicates": 2, "seconds": 1.0, "nsga": Pareto(population=8, generations=3)},
}
BODIES = {"best.toml": 17, "best.json": 8, "fastest.toml": 17, "cheapest.toml": 17}


@pytest.fixture(scope="module", params=SMALL)
def outcome(request, tmp_path_factory):
    study = find(request.param)(**SMALL[request.param])
    return run(study, tmp_path_factory.mktemp(request.param), workers=1)


def test_runs_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert outcome.claims
    assert isinstance(study.figure(results), Figure)
    assert all(isinstance(picture.figure, Figure) for picture in study.scenes(results))


def test_keeps_controllers_that_load(outcome, tmp_path):
    study = outcome.study
    for name, text in study.files(outcome.results).items():
        (tmp_path / name).write_text(text)
        controller = load_controller(tmp_path / name, study.snake)
        action = controller(np.zeros(8 + 2 * study.snake.joints))
        assert action.shape == (study.snake.joints,)


def test_the_same_again_on_two_workers(outcome):
    study = outcome.study
    if study.name not in ("water.shared", "water.neat"):
        pytest.skip("two of them are enough")
    again = run(study, Path(f"{outcome.directory}-again"), workers=2)
    assert again.digest == outcome.digest


def test_one_that_overloads_its_motors_does_not_count():
    study = Shared(seconds=5.0)
    genes = np.array([[0.46, 1.0, 0.68], [0.45, 3.0, 0.35]])
    fair, overloaded = study.evaluate(next(study.jobs()), genes)
    assert fair > 0.0
    assert -1.0 <= overloaded < FOLLOWED - 1.0


def test_what_explodes_gets_the_least_of_all():
    swimmers = FastSwimmers(LIGHT, 2)
    swimmers.swim([0.0], shared_waves(np.array([[0.2, 0.2, 0.9]] * 2), LIGHT.joints)[None], 0.1)
    swimmers.state[0, 1] = np.nan
    fitness = score(swimmers, np.ones(2), followed=0.0)
    assert fitness.tolist() == [1.0, -1e3]


def test_swimming_backwards_counts_negative():
    study = Evolve(seconds=4.0)
    forwards = np.tile([0.6, 0.5, 2.0 * np.pi / 7.0], 7)
    # Phases count modulo a turn: from the other side they run backwards.
    backwards = np.tile([0.6, 0.5, 2.0 * np.pi - 2.0 * np.pi / 7.0], 7)
    ahead, astern = study.evaluate(next(study.jobs()), np.array([forwards, backwards]))
    assert ahead > 0.5
    assert astern < -0.5


def test_heads_are_folded_before_they_swim():
    study = Heads()
    square, circle = (job for job in study.jobs() if job.parameters["replicate"] == 0)
    for job in (square, circle):
        ready = prepared(study.snake, study.before(job), study.begin())
        assert np.allclose(ready.angles[0], study.head(job), atol=0.02)
        assert ready.drive[0] > FOLLOWED
    assert np.degrees(study.head(square)[:8]) == pytest.approx([0, -90, 0, -90, 0, -90, 0, 45])
    assert np.degrees(study.head(circle)[:8]) == pytest.approx([-360 / 7] * 7 + [45])


def test_four_links_hold_before_it_carries():
    study = Carry()
    ready = prepared(study.snake, study.before(next(study.jobs())), study.begin())
    assert np.allclose(ready.angles[0, :3], np.pi / 2, atol=0.05)
    assert np.allclose(ready.angles[0, 3:], 0.0, atol=0.05)


def made_up(best, mean, genes, generations=60, replicates=4):
    """Results of `water.shared` that end at these values, nearly."""
    rng = np.random.default_rng(0)
    noise = 1.0 + 0.001 * rng.standard_normal((replicates, generations))
    shape = (replicates, generations, 3)
    return xr.Dataset(
        {
            "best": (("job", "generation"), best * noise),
            "mean": (("job", "generation"), mean * noise),
            "genes": (("job", "generation", "gene"), np.broadcast_to(genes, shape)),
            "champion": (("job", "gene"), np.broadcast_to(genes, (replicates, 3))),
        }
    )


def test_claims_hold_for_the_sources_numbers_and_not_for_others():
    study = Shared()
    own = "The source's best parameters swim 97.20 m."
    right = {claim.text: claim.holds for claim in study.claims(made_up(97.2, 80.9, (0.46, 2.0, 0.68)))}
    wrong = {claim.text: claim.holds for claim in study.claims(made_up(60.0, 59.0, (0.9, 1.0, 0.3)))}
    assert all(holds for text, holds in right.items() if text != own)
    assert not any(wrong[text] for text in wrong if "converge" in text or "97.20 m in" in text)


def test_evaluations_needed_are_counted_up_to_the_goal():
    study = Optimizers(replicates=2)
    counts = np.arange(1.0, 6.0) * 100
    best = np.array([[1, 2, 3, 9.95, 10], [1, 10, 10, 10, 10], [1, 1, 1, 1, 1], [0, 0, 9.9, 9.9, 9.9]])
    results = xr.Dataset(
        {
            "best": (("job", "sample"), best),
            "evaluations": (("job", "sample"), np.tile(counts, (4, 1))),
            "method": ("job", ["genetic", "genetic", "CMA-ES", "CMA-ES"]),
        }
    )
    needed = study.needed(results)
    assert needed["genetic"].tolist() == [400.0, 200.0]
    assert needed["CMA-ES"].tolist() == [np.inf, 300.0]
