"""The study of stopping: each claim can hold and fail."""

import numpy as np

from claims import holding, synthetic
from sandlot.studies.water.stop import Stop
from sandlot.studies.water.tracks import at


class TestStop:
    @staticmethod
    def outcomes(best, speed=0.01):
        return {
            "rest": lambda job: 10.0 * abs(job["duration"] - best) + 1.0,
            "velocity": lambda job: np.full(301, 0.2 if job["duration"] == 0.0 else speed),
            "distance": lambda job: np.linspace(0.0, 5.0, 301),
        }

    def test_all_claims_hold_for_the_sources_duration(self):
        assert holding(Stop(), **self.outcomes(0.25)) == [True, True, True]

    def test_the_claim_about_the_duration_fails_for_another(self):
        assert holding(Stop(), **self.outcomes(0.1)) == [True, True, False]

    def test_claims_fail_if_drifting_is_best(self):
        assert holding(Stop(), **self.outcomes(0.0)) == [False, False, False]

    def test_the_claim_about_momentum_needs_half_the_velocity(self):
        assert holding(Stop(), **self.outcomes(0.25, speed=0.15)) == [False, True, True]

    def test_a_duration_without_standstill_is_not_best(self):
        study = Stop()
        rest = synthetic(study, **{**self.outcomes(0.1), "rest": lambda job: 3.0 if job["duration"] == 0.3 else np.nan})
        assert study.best(rest) == 0.3

    def test_reversing_brakes_and_the_time_to_standstill_is_measured(self):
        study = Stop(durations=(0.0, 0.12), seconds=22.0)
        alone, braked = (study.run(job) for job in study.jobs() if job.parameters["fidelity"] == "fast")
        assert braked["velocity"][at(10.0)] < 0.3 * alone["velocity"][at(10.0)]
        assert 0.0 < braked["rest"] < alone["rest"] < 13.0
