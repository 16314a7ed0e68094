"""The gap between fidelities."""

import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.surrogates.files import save
from sandlot.surrogates.sensor_models import Headings
from sandlot.worlds.gap import fidelities, measure_gap, summarize_gap
from sandlot.worlds.indoor.learned import explore
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.leveling.world import Leveling
from sandlot.worlds.water.world import Water

SMALL, LONG = {"snake": {"links": 6}}, {"snake": {"links": 17}}


def test_the_most_trusted_fidelity_comes_last():
    assert fidelities(Water) == ["fast", "reference"]
    assert fidelities(Leveling) == ["fast"]


def test_the_same_episodes_at_every_fidelity():
    seen = []
    outcomes = measure_gap("water", "swim", 2, 200, 5, LONG, lambda done, total: seen.append((done, total)))
    assert outcomes["fidelity"].values.tolist() == ["fast", "reference"]
    assert outcomes.sizes["episode"] == 2
    assert len(set(outcomes["seed"].values.tolist())) == 2
    assert (outcomes.attrs["world"], outcomes.attrs["controller"]) == ("water", "swim")
    assert outcomes.attrs["settings"]["snake.links"] == "17"
    for name, quantity in Water.outcome_quantities.items():
        assert outcomes[name].attrs == {"units": quantity.units, "long_name": quantity.long_name}
    fast, reference = outcomes["distance"].values
    assert np.all(fast > 1.0)
    np.testing.assert_allclose(reference, fast, rtol=0.03)
    assert seen[-1] == (800, 800)
    assert seen == sorted(seen)
    assert outcomes.identical(measure_gap("water", "swim", 2, 200, 5, LONG))


def test_a_world_that_never_ends_is_not_cut_off(tmp_path):
    settings = IndoorSettings(laser={"beams": 36})
    save(Headings(2).fit(explore(settings, 60)), tmp_path / "model")
    given = {"laser": {"beams": 36}, "model": str(tmp_path / "model")}
    outcomes = measure_gap("indoor", "wander", 1, 20, 0, given)
    assert outcomes["fidelity"].values.tolist() == ["learned", "fast"], "only one of them takes a model"
    assert outcomes.attrs["settings"]["model"].endswith('model"')
    assert not outcomes["cut_off"].any()
    assert measure_gap("water", "swim", 1, 20, 0, SMALL)["cut_off"].all()


def test_the_summary_compares_episodes_that_have_the_outcome_at_both_fidelities():
    outcomes = measure_gap("water", "swim", 2, 20, 0, {**SMALL, "target": [20.0, 0.0]})
    outcomes["distance"].values[:] = [[1.0, 2.0], [1.5, 2.1]]
    outcomes["reach_time"].values[:] = [[4.0, 9.0], [np.nan, 8.0]]
    summary = summarize_gap(outcomes)
    assert summary.attrs["best"] == "reference"
    distance = summary.sel(outcome="distance", fidelity="fast")
    assert [float(distance[key]) for key in ("mean", "better", "gap", "largest")] == pytest.approx([1.5, 1.8, 0.3, 0.5])
    assert distance["units"] == "m"
    time = summary.sel(outcome="reach_time", fidelity="fast")
    assert [float(time[key]) for key in ("mean", "better", "gap", "episodes")] == [9.0, 8.0, -1.0, 1]
    delivered = summary.sel(outcome="delivered", fidelity="fast")
    assert np.isnan([delivered["mean"], delivered["gap"]]).all()
    assert (delivered["better"], delivered["episodes"]) == (0.0, 0)


def test_exploded_episodes_are_not_counted(monkeypatch):
    reset = Water.reset
    calls = []

    def explode(self, **given):
        result = reset(self, **given)
        if self.settings.fidelity == "reference":
            calls.append(given)
            if len(calls) == 2:
                self.swimmers.rates[:] = 1e3
        return result

    monkeypatch.setattr(Water, "reset", explode)
    outcomes = measure_gap("water", "swim", 3, 30, 0, SMALL)
    assert outcomes["exploded"].values.tolist() == [[False] * 3, [False, True, False]]
    assert np.isnan(outcomes["distance"].values).tolist() == [[False] * 3, [False, True, False]]
    row = summarize_gap(outcomes).sel(outcome="distance", fidelity="fast")
    assert row["episodes"] == 2
    assert abs(float(row["gap"])) < 0.1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("leveling",), "leveling has only one fidelity, fast"),
        (("watr",), "did you mean 'water'"),
        (("water", "swm"), "did you mean 'swim'"),
        (("water", "swim", 1, 1, 0, {"fidelity": "fast"}), "leave fidelity=fast out"),
        (("water", "swim", 1, 1, 0, {"snake": {"drag": 1e5}}), "would make the reference unstable"),
    ],
)
def test_mistakes_are_explained_before_any_episode_runs(arguments, words):
    def never(done, total):
        raise AssertionError

    with pytest.raises(SandlotError, match=words):
        measure_gap(*arguments, progress=never)
