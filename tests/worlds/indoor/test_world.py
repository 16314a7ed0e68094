"""The indoor world: driving, scanning, bumping, covering the floor."""

import math

import numpy as np
import pytest
from PIL import Image

from sandlot.errors import SandlotError
from sandlot.places.plans import SHIPPED
from sandlot.worlds.indoor.world import Indoor
from sandlot.worlds.rollout import rollout

QUIET = {"robot": {"slip": 0.0, "slip_noise": 0.0}}
EXACT = dict.fromkeys(("noise", "noise_growth", "missing", "specular", "mixed"), 0.0)


def wander(world, steps, seed=0):
    """Poses (steps, 3) of a walk."""
    return np.array([world.pose for _ in rollout(world, world.controller("wander"), seed, steps)][1:])


def test_it_follows_commands_and_measures_the_distance_to_the_wall():
    world = Indoor(start=(5.0, 5.0, 0.0), laser={**EXACT, "beams": 181}, **QUIET)
    first, _ = world.reset(seed=0)
    assert first[90] == pytest.approx(5.0)
    for _ in range(4):
        seen, _, ended, cut, info = world.step(np.array([0.5, 0.0]))
    assert not ended
    assert not cut
    assert not info["bumped"]
    assert seen[90] == pytest.approx(10.0 - world.pose[0], rel=1e-6)
    assert seen[-2:] == pytest.approx([0.5, 0.0])
    frame = world.frame()
    assert [frame["odometry_x"], frame["odometry_y"]] == pytest.approx(world.pose[:2])
    assert [frame["x"], frame["y"], frame["yaw"]] == world.pose.tolist()


def test_it_bumps_into_walls_and_never_enters_them():
    world = Indoor(start=(9.0, 5.0, 0.0), **QUIET)
    world.reset(seed=0)
    for _ in range(12):
        *_, info = world.step(np.array([0.8, 0.0]))
    assert info["bumped"]
    assert world.outcomes()["bumps"] == info["bumps"] > 3
    assert world.plan.clearance(world.pose[:2]) >= 0.3


def test_a_missing_return_is_nan_in_frames_and_the_maximum_range_in_observations():
    world = Indoor(laser={"missing": 0.5, "max_range": 20.0})
    seen, _ = world.reset(seed=0)
    ranges = world.frame()["ranges"]
    assert 0.3 < np.isnan(ranges).mean() < 0.7
    assert np.array_equal(seen[:360][np.isnan(ranges)], np.full(np.isnan(ranges).sum(), 20.0, np.float32))


def test_the_sum_of_rewards_is_the_area_covered():
    world = Indoor(start=(5.0, 5.0, 0.0), **QUIET)
    _, info = world.reset(seed=0)
    start = info["covered"]
    assert start == pytest.approx(math.pi * 0.3**2, rel=0.15)
    gains = [world.step(np.array([0.8, 0.0]))[1] for _ in range(8)]
    there = world.outcomes()["covered"]
    assert sum(gains) == pytest.approx(there - start)
    assert sum(gains) == pytest.approx(0.6 * (world.pose[0] - 5.0), rel=0.1)
    back = [world.step(np.array([-0.8, 0.0]))[1] for _ in range(8)]
    assert sum(back[4:]) < 0.05
    assert 0.0 < world.outcomes()["covered_share"] < 1.0


@pytest.mark.parametrize("plan", SHIPPED)
def test_every_shipped_plan_has_room_to_wander(plan):
    world = Indoor(plan=plan, laser={"beams": 90})
    poses = wander(world, 200)
    assert (world.plan.clearance(poses[:, :2]) >= 0.3).all()
    assert world.outcomes()["path_length"] > 5.0
    places = np.array([world.floor.draw_pose(world.np_random) for _ in range(200)])
    assert (world.plan.clearance(places[:, :2]) > 0.3).all()
    assert np.ptp(places[:, 0]) > 0.8 * (world.plan.bounds[2] - world.plan.bounds[0])


def test_random_starts_are_neither_inside_furniture_nor_outside_of_the_plan(tmp_path):
    path = tmp_path / "plan.toml"
    hexagon = [(round(5 + 5 * math.cos(k), 3), round(5 + 5 * math.sin(k), 3)) for k in np.arange(6) * math.pi / 3]
    points = [list(map(float, point)) for point in hexagon]
    path.write_text(f"[[walls]]\npoints = {points}\nclosed = true\n[[boxes]]\ncentre = [5, 5]\nsize = [3, 3]\n")
    world = Indoor(plan=path)
    places = np.array([world.floor.draw_pose(np.random.default_rng(k))[:2] for k in range(100)]) - 5.0
    assert (np.abs(places).max(axis=1) > 1.8).all()
    assert (np.hypot(*places.T) < 5.0).all()
    assert world.floor.area == pytest.approx(64.95 - 9.0, rel=0.05)


def test_wandering_covers_the_arena_in_all_directions():
    world = Indoor(laser={"beams": 90, "divergence": 0.0})
    poses = wander(world, 1400, seed=1)
    squares = np.histogram2d(poses[:, 0], poses[:, 1], 10, [(0.0, 10.0), (0.0, 10.0)])[0]
    assert (squares > 0).sum() >= 50
    assert np.histogram(poses[:, 2], 8, (-math.pi, math.pi))[0].min() > 0.04 * len(poses)
    assert world.outcomes()["covered_share"] > 0.4
    assert world.outcomes()["bumps"] < 20


def test_the_laser_can_be_replaced():
    world = Indoor()
    world.laser = lambda poses, rng: np.full((len(poses), 360), poses[0, 0])
    seen, _ = world.reset(seed=0)
    assert np.allclose(seen[:360], world.pose[0])


def test_pictures_show_the_robot():
    world = Indoor(plan="office", render_mode="rgb_array")
    world.reset(seed=0)
    one = world.render()
    assert one.shape[1] == 640
    world.reset(seed=1)
    assert not np.array_equal(one, world.render())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"plan": "ofice"}, "did you mean 'office'"),
        ({"plan": "no.toml"}, "no.toml"),
        ({"start": (0.1, 0.1, 0.0)}, "no room for a robot of radius 0.3"),
        ({"robot": {"radius": 8.0}}, "no room in this plan"),
        ({"robot": {"radius": -1.0}}, "robot.radius=-1.*at least 0.01"),
        ({"laser": {"beams": 0}}, "laser.beams=0.*at least 1"),
        ({"laser": {"beam": 3}}, "did you mean 'laser.beams'"),
        ({"model": "a.json"}, "^model=a.json is only for fidelity=learned, not fast; leave it out$"),
    ],
)
def test_mistakes_are_explained(settings, said):
    with pytest.raises(SandlotError, match=said):
        Indoor(**settings)


def test_impossible_actions_and_starts_are_explained():
    world = Indoor()
    with pytest.raises(SandlotError, match=r"start is x"):
        world.reset(options={"start": (1.0, 2.0)})
    with pytest.raises(SandlotError, match=r"start is x"):
        world.reset(options={"start": "here"})
    world.reset(seed=0, options={"start": (5.0, 5.0, 1.0)})
    assert world.pose.tolist() == [5.0, 5.0, 1.0]
    for action in ([1.0], [math.nan, 0.0]):
        with pytest.raises(SandlotError, match=r"an action is a speed"):
            world.step(np.array(action))


@pytest.mark.parametrize("wide", [0, 60])
def test_in_an_image_the_robot_starts_where_it_is_light(tmp_path, wide):
    picture = np.zeros((100, 100 + wide), np.uint8)  # solid, and larger than the room in it
    picture[30:70, 10:50] = 255
    Image.fromarray(picture).save(tmp_path / "a.png")
    world = Indoor(plan=tmp_path / "a.png", resolution=0.1)
    for seed in range(20):
        world.reset(seed=seed)
        assert ((world.pose[:2] > (1.0, 3.0)) & (world.pose[:2] < (5.0, 7.0))).all()


def test_an_image_without_floor_is_refused(tmp_path):
    Image.fromarray(np.zeros((50, 50), np.uint8)).save(tmp_path / "a.png")
    with pytest.raises(SandlotError, match="has no floor"):
        Indoor(plan=tmp_path / "a.png")


def test_a_start_outside_of_the_plan_is_refused():
    with pytest.raises(SandlotError, match="outside of the plan"):
        Indoor(start=(50.0, 50.0, 0.0))
