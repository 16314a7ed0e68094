"""The study of spinning: each claim can hold and fail."""

import numpy as np
import pytest

from claims import holding
from sandlot.studies.water.spin import Spin


class TestSpin:
    @staticmethod
    def outcomes(left=90.0, right=-90.0, veer=40.0, coil=60.0, away=0.1, gone=20.0):
        turns = {"spin left": left, "spin right": right, "veer left": veer, "coil left": coil}

        def centre(job):
            way = away if job["case"].startswith("spin") else gone
            return np.linspace(0.0, 1.0, 101)[:, None] * [way, 0.0]

        return {"heading": lambda job: np.linspace(0.0, np.radians(turns[job["case"]]), 101), "centre": centre}

    def test_claims_can_all_hold(self):
        assert all(holding(Spin(), **self.outcomes()))

    @pytest.mark.parametrize(
        ("changes", "failing"),
        [({"left": -90.0}, 0), ({"away": 2.0}, 1), ({"right": 90.0}, 2), ({"gone": 1.0}, 3), ({"coil": 5.0}, 4)],
    )
    def test_each_claim_can_fail_alone(self, changes, failing):
        held = holding(Spin(), **self.outcomes(**changes))
        assert [k for k, each in enumerate(held) if not each] == [failing]

    def test_it_turns_left_and_right(self):
        study = Spin(seconds=3.0)
        ends = [study.run(job)["heading"][-1] for job in study.jobs() if job.parameters["fidelity"] == "fast"]
        assert ends[0] > 0.3
        assert ends[1] < -0.3

    def test_the_centre_of_mass_stays(self):
        study = Spin(seconds=5.0)
        found = study.run(next(study.jobs()))
        assert np.linalg.norm(found["centre"], axis=1).max() < 0.05 * study.snake.arclength

    def test_a_coil_turns_a_swimming_body(self):
        study = Spin()
        (job,) = (
            job for job in study.jobs() if (job.parameters["case"], job.parameters["fidelity"]) == ("coil left", "fast")
        )
        found = study.run(job)
        assert len(found["heading"]) == 101
        assert found["heading"][0] == 0.0
        assert found["heading"][-1] > 0.3
        assert np.linalg.norm(found["centre"][-1]) > study.snake.arclength
