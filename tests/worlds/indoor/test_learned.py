"""The learned fidelity of the indoor world: a sensor model replaces the laser."""

import math

import gymnasium
import numpy as np
import pytest
from numba import config

from sandlot.errors import SandlotError
from sandlot.surrogates.files import load, save
from sandlot.surrogates.local import WIDE, Local
from sandlot.surrogates.sensor_models import Headings
from sandlot.worlds.indoor import learned
from sandlot.worlds.indoor.learned import explore
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.world import Indoor
from sandlot.worlds.rollout import rollout

SLOW = bool(config.DISABLE_JIT)
SETTINGS = IndoorSettings(laser={"beams": 36})
GRIDS = ((60.0, WIDE, WIDE), (30.0, 2.5, WIDE))


@pytest.fixture(scope="module")
def log():
    return explore(SETTINGS, 60 if SLOW else 300)


@pytest.fixture(scope="module")
def model(log, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    save(Local(grids=GRIDS).fit(log), path)
    return path


def make(model, **settings):
    return gymnasium.make("sandlot/Indoor-v0", fidelity="learned", model=model, **settings)


def frames(model, seed, steps=30):
    world = make(model, laser={"beams": 36}).unwrapped
    return [world.frame() for _ in rollout(world, world.controller("random"), seed, steps)]


def test_the_log_is_of_a_wandering_robot(log):
    again = explore(SETTINGS, len(log))
    np.testing.assert_array_equal(log.poses, again.poses)
    np.testing.assert_array_equal(log.ranges, again.ranges)
    assert not np.array_equal(log.poses, explore(SETTINGS, len(log), seed=1).poses)
    steps = np.hypot(*np.diff(log.poses[:, :2], axis=0).T)
    assert steps.max() < 0.5
    assert steps.sum() > 2.0
    cast = SETTINGS.laser.exact().cast(Indoor().plan, log.poses).ranges
    assert np.nanmedian(np.abs(cast - log.ranges)) < 0.02


def test_every_beam_of_a_segment_returns_the_predicted_median(model, log):
    known = Local(grids=GRIDS).fit(log)
    for frame in frames(model, 0):
        said = known.predict(np.array([[frame["x"], frame["y"], frame["yaw"]]]))[0]
        np.testing.assert_array_equal(frame["ranges"].reshape(6, 6), np.repeat(said[:, None], 6, 1).astype(np.float32))


@pytest.mark.parametrize("beams", [1, 4, 7, 360])
def test_a_laser_may_have_another_number_of_beams_than_the_model(model, beams):
    world = make(model, laser={"beams": beams}).unwrapped
    world.reset(seed=0)
    six = make(model, laser={"beams": 6}).unwrapped
    six.reset(seed=0)
    where = (np.arange(beams) / beams * 6).astype(int)
    np.testing.assert_array_equal(world.frame()["ranges"], six.frame()["ranges"][where])


def test_the_random_generator_does_not_change_the_scan(model):
    world = make(model).unwrapped
    poses = np.array([[5.0, 5.0, 0.3]])
    one, other = (world.laser(poses, np.random.default_rng(seed)) for seed in (0, 1))
    np.testing.assert_array_equal(one, other)


def test_its_ranges_are_close_to_the_cast_ones(model, log):
    """Where the log has been."""
    world, cast = make(model, laser={"beams": 36}).unwrapped, Indoor(laser=SETTINGS.laser.exact().model_dump())
    poses = log.poses[::7]
    said, seen = world.laser(poses, np.random.default_rng(0)), cast.laser(poses, np.random.default_rng(0))
    wrong = np.abs(said - seen)
    assert np.nanmedian(wrong) < (1.0 if SLOW else 0.4)


def test_other_kinds_of_models_work_too(log, tmp_path):
    save(Headings(3).fit(log), tmp_path / "headings")
    world = make(tmp_path / "headings").unwrapped
    seen, _ = world.reset(seed=0)
    assert world.observation_space.contains(seen)


def test_mistakes_are_explained(model, log, tmp_path):
    with pytest.raises(SandlotError, match=r"there is no model at none; a model is a directory") as said:
        make("none")
    assert "\n" not in str(said.value)
    with pytest.raises(SandlotError, match=r"model is of a laser with a field of view of 3.14 rad; laser.fiel"):
        make(model, laser={"field_of_view": 2.0})
    (tmp_path / "bad.json").write_text('{"kind": "gait"}')
    with pytest.raises(SandlotError, match=r"bad\.json: this is a gait of a swimming snake .* not a sensor model"):
        make(tmp_path / "bad.json")
    aside = load(model)
    aside.centre_bearing_ = 0.5 * math.pi
    save(aside, tmp_path / "aside")
    with pytest.raises(SandlotError, match=r"whose field of view is centred at 1.57 rad; here it is centred"):
        make(tmp_path / "aside")


def test_exploring_casts_rays_even_if_there_is_a_model(model, log):
    settings = IndoorSettings(fidelity="learned", model=model, laser={"beams": 36})
    np.testing.assert_array_equal(explore(settings, 20).ranges, log.ranges[:20])


@pytest.fixture
def fits(monkeypatch):
    """How many models were fitted: few scans, and coarse ones."""
    made = []

    def few(settings, samples=1400, seed=0):
        made.append(samples)
        return explore(settings, 40, seed)

    monkeypatch.setattr(learned, "explore", few)
    monkeypatch.setattr(learned, "Local", lambda: Local(grids=GRIDS[:1]))
    learned._fitted.cache_clear()
    yield made
    learned._fitted.cache_clear()


def test_a_model_is_fitted_again_after_the_plan_was_edited(fits, tmp_path):
    plan, other = tmp_path / "plan.toml", "[[walls]]\nrectangle = [0.0, 0.0, 6.0, 5.0]\n"
    seen = []
    for text in (other, other, other.replace("6.0", "9.0"), other):
        plan.write_text(text)
        seen.append(make(None, plan=plan, laser={"beams": 12}).reset(seed=0, options={"start": (3.0, 2.0, 0.0)})[0])
    assert len(fits) == 2
    np.testing.assert_array_equal(seen[0], seen[1])
    np.testing.assert_array_equal(seen[0], seen[3])
    assert not np.array_equal(seen[0], seen[2])


def test_without_a_model_one_is_fitted_and_cached(fits):
    for start in (None, (5.0, 5.0, 0.0)):
        world = make(None, laser={"beams": 12}, start=start).unwrapped
        world.reset(seed=0)
    assert fits == [1400], "the start makes no difference to the model"
    with pytest.raises(SandlotError, match="a scan has 3 beams; 6 segments need at least 6"):
        make(None, laser={"beams": 3})
