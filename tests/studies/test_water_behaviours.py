"""Drifting, stopping and spinning: each claim can hold and can fail, and each study really runs."""

import io

import numpy as np
import pytest
import xarray as xr

from sandlot.control.gaits import STRAIGHT, Schedule
from sandlot.robots.snake import Snake
from sandlot.studies import Study
from sandlot.studies.runner import run
from sandlot.studies.water import behaviours
from sandlot.studies.water.behaviours import EVERY, Drift, Spin, Stop, at, follow

TINY = {
    Drift: {"frequencies": [1.0, 2.0], "swims": 2.0, "seconds": 4.0},
    Stop: {"durations": [0.0, 0.1], "seconds": 12.0},
    Spin: {"seconds": 1.0, "snake": Snake(links=9, mass=100.0)},
}


def synthetic(study: Study, **outcomes) -> xr.Dataset:
    """Results as if each job had given what ``outcomes`` say of its parameters."""
    jobs = [dict(job.parameters) for job in study.jobs()]
    columns = {name: ("job", [job[name] for job in jobs]) for name in jobs[0]}
    for name, quantity in study.outcomes.items():
        values = np.array([outcomes.get(name, lambda job: 1.0)(job) for job in jobs])
        columns[name] = (("job", *quantity.dims), values)
    return xr.Dataset(columns)


def holding(study: Study, **outcomes) -> list[bool]:
    return [claim.holds for claim in study.claims(synthetic(study, **outcomes))]


@pytest.mark.parametrize("cls", TINY)
def test_a_tiny_run_draws_and_claims(cls, tmp_path, monkeypatch):
    study = cls.model_validate(TINY[cls])
    outcome = run(study, tmp_path)
    results = outcome.results
    for name in study.outcomes.keys() - {"rest"}:
        assert np.isfinite(results[name].values).all()
    assert outcome.claims
    assert all(claim.text and claim.source and str(claim.measured) for claim in outcome.claims)
    assert all(type(claim.holds) is bool for claim in outcome.claims), "or else JSON could not show it"
    for figure in [study.figure(results), *(picture.figure for picture in study.scenes(results))]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


@pytest.mark.parametrize(("cls", "jobs"), [(Drift, 32), (Stop, 26), (Spin, 6)])
def test_jobs_are_in_order_and_all_different(cls, jobs):
    made = list(cls().jobs())
    assert [job.index for job in made] == list(range(jobs))
    assert len({tuple(job.parameters.items()) for job in made}) == jobs


def test_a_track_starts_at_zero_and_has_a_sample_for_every_tenth_of_a_second():
    track = follow("fast", Snake(links=3), Schedule((0.0,), (STRAIGHT,)), 1.0)
    assert track.centre.shape == (11, 2)
    assert track.heading.shape == track.forward.shape == track.distance.shape == (11,)
    assert not track.centre.any()
    assert at(1.0) == 10


def test_what_has_exploded_is_not_a_number(monkeypatch):
    class Broken(behaviours.FastSwimmers):
        @property
        def exploded(self):
            return np.array([True])

    monkeypatch.setattr(behaviours, "FastSwimmers", Broken)
    track = follow("fast", Snake(links=3), Schedule((0.0,), (STRAIGHT,)), 0.2)
    assert np.isnan(track.distance).all()
    assert np.isnan([track.forward, track.heading]).all()
    assert np.isnan(track.drive)


class TestDrift:
    @staticmethod
    def distance(before=(0.9, 0.96, 0.1), after=(5.72, 8.0, 0.69), best="2 Hz"):
        """Distances at 10 s, at 20 s, and velocity at 10 s, as the source has them unless given."""

        def values(job):
            middle, end, speed = before if job["case"] == "before" else after
            if job["case"] not in ("before", best):
                middle = 0.9 * middle
            time = np.arange(201) * EVERY
            return np.interp(time, [0.0, 9.0, 10.0, 20.0], [0.0, middle - speed, middle, end])

        return values

    @staticmethod
    def velocity(spike=0.3):
        return lambda job: np.where(np.arange(201) == 102, spike, 0.1)

    def test_the_sources_numbers_hold(self):
        assert all(holding(Drift(), distance=self.distance(), velocity=self.velocity()))

    @pytest.mark.parametrize(
        ("changes", "failing"),
        [
            ({"before": (1.2, 1.26, 0.1)}, {0, 1, 6}),
            ({"before": (0.9, 1.2, 0.1)}, {1}),
            ({"after": (5.72, 5.8, 0.69)}, {3, 5, 7}),
            ({"after": (5.72, 8.0, 0.5)}, {4, 5, 6}),
            ({"best": "4 Hz"}, {8}),
        ],
    )
    def test_each_claim_can_fail(self, changes, failing):
        held = holding(Drift(), distance=self.distance(**changes), velocity=self.velocity())
        wrong = {k for k, each in enumerate(held) if not each}
        assert failing <= wrong

    def test_no_spike_is_seen(self):
        held = holding(Drift(), distance=self.distance(), velocity=self.velocity(0.1))
        assert held == [True] * 9 + [False]

    def test_before_and_after_differ_as_the_source_says(self):
        before, plan = Drift().setup(5.0, "before")
        after, fast = Drift().setup(5.0, "2 Hz")
        assert (before.faces, before.max_torque, plan.gaits[0].frequency) == ("all", 100.0, 0.6)
        assert (after.faces, after.max_torque, fast.gaits[0].frequency) == ("open", 1000.0, 2.0)
        assert before.arclength == after.arclength == 12.0
        assert fast.starts == (0.0, 10.0)

    def test_overloaded_motors_support_nothing(self):
        drive = {"drive": lambda job: 0.5 if job["case"] == "before" else 1.0}
        held = holding(Drift(), distance=self.distance(), velocity=self.velocity(), **drive)
        assert [k for k, each in enumerate(held) if not each] == [0, 1, 6]

    def test_a_lost_simulation_supports_no_number(self):
        held = holding(Drift(), distance=lambda job: np.full(201, np.nan), velocity=lambda job: np.full(201, np.nan))
        assert not any(held)


class TestStop:
    @staticmethod
    def outcomes(best, speed=0.01):
        return {
            "rest": lambda job: 10.0 * abs(job["duration"] - best) + 1.0,
            "velocity": lambda job: np.full(301, 0.2 if job["duration"] == 0.0 else speed),
            "distance": lambda job: np.linspace(0.0, 5.0, 301),
        }

    def test_the_sources_duration_holds(self):
        assert holding(Stop(), **self.outcomes(0.25)) == [True, True, True]

    def test_another_duration_does_not(self):
        assert holding(Stop(), **self.outcomes(0.1)) == [True, True, False]

    def test_drifting_may_be_best(self):
        assert holding(Stop(), **self.outcomes(0.0)) == [False, False, False]

    def test_less_speed_is_needed(self):
        assert holding(Stop(), **self.outcomes(0.25, speed=0.15)) == [False, True, True]

    def test_what_never_stands_still_is_not_best(self):
        study = Stop()
        rest = synthetic(study, **{**self.outcomes(0.1), "rest": lambda job: 3.0 if job["duration"] == 0.3 else np.nan})
        assert study.best(rest) == 0.3

    def test_reverse_brakes_and_the_time_to_rest_is_found(self):
        study = Stop(durations=(0.0, 0.1), seconds=22.0)
        alone, braked = (study.run(job) for job in study.jobs() if job.parameters["fidelity"] == "fast")
        assert braked["velocity"][at(10.0)] < 0.3 * alone["velocity"][at(10.0)]
        assert 0.0 < braked["rest"] < alone["rest"] < 13.0


class TestSpin:
    @staticmethod
    def outcomes(left=90.0, right=-90.0, veer=40.0, away=0.1, gone=20.0):
        turns = {"spin left": left, "spin right": right, "veer left": veer}

        def centre(job):
            way = gone if job["case"].startswith("veer") else away
            return np.linspace(0.0, 1.0, 101)[:, None] * [way, 0.0]

        return {"heading": lambda job: np.linspace(0.0, np.radians(turns[job["case"]]), 101), "centre": centre}

    def test_claims_can_all_hold(self):
        assert all(holding(Spin(), **self.outcomes()))

    @pytest.mark.parametrize(
        ("changes", "failing"), [({"left": -90.0}, 0), ({"away": 2.0}, 1), ({"right": 90.0}, 2), ({"gone": 1.0}, 3)]
    )
    def test_each_claim_can_fail_alone(self, changes, failing):
        held = holding(Spin(), **self.outcomes(**changes))
        assert [k for k, each in enumerate(held) if not each] == [failing]

    def test_it_turns_left_and_right(self):
        study = Spin(seconds=3.0)
        ends = [study.run(job)["heading"][-1] for job in study.jobs() if job.parameters["fidelity"] == "fast"]
        assert ends[0] > 0.3
        assert ends[1] < -0.3
