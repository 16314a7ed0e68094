"""The indoor world with the tracked rover, people and tasks: what every world must do, and vectors like singles."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numba import config

from same import assert_same, assert_same_step
from sandlot.errors import SandlotError
from sandlot.recordings import check_frame
from sandlot.recordings.logs.reading import read_scans
from sandlot.recordings.vocabulary import VOCABULARY
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.world import Indoor
from sandlot.worlds.record import Record
from sandlot.worlds.rollout import rollout

FEW = {"lidar": {"beams": 45}, "robot": "tracked"}
CASES = {
    "tracked": {**FEW, "plan": "apartment"},
    "goal": {**FEW, "plan": "apartment", "task": "goal", "time_limit": 4.0},
    "explore": {**FEW, "plan": "random", "plan_seed": 2, "task": "explore", "people": 2},
    "round goal": {"laser": {"beams": 24}, "plan": "flat", "task": "goal", "goal": (5.5, 4.25, 0.0), "people": 3},
    "round explore": {"laser": {"beams": 24}, "task": "explore", "enough": 0.5, "furniture": 1},
}
every_case = pytest.mark.parametrize("case", CASES)
STEPS = 10 if config.DISABLE_JIT else 40


@pytest.mark.parametrize("case", ["tracked", "explore", "round goal"])
@pytest.mark.filterwarnings("error", "ignore:.*symmetric and normalized")  # actions have units
def test_passes_the_checker_of_gymnasium(case):
    check_env(gymnasium.make("sandlot/Indoor-v0", render_mode="rgb_array", **CASES[case]).unwrapped)


@every_case
def test_frames_hold_the_declared_quantities_and_outcomes(case):
    world = Indoor(**CASES[case])
    assert all(VOCABULARY[key][0] == quantity.units for key, quantity in world.quantities.items())
    for _ in rollout(world, world.controller("wander"), 0, 5):
        check_frame(world.frame(), world.quantities)
        assert set(world.outcomes()) == set(world.outcome_quantities)
    names = [item.name for item in world.scene().items]
    assert ("goal" in names) == (world.settings.task == "goal")
    assert sum(name.startswith("person") for name in names) == world.settings.people
    assert len(set(names)) == len(names)


@every_case
def test_a_vector_equals_single_worlds(case):
    """Bit for bit, also when episodes end and the next ones begin."""
    one, other = (
        gymnasium.make_vec("sandlot/Indoor-v0", 3, mode, **CASES[case], max_episode_steps=25) for mode in (None, "sync")
    )
    one.action_space.seed(3)
    for a, b in zip(one.reset(seed=11), other.reset(seed=11), strict=True):
        assert_same(a, b)
    for _ in range(STEPS):
        actions = one.action_space.sample()
        assert_same_step(one.step(actions), other.step(actions))


def test_the_true_pose_is_not_observed():
    """Two rovers that sense the same observe the same, wherever they are."""
    world = Indoor(robot={"kind": "tracked", "slip": 0.0}, lidar={"missing": 1.0}, plan="apartment")
    seen = [world.reset(seed=0, options={"start": start})[0] for start in ((2.0, 2.0, 0.3), (8.0, 3.0, -2.0))]
    np.testing.assert_array_equal(*seen)


def test_scans_are_skewed_by_the_motion():
    """Returns lie on walls if each is placed with the pose at its time, but not with the pose of the frame."""
    exact = dict.fromkeys(("noise", "noise_growth", "missing", "specular", "mixed"), 0.0)
    world = Indoor(robot="tracked", lidar=exact, plan="apartment", start=(2.5, 2.5, 0.0))
    world.reset(seed=0)
    for _ in range(6):
        world.step(np.array([0.0, 1.5]))
    frame, beams = world.frame(), world.task.body.beams(0)
    late = np.column_stack([np.full((711, 2), world.pose[:2]), world.pose[2] + frame["bearings"]])
    gaps = []
    for poses in (beams, late):
        ends = poses[:, :2] + frame["ranges"][:, None] * np.column_stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])])
        gaps.append(np.nanquantile(world.plan.clearance(ends), 0.95))
    assert gaps[0] < 0.01 < 0.1 < gaps[1]


def test_odometry_of_the_rover_drifts_and_speeds_are_measured():
    world = Indoor(plan="apartment", start=(1.5, 4.6, 0.0), **FEW)
    world.reset(seed=1)
    for _ in range(60):
        seen, *_ = world.step(np.array([0.25, 0.0]))
    assert seen[45] == pytest.approx(0.25, abs=0.02)
    assert world.outcomes()["drift"] > 0.05
    frame = world.frame()
    assert frame["count_left"] * world.settings.encoders.travel == pytest.approx(60 / 5.5 * 0.25, rel=0.05)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"robot": "trakced"}, "robot.*a table whose kind is one of round, tracked"),
        ({"robot": {"kind": "tracked", "radius": -1.0}}, "robot.radius=-1.*at least 0.01"),
        ({"robot": {"kind": "tracked", "floor": "ice"}}, "robot.floor=ice.*one of wood, tiles, carpet"),
        ({"robot": "tracked", "laser": {"beams": 9}}, "laser is only for robot.kind=round, not tracked"),
        ({"robot": "tracked", "interval": 0.1}, "interval is only for robot.kind=round"),
        ({"lidar": {"beams": 9}}, "lidar is only for robot.kind=tracked, not round"),
        ({"robot": "tracked", "fidelity": "learned"}, "fidelity=learned is only for robot.kind=round"),
        ({"goal": (1.0, 1.0, 0.0)}, "goal is only for task=goal, not cover"),
        ({"task": "goal", "goal": (0.1, 0.1, 0.0)}, r"goal: at \(0.1, 0.1\) there is no room"),
        ({"task": "goal", "goal": (50.0, 0.1, 0.0)}, r"goal: \(50, 0.1\) is outside"),
        ({"plan": "randm"}, "did you mean 'random'"),
    ],
)
def test_mistakes_are_explained(settings, said):
    with pytest.raises(SandlotError, match=said):
        Indoor(**settings)


def test_a_recording_gives_back_scans_with_the_ages_of_their_beams(tmp_path):
    world = Indoor(**CASES["tracked"])
    with Record(world, tmp_path / "a", seed=2) as env:
        for _ in rollout(env, world.controller("wander"), 2, 4):
            pass
    scans = read_scans(tmp_path / "a").scans
    assert len(scans) == 5
    np.testing.assert_array_equal(scans[3].ages, world.settings.lidar.ages)
    np.testing.assert_array_equal(scans[-1].ranges, world.frame()["ranges"])


def test_settings_of_a_recording_make_the_same_world():
    for case in CASES.values():
        settings = IndoorSettings(**case)
        assert IndoorSettings.model_validate(settings.model_dump(mode="json")) == settings
