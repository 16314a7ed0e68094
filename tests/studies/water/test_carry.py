"""The study of carrying: the grasp, the evolved gait, and its claims about made-up results."""

import numpy as np
import pytest
import xarray as xr

from sandlot.control.snake.fetching import GIVE
from sandlot.robots import swimmer_models
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.studies.water.carry import Carry
from sandlot.studies.water.shared import prepared

GENES = np.array([0.4, 1.1, 0.75])


def test_four_links_hold_the_ball_before_the_body_swims():
    study = Carry()
    ready = prepared(study.snake, study.before(next(study.jobs())), study.begin())
    assert np.allclose(ready.angles[0, :3], np.pi / 2, atol=0.05)
    assert np.allclose(ready.angles[0, 3:], 0.0, atol=0.05)


class Watched(FastSwimmers):
    """Stands in for the reference: records joint angles and commanded targets."""

    def __init__(self, *given, ball, threads):
        super().__init__(*given)
        self.commanded = []
        Watched.last = self

    def command(self, targets):
        self.commanded.append((self.angles[0].copy(), targets[0].copy()))
        super().command(targets)


def test_the_clock_of_a_gait_starts_when_it_swims(monkeypatch):
    monkeypatch.setattr(swimmer_models, "ReferenceSwimmers", Watched)
    study = Carry(seconds=4.0)
    job = next(study.jobs())
    study.judge(job, GENES)
    gait, first = study.gait(job, GENES), round(study.begin() / study.snake.interval)
    assert len(Watched.last.commanded) == 200
    for k, (_, targets) in enumerate(Watched.last.commanded[first:]):
        expected = gait.targets((k + 1) * study.snake.interval, study.snake.joints)
        np.testing.assert_allclose(targets[4:], expected[4:], atol=1e-9)


def test_joints_give_way_in_the_strip_as_in_the_run(monkeypatch):
    monkeypatch.setattr(swimmer_models, "ReferenceSwimmers", Watched)
    study = Carry(seconds=3.1)
    study.judge(next(study.jobs()), GENES)
    run = Watched.last.commanded
    (picture,) = study.scenes(made_up(lost=0))
    drawn = Watched.last.commanded
    assert picture.caption
    for one, other in zip(run, drawn, strict=False):
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert all(np.abs(targets[:4] - angles[:4]).max() <= GIVE + 1e-12 for angles, targets in drawn)


def made_up(lost: int, count: int = 4) -> xr.Dataset:
    """Results in which some simulations exploded, and all others are as in the source."""
    exploded = (np.arange(count) < lost).astype(float)
    there = np.where(exploded, np.nan, 24.92)
    rows = np.random.default_rng(0).normal(0.0, 0.01, (count, 5))
    return xr.Dataset(
        {
            "best": (("job", "generation"), 24.92 + rows),
            "mean": (("job", "generation"), 13.51 + rows),
            "genes": (("job", "generation", "gene"), np.broadcast_to((0.62, 1.78, 0.73), (count, 5, 3))),
            "champion": (("job", "gene"), np.broadcast_to(GENES, (count, 3))),
            "reference": ("job", there),
            "drive": ("job", np.where(exploded, np.nan, 0.97)),
            "held": ("job", 1.0 - exploded),
            "exploded": ("job", exploded),
        }
    )


@pytest.mark.parametrize(("lost", "carried", "held"), [(0, True, True), (1, True, False), (4, False, False)])
def test_exploded_simulations_are_counted_but_not_averaged(monkeypatch, lost, carried, held):
    own = {"reference": 24.0, "drive": 1.0, "held": 1.0, "exploded": 0.0}
    monkeypatch.setattr(Carry, "judge", lambda self, job, genes: own)
    claims = {claim.text: claim for claim in Carry().claims(made_up(lost))}
    mine = claims["The best individuals swim 24.92 m with a ball in their grasp."]
    assert mine.holds is carried
    assert f"{lost} of 4 exploded" in mine.note
    assert "nan" not in f"{mine.measured} {mine.note}"
    other = claims["They still hold the ball at the end."]
    assert other.holds is held
    assert other.note == f"{lost} exploded"


def test_ours_are_compared_with_the_sources_means_and_its_gait_is_tried(monkeypatch):
    tried = []

    def judge(self, job, genes):
        tried.append(genes.tolist())
        return {"reference": 24.0, "drive": 1.0, "held": 1.0, "exploded": 0.0}

    monkeypatch.setattr(Carry, "judge", judge)
    claims = {claim.text: claim for claim in Carry().claims(made_up(0))}
    assert tried == [[0.61, 1.82, 0.75]]
    for name, value in (("amplitude", 0.62), ("frequency", 1.78), ("phase", 0.73)):
        assert claims[f"The {name} converges to {value:g}."].holds
