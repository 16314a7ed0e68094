"""The studies of avoidance, in small: they run, and draw and judge what they find."""

from importlib.util import find_spec

import numpy as np
import pytest

from sandlot.studies import find
from sandlot.studies.indoor.avoider import AvoiderDrives
from sandlot.studies.indoor.dqn import LEARNERS
from sandlot.studies.indoor.rewards import WORLDS, reward_map
from sandlot.studies.indoor.sweep import Sweep
from sandlot.studies.runner import run

SMALL = {
    "indoor.dqn": {"learners": ("source", "plain", "all"), "replicates": 2, "episodes": 40, "tested": 10},
    "indoor.rewards": {"replicates": 1, "episodes": 40, "tested": 10},
    "indoor.vision": {"lines": (0, 3, 16), "replicates": 1, "episodes": 20, "tested": 5},
    "indoor.scenarios": {"replicates": 1, "episodes": 20, "tested": 20},
    "indoor.sweep": {
        "rates": (0.02, 0.1),
        "discounts": (0.98,),
        "decays": (0.9985,),
        "episodes": 24,
        "searches": 1,
        "trials": 4,
        "tested": 5,
        "scored": 5,
    },
}


@pytest.mark.parametrize("name", SMALL)
def test_it_runs_in_small(name, tmp_path):
    study = find(name)(**SMALL[name])
    outcome = run(study, tmp_path / "run")
    assert outcome.claims
    assert study.figure(outcome.results).axes


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
@pytest.mark.slow
def test_a_sweep_on_a_ray_cluster_gives_the_same(tmp_path):
    study = Sweep(**SMALL["indoor.sweep"])
    here, there = (run(study, tmp_path / backend, 2, backend=backend) for backend in ("processes", "ray"))
    assert here.summary()["digest"] == there.summary()["digest"]


def test_the_full_sweep_has_336_combinations_and_the_optimum_of_the_source():
    grid = [job.parameters for job in Sweep().jobs() if job.parameters["method"] == "grid"]
    assert len(grid) == 336
    assert sum((each["rate"], each["discount"], each["decay"]) == (0.02, 0.98, 0.9985) for each in grid) == 1


def test_a_search_gives_up_agents_and_repeats_itself():
    study = Sweep(rates=(0.02, 0.1, 0.2), episodes=40, trials=8, scored=5, tested=5)
    job = next(job for job in study.jobs() if job.parameters["method"] == "search")
    first, second = study.run(job), study.run(job)
    assert first == second
    assert 40 <= first["episodes_played"] < 8 * 40
    assert first["best_rate"] in study.rates


def test_learners_differ_only_in_what_their_name_says():
    plain = LEARNERS["plain"].model_dump()
    for name in ("double", "dueling", "prioritised", "munchausen", "three moves"):
        changed = [key for key, value in LEARNERS[name].model_dump().items() if value != plain[key]]
        assert changed == [{"three moves": "steps"}.get(name, name)]


def test_the_proportional_reward_has_a_slope_and_the_binary_one_has_none():
    far = np.s_[2:10, 2:10]
    assert np.ptp(reward_map(WORLDS["proportional"])[far]) > 0.01
    assert np.ptp(reward_map(WORLDS["binary"])[far]) == 0.0


def test_the_avoider_steers_the_navigating_rover_past_a_pillar():
    study = AvoiderDrives(scenarios=("obstacle",), replicates=1)
    planner, avoider = (study.run(job) for job in study.jobs())
    assert planner["decisions"] == 0 < avoider["decisions"]
    assert planner["arrived"] == avoider["arrived"] == 1.0
