"""The study of drifting: each claim can hold and fail."""

import numpy as np
import pytest

from claims import holding, synthetic
from sandlot.studies.water.drift import Drift
from sandlot.studies.water.tracks import EVERY


class TestDrift:
    @staticmethod
    def distance(before=(0.9, 0.96, 0.1), after=(5.72, 8.0, 0.69), best="2 Hz"):
        """Distances at 10 s and 20 s, and velocity at 10 s; the source's unless given."""

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

    def test_all_claims_hold_for_the_sources_values(self):
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

    def test_the_claim_about_spikes_fails_without_one(self):
        held = holding(Drift(), distance=self.distance(), velocity=self.velocity(0.1))
        assert held == [True] * 9 + [False]

    def test_setups_before_and_after_the_change_differ_as_in_the_source(self):
        before, plan = Drift().setup(15.625, "before")
        after, fast = Drift().setup(15.625, "2 Hz")
        assert (before.faces, before.max_torque, plan.gaits[0].frequency) == ("all", 100.0, 0.6)
        assert (after.faces, after.max_torque, fast.gaits[0].frequency) == ("open", 1000.0, 2.0)
        assert before.arclength == after.arclength == 10.0
        assert fast.starts == (0.0, 10.0)

    def test_claims_are_about_the_mass_of_the_printed_density(self):
        study = Drift()
        assert study.masses == (5.0, 6.25 * 8 * 1.25 * 0.5 * 0.5)
        source, other = self.distance(), self.distance(before=(1.2, 1.2, 0.1), after=(9.0, 9.5, 0.9), best="4 Hz")
        results = synthetic(
            study,
            distance=lambda job: (other if job["mass"] == 5.0 else source)(job),
            velocity=self.velocity(),
        )
        claims = study.claims(results)
        assert all(claim.holds for claim in claims)
        assert claims[0].note.endswith("5 kg: 1.20")
        assert claims[8].note.endswith("5 kg: 4 Hz")

    def test_claims_fail_if_a_simulation_exploded(self):
        held = holding(Drift(), distance=lambda job: np.full(201, np.nan), velocity=lambda job: np.full(201, np.nan))
        assert not any(held)
