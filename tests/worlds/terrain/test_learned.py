"""The learned fidelity of the terrain world: the same frames as the reference, and nothing leaves its range."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from sandlot.errors import ModelError, RobotWarning, SettingError
from sandlot.surrogates.terrain import motion_model
from sandlot.surrogates.terrain.motion_model import load_motion
from sandlot.worlds.terrain.world import Terrain

SHIPPED = motion_model.SHIPPED / "wheeled"


def driven(steps=200, command=(0.2, 0.0), **given):
    world = Terrain(**{"fidelity": "learned", "terrain": "flat", "shape": (120, 160), **given})
    world.reset(seed=0)
    for _ in range(steps):
        world.step(np.tile(np.float32(command), (world.task.rovers.count, 1)))
    return world


def test_it_drives_where_it_is_told_and_leaves_ruts():
    ahead, left = driven(), driven(command=(0.0, 1.0))
    assert 0.15 < ahead.task.state.position[0, 0] < 0.45
    assert left.task.state.yaw[0] > 0.3
    assert ahead.outcomes()["rut_depth"] > 0.003
    heights, initial = ahead.task.ground.heights, ahead.task.ground.initial
    assert heights.sum() == pytest.approx(initial.sum(), abs=1e-10)


def test_frames_have_the_quantities_of_the_reference():
    learned, reference = (Terrain(fidelity=each, shape=(120, 120)) for each in ("learned", "reference"))
    for world in (learned, reference):
        world.reset(seed=0)
    assert learned.frame().keys() == reference.frame().keys()
    assert {name: np.shape(value) for name, value in learned.frame().items()} == {
        name: np.shape(value) for name, value in reference.frame().items()
    }


def test_a_rover_that_gets_no_command_stays_where_it_is():
    world = driven(steps=300, command=(0.0, 0.0), terrain="B")
    assert world.task.path_length[0] == 0.0


@pytest.mark.parametrize("maps", [-3, 5])
def test_a_rover_that_is_several_maps_away_drives_in_the_same_ruts(maps):
    shape = (100, 120)
    here, far = (driven(shape=shape, poses=((0.01 * shape[1] * k, 0.01 * shape[0] * k, 0.3),)) for k in (0, maps))
    np.testing.assert_allclose(far.task.ground.heights, here.task.ground.heights, rtol=0.0, atol=1e-6)


def test_rigid_ground_keeps_its_heights():
    world = driven(ground="rigid", terrain="B")
    np.testing.assert_array_equal(world.task.ground.heights, world.task.ground.initial)


@pytest.mark.parametrize("rover", ["wheeled", "tracked"])
def test_several_rovers_share_the_ground(rover):
    world = driven(steps=50, rovers=(rover, rover), shape=(200, 200))
    position = world.task.state.position
    np.testing.assert_allclose(position[0, 0], position[1, 0], rtol=0.1)
    assert abs(position[0, 1] - position[1, 1]) > 0.2


def test_random_commands_never_leave_the_range():
    """Nothing explodes, whatever is commanded: speeds stay below what the model allows."""
    model = load_motion(SHIPPED)
    for seed in range(3):
        world = Terrain(fidelity="learned", terrain="hills", relief=0.6, hill_size=0.3, soil="soft", shape=(200, 200))
        world.reset(seed=seed)
        world.action_space.seed(seed)
        for _ in range(1000):
            _, reward, ended, cut, _ = world.step(world.action_space.sample())
            assert np.isfinite(reward)
            assert not cut
            if ended:
                break
        states = world.task.rovers.states
        assert np.all(np.abs(states["motion"]) <= model.limits[:3])
        assert np.all(np.isfinite(world.task.ground.heights))


def test_what_cannot_be_learned_is_refused(tmp_path):
    with pytest.raises(SettingError, match="no learned model of particles"):
        Terrain(fidelity="learned", ground="particles")
    (tmp_path / "mine.toml").write_text('urdf = "wheeled"', encoding="ascii")
    with pytest.raises(SettingError, match=r"no learned model of the rover mine\.toml"):
        Terrain(fidelity="learned", rovers=str(tmp_path / "mine.toml"))
    with pytest.raises(SettingError, match=r"interval=0\.02 is not that of the model"):
        Terrain(fidelity="learned", interval=0.02)
    with pytest.raises(ModelError, match="no model at"):
        Terrain(fidelity="learned", motion_model=tmp_path / "none")
    shutil.copytree(SHIPPED, tmp_path / "damaged")
    (tmp_path / "damaged" / "arrays.safetensors").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="damaged"):
        Terrain(fidelity="learned", motion_model=tmp_path / "damaged")


def test_another_rover_and_another_soil_are_warned_of():
    with pytest.warns(RobotWarning, match="fitted to another rover"):
        Terrain(fidelity="learned", rovers="tracked", motion_model=SHIPPED)
    soil = {"kphi": 1e3, "friction": 10.0, "shear": 0.1, "elastic": 1e6}
    with pytest.warns(RobotWarning, match="fitted to soils with log10 of the pressure"):
        Terrain(fidelity="learned", soil=soil)


@pytest.mark.parametrize(
    "other",
    [
        {"weight": 30.0},
        {"centre": np.array([0.02, 0.0, -0.01])},
        {"base": 0.25},
        {"top_speed": 20.0},
        {"feet": load_motion(SHIPPED).shape.feet[:-1]},
    ],
)
def test_rovers_that_differ_in_anything_are_not_alike(other):
    shape = load_motion(SHIPPED).shape
    assert shape.is_like(replace(shape))
    assert not shape.is_like(replace(shape, **other))


def test_a_model_of_another_version_is_refused(tmp_path):
    shutil.copytree(SHIPPED, tmp_path / "old")
    card = json.loads((tmp_path / "old" / "card.json").read_text())
    card["settings"]["version"] -= 1
    (tmp_path / "old" / "card.json").write_text(json.dumps(card))
    with pytest.raises(ModelError, match="fitted by another version of Sandlot; fit it again"):
        load_motion(tmp_path / "old")


def test_a_model_comes_back_from_disk_unchanged(tmp_path):
    model = load_motion(SHIPPED)
    model.save(tmp_path / "copy")
    again = load_motion(tmp_path / "copy")
    for one, two in zip((*model.drives, model.settle), (*again.drives, again.settle), strict=True):
        np.testing.assert_array_equal(one.weights, two.weights)
        np.testing.assert_array_equal(one.biases, two.biases)
    np.testing.assert_array_equal(model.shape.feet, again.shape.feet)
    assert model.shape.top_speed == again.shape.top_speed
