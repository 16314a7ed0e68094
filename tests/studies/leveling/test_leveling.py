"""The leveling studies: each claim can hold and fail, and small runs."""

import io
from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr

from sandlot.errors import SandlotError
from sandlot.settings import build
from sandlot.studies import Study, all_studies, find
from sandlot.studies.runner import run

SMALL = {"world": {"shape": [16, 16]}, "replicates": 2}
TINY: dict[str, dict] = {
    "leveling.probabilities": {"probabilities": [0.9, 0.3, 0.5]},
    "leveling.steepness": {"steepnesses": [4, 6, 12]},
    "leveling.memetic": {"terrains": 2},
    "leveling.remainder": {"fractions": [0.0, 0.25, 0.5]},
    "leveling.scaling": {"sizes": [8, 16], "swarms": [1, 4]},
}


def tiny(name: str, **changes) -> Study:
    return build(find(name), SMALL | TINY[name] | changes)


def synthetic(study: Study, noise: float = 0.05, **outcomes: Callable[[dict], float]) -> xr.Dataset:
    """Results in which each outcome is a function of the job's parameters, with a little noise."""
    rng = np.random.default_rng(0)
    jobs = [dict(job.parameters) for job in study.jobs()]
    columns = {name: [job[name] for job in jobs] for name in jobs[0]}
    for name in study.outcomes:
        rule = outcomes.get(name, lambda job: 1.0)
        spread = 0.0 if name == "flat" else noise
        columns[name] = [rule(job) * (1.0 + rng.uniform(-spread, spread)) for job in jobs]
    return xr.Dataset({name: ("job", values) for name, values in columns.items()})


def holds(study: Study, noise: float = 0.05, **outcomes: Callable[[dict], float]) -> list[bool]:
    return [claim.holds for claim in study.claims(synthetic(study, noise, **outcomes))]


def test_every_study_is_tested():
    driving = {"leveling.passive", "leveling.fleet", "leveling.bridge"}  # in test_driving_alone.py
    assert {name for name in all_studies() if name.startswith("leveling.")} == set(TINY) | driving


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        ("leveling.probabilities", 270),
        ("leveling.steepness", 300),
        ("leveling.memetic", 270),
        ("leveling.remainder", 300),
        ("leveling.scaling", 105),
    ],
)
def test_jobs_are_in_order_and_all_different(name, jobs):
    made = list(find(name)().jobs())
    assert len(made) == jobs
    assert [job.index for job in made] == list(range(jobs))
    assert len({tuple(job.parameters.items()) for job in made}) == jobs
    assert len({tuple(job.seed.generate_state(4)) for job in made}) == jobs


@pytest.mark.parametrize("name", TINY)
def test_a_seed_depends_on_the_study_seed_and_the_job_index(name):
    def seeds(**changes) -> list[tuple]:
        return [tuple(job.seed.generate_state(4)) for job in tiny(name, **changes).jobs()]

    few, many, other = seeds(), seeds(replicates=5), seeds(seed=1)
    assert few == many[: len(few)]
    assert not set(few) & set(other)


def test_more_values_keep_the_seeds_of_the_first_jobs():
    short = tiny("leveling.probabilities", probabilities=[0.9, 0.5, 0.3])
    long = tiny("leveling.probabilities", probabilities=[0.9, 0.5, 0.3, 0.1])
    begin, whole = list(short.jobs()), list(long.jobs())
    assert [job.parameters for job in begin] == [job.parameters for job in whole[:6]]
    assert [short.run(job) for job in begin] == [long.run(job) for job in whole[:6]]


@pytest.mark.parametrize("name", TINY)
def test_a_tiny_run_draws_and_claims(name, tmp_path):
    study = tiny(name)
    outcome = run(study, tmp_path)
    results = outcome.results
    assert set(results["flat"].values) == {1.0}
    assert (results["cycles"] > 0).all()
    assert (results["moved"] > 0).all()
    assert len(set(results["cycles"].values)) > 1
    assert outcome.claims
    assert all(claim.text and claim.source and str(claim.measured) for claim in outcome.claims)
    assert all(type(claim.holds) is bool for claim in outcome.claims), "or else JSON could not show it"
    pictures = [study.figure(results), *(picture.figure for picture in study.scenes(results))]
    assert len(pictures) == 3
    for picture in pictures:
        picture.savefig(io.BytesIO(), format="png", dpi=30)

    # Alone, backwards, or in a row: the same.
    for job in reversed(list(study.jobs())):
        alone = {name: float(value) for name, value in study.run(job).items()}
        assert alone == {name: float(results[name][job.index]) for name in study.outcomes}


def test_a_repeated_job_gives_the_same_values():
    study = tiny("leveling.probabilities")
    job = next(study.jobs())
    assert study.run(job) == study.run(job)


def test_a_stopped_run_is_noted():
    study = tiny("leveling.probabilities", max_cycles=10)
    results = study.run(next(study.jobs()))
    assert results["cycles"] == 10
    assert not results["flat"]


@pytest.mark.parametrize("name", ["leveling.memetic", "leveling.remainder"])
def test_claims_fail_if_a_run_was_stopped(name):
    def moved(job: dict) -> float:
        return 1e4 if job["rule"] == "probabilistic" else 5e3 * (1.0 + abs(job.get("fraction", 0.5) - 0.5))

    study = find(name)()
    cut = {"cycles": lambda job: study.max_cycles, "flat": lambda job: float(job["rule"] == "probabilistic")}
    assert not any(holds(study, moved=moved, **cut))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("leveling.probabilities", {"probabilities": [0.3, 0.3, 0.3]}),
        ("leveling.scaling", {"sizes": []}),
        ("leveling.scaling", {"swarms": []}),
        ("leveling.probabilities", {"world": {"shape": [1, 16], "agents": 2}}),
    ],
)
def test_unusual_settings_work_or_are_refused(name, changes, tmp_path):
    try:
        outcome = run(tiny(name, **changes), tmp_path)
    except SandlotError:
        return
    assert outcome.claims
    outcome.study.figure(outcome.results)
    assert list(outcome.study.scenes(outcome.results))


def test_all_jobs_share_a_terrain_that_depends_on_its_seed():
    study = tiny("leveling.memetic")
    np.testing.assert_array_equal(study.terrain(1), study.terrain(1))
    assert (study.terrain(0) != study.terrain(1)).any()
    np.testing.assert_array_equal(tiny("leveling.memetic", terrain_seed=1).terrain(0), study.terrain(1))


CURVES = [
    ("leveling.probabilities", "probability", 0.3, 0.1, 1.0),
    ("leveling.steepness", "k", 6.0, 2.0, 22.0),
]
"""Study, parameter, the source's minimum, step of the default grid, width of the curve."""


@pytest.mark.parametrize(("name", "by", "source", "step", "width"), CURVES)
class TestCurves:
    @staticmethod
    def valley(by: str, bottom: float, width: float) -> Callable[[dict], float]:
        return lambda job: 1e5 * (1.0 + 10.0 * ((job[by] - bottom) / width) ** 2)

    def test_claims_hold_for_a_valley_at_the_sources_minimum(self, name, by, source, step, width):
        study = find(name)()
        # Noise small enough that no neighbour of the bottom can be mistaken for it.
        found = study.claims(synthetic(study, 0.01, cycles=self.valley(by, source, width)))
        assert [claim.holds for claim in found] == [True, True]
        assert found[1].measured == pytest.approx(source)

    @pytest.mark.parametrize(("steps", "near"), [(1, True), (-1, True), (2, False), (-2, False), (3, False)])
    def test_the_minimum_may_be_one_step_off(self, name, by, source, step, width, steps, near):
        study = find(name)()
        found = study.claims(synthetic(study, 0.01, cycles=self.valley(by, source + steps * step, width)))
        assert found[1].measured == pytest.approx(source + steps * step)
        assert found[1].holds is near

    @pytest.mark.parametrize("direction", [1, -1])
    def test_a_slope_is_not_u_shaped(self, name, by, source, step, width, direction):
        study = find(name)()
        assert holds(study, cycles=lambda job: 1e5 * (2.0 + direction * job[by] / width))[0] is False

    def test_a_flat_curve_is_not_u_shaped(self, name, by, source, step, width):
        study = find(name)()
        assert holds(study, cycles=lambda job: 1e5)[0] is False

    @pytest.mark.parametrize("end", [0, -1])
    def test_one_high_end_is_not_u_shaped(self, name, by, source, step, width, end):
        study = find(name)()
        values = sorted({job.parameters[by] for job in study.jobs()})
        found = holds(study, cycles=lambda job: 2e5 if job[by] == values[end] else 1e5 + abs(job[by] - source))
        assert found[0] is False

    def test_a_difference_within_the_noise_is_not_u_shaped(self, name, by, source, step, width):
        study = find(name)()
        assert holds(study, 0.9, cycles=lambda job: 1e5 if job[by] == source else 1.02e5)[0] is False

    def test_every_value_but_the_fastest_is_compared_with_it(self, name, by, source, step, width):
        study = find(name)()
        tests = study.comparisons(synthetic(study, 0.01, cycles=self.valley(by, source, width)))
        assert {each.baseline for each in tests} == {f"{source:g}"}
        values = {f"{job.parameters[by]:g}" for job in study.jobs()}
        assert {each.group for each in tests} == values - {f"{source:g}"}


ONE_EACH, POOL = "memetic, one each", "memetic, pool of five"
SAVINGS = [(ONE_EACH, "moved"), (ONE_EACH, "cycles"), (POOL, "moved"), (POOL, "cycles")]
"""Rule and quantity of the four claims of the memetic study, in order."""


def by_rule(quantity: str, wrong: tuple[str, str] | None = None, terrain: int | None = None):
    """Fewer units and more cycles for memetic rules; reversed for ``wrong``, on one terrain or all."""

    def value(job: dict) -> float:
        if job["rule"] == "probabilistic":
            return 1e4
        turned = wrong == (job["rule"], quantity) and terrain in (None, job["terrain"])
        return 1.3e4 if (quantity == "cycles") is not turned else 0.7e4

    return value


def test_memetic_claims_can_all_hold():
    assert holds(find("leveling.memetic")(), moved=by_rule("moved"), cycles=by_rule("cycles")) == [True] * 4


@pytest.mark.parametrize("terrain", [None, 0, 2])
@pytest.mark.parametrize("wrong", SAVINGS)
def test_each_memetic_claim_can_fail_alone(wrong, terrain):
    study = find("leveling.memetic")()
    outcomes = {name: by_rule(name, wrong, terrain) for name in ("moved", "cycles")}
    assert holds(study, **outcomes) == [each != wrong for each in SAVINGS]


def test_memetic_claims_fail_without_a_difference():
    assert holds(find("leveling.memetic")(), moved=lambda job: 1e4, cycles=lambda job: 1e4) == [False] * 4


def test_memetic_claims_name_the_rule_and_the_quantity():
    study = find("leveling.memetic")()
    claims = study.claims(synthetic(study, moved=by_rule("moved"), cycles=by_rule("cycles")))
    for claim, (rule, quantity) in zip(claims, SAVINGS, strict=True):
        assert rule in claim.text
        assert ("fewer units" if quantity == "moved" else "more cycles") in claim.text
        assert claim.measured.count("x (p=") == 3, "a ratio for each terrain"


@pytest.mark.parametrize("wrong", [(), (ONE_EACH,), (POOL,), (ONE_EACH, POOL)])
def test_the_claims_about_the_remainder_can_hold_and_fail(wrong):
    def moved(job: dict) -> float:
        if job["rule"] == "probabilistic":
            return 1e4 * (1.0 + job["fraction"])
        closeness = 1.0 - 2.0 * min(job["fraction"], 1.0 - job["fraction"])
        saved = closeness if job["rule"] in wrong else 1.0 - closeness
        return 1e4 * (1.0 + job["fraction"]) * (1.0 - 0.5 * saved)

    assert holds(find("leveling.remainder")(), moved=moved) == [rule not in wrong for rule in (ONE_EACH, POOL)]


@pytest.mark.parametrize("terrain_seed", [0, 1, 2])
@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5, 0.9])
def test_a_shifted_terrain_has_the_given_mean(terrain_seed, fraction):
    study = find("leveling.remainder")(terrain_seed=terrain_seed)
    before, after = study.terrain().astype(int), study.shifted(fraction).astype(int)
    assert abs(after.mean() - np.floor(before.mean()) - fraction) <= 0.5 / before.size + 1e-12
    change = np.unique(after - before)
    assert set(change) in ({0, 1}, {0, -1}, {0})
    assert after.min() >= 0


def scaled(agents: float, cells: float) -> Callable[[dict], float]:
    """Cycles as a power law of agents, with agent-cycles as a power law of cells."""
    return lambda job: 1e3 * job["size"] ** (2.0 * cells) * job["agents"] ** agents


@pytest.mark.parametrize(
    ("agents", "cells", "expected"),
    [
        (-1.0, 1.3, [True, True]),
        (-0.93, 1.3, [True, True]),
        (-1.07, 1.3, [True, True]),
        (-0.87, 1.3, [False, True]),
        (-1.13, 1.3, [False, True]),
        (-1.0, 0.9, [True, False]),
        (-0.5, 0.5, [False, False]),
    ],
)
def test_exponents_are_estimated(agents, cells, expected):
    study = find("leveling.scaling")()
    claims = study.claims(synthetic(study, 0.001, cycles=scaled(agents, cells)))
    assert [claim.holds for claim in claims] == expected
    assert f"{agents:.2f} on 256 x 256" in claims[0].measured
    # Agents have the same share in every size, so that they do not change the power.
    assert claims[1].measured == pytest.approx(cells, abs=0.01)


def test_the_claim_fails_if_agents_hinder_each_other_on_one_size():
    study = find("leveling.scaling")()
    straight, slow = scaled(-1.0, 1.3), scaled(-0.7, 1.3)
    assert holds(study, 0.001, cycles=lambda job: (slow if job["size"] == 64 else straight)(job))[0] is False


def test_scaling_changes_the_settings_of_the_world():
    study = tiny("leveling.scaling", sizes=[8, 16], swarms=[1, 4], replicates=1)
    cycles = [study.run(job)["cycles"] for job in study.jobs()]
    small_alone, small_four, large_alone, large_four = cycles
    assert large_alone > small_alone > small_four
    assert large_alone > large_four > small_four
