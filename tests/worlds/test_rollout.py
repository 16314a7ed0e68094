"""The rollout: episodes, seeds, and which members of a batch it asks and reports."""

import gymnasium
import numpy as np
import pytest

from sandlot.control.controller import Controller, as_controller
from sandlot.errors import SandlotError, SettingError
from sandlot.worlds.leveling.world import Leveling
from sandlot.worlds.rollout import rollout
from sandlot.worlds.water.vector import WaterVector
from sandlot.worlds.water.world import Water

SMALL = {"links": 4}
STILL = as_controller(lambda _: np.zeros(3))
FLAT = {"relief": 0, "agents": 2, "shape": (4, 4)}
IDLE = as_controller(lambda _: np.zeros((2, 2), np.int8))


class Logger(Controller):
    """Does nothing, and notes how it is called."""

    def __init__(self, action):
        self.action, self.resets, self.asked = np.asarray(action), [], []

    def reset(self, seeds, members=None):
        self.resets.append(([tuple(each.generate_state(2)) for each in seeds], members))

    def act(self, observations, members=None):
        self.asked.append(members)
        return np.stack([self.action] * len(observations))


def test_the_first_step_is_the_reset():
    world = Water(snake=SMALL)
    first, *others = rollout(world, STILL, 0, 5)
    assert (first.number, first.began.tolist(), first.rewards.tolist()) == (0, [True], [0.0])
    np.testing.assert_array_equal(first.observations[0], Water(snake=SMALL).reset(seed=0)[0])
    assert [step.number for step in others] == [1, 2, 3, 4, 5]
    assert not any(step.began.any() for step in others)


def test_it_is_the_loop_of_gymnasium():
    world, twin = Water(snake=SMALL), Water(snake=SMALL)
    swim = twin.controller("swim")
    observation, _ = twin.reset(seed=3, options={"target": (20.0, 5.0)})
    for step in rollout(world, world.controller("swim"), 3, 50, options={"target": (20.0, 5.0)}):
        if step.number:
            action = swim.act(observation[None])[0]
            observation, reward, terminated, truncated, info = twin.step(action)
            np.testing.assert_array_equal(step.actions[0], action)
            assert (step.rewards[0], step.terminated[0], step.truncated[0]) == (reward, terminated, truncated)
            assert step.info == info
        np.testing.assert_array_equal(step.observations[0], observation)


def test_it_stops_at_the_end_of_an_episode():
    steps = list(rollout(Leveling(**FLAT), IDLE, 0, 10))
    assert [step.number for step in steps] == [0, 1]
    assert steps[-1].terminated[0]
    assert steps[-1].ended[0]


def test_it_begins_again_if_asked():
    steps = list(rollout(Leveling(**FLAT), IDLE, 0, 3, again=True))
    assert [step.number for step in steps] == [0, 1, 1, 2, 2, 3, 3]
    assert [int(step.episodes[0]) for step in steps] == [0, 0, 1, 1, 2, 2, 3]
    assert [bool(step.began[0]) for step in steps] == [True, False, True, False, True, False, True]


def test_every_episode_has_its_own_seed_for_the_controller():
    logs = [Logger(np.zeros((2, 2), np.int8)) for _ in range(2)]
    for log in logs:
        list(rollout(Leveling(**FLAT), log, 7, 3, again=True))
    seeds = [seed for given, _ in logs[0].resets for seed in given]
    assert seeds[0] == tuple(np.random.SeedSequence(7).generate_state(2))
    assert len(set(seeds)) == len(seeds) == 4
    assert logs[0].resets == logs[1].resets
    assert [members for _, members in logs[0].resets] == [None, [0], [0], [0]]


def test_a_controller_may_have_seeds_of_its_own():
    log, seeds = Logger(np.zeros(3)), [np.random.SeedSequence(9), np.random.SeedSequence(4)]
    list(rollout(WaterVector(2, snake=SMALL), log, 0, 1, controller_seeds=seeds))
    assert log.resets == [([tuple(each.generate_state(2)) for each in seeds], None)]


def test_members_that_have_ended_are_not_asked_and_keep_their_values():
    world = WaterVector(3, snake=SMALL, autoreset_mode="Disabled")
    log, targets = Logger(np.full(3, 0.1)), np.array([(30.0, 0.0), (30.0, 1.0), (30.0, 2.0)])
    count = 0

    def done():
        return np.array([count >= 2, False, count >= 4])

    steps = []
    for step in rollout(world, log, 0, 6, options={"target": targets}, until=done):
        count = step.number + 1
        steps.append(step)
    np.testing.assert_array_equal(steps[0].observations[:, 4:6], targets)
    assert log.asked == [None, None, [1, 2], [1, 2], [1], [1]]
    assert [step.running.tolist() for step in steps[2:5]] == [[True] * 3, [False, True, True], [False, True, True]]
    assert [step.terminated.tolist() for step in steps[1:5]] == [
        [False] * 3,
        [True, False, False],
        [False] * 3,
        [False, False, True],
    ]
    np.testing.assert_array_equal(steps[-1].observations[0], steps[2].observations[0])
    assert not np.array_equal(steps[-1].observations[1], steps[2].observations[1])
    assert steps[-1].rewards[0] == 0.0


def test_it_ends_when_all_members_have():
    world = WaterVector(2, snake=SMALL, max_episode_steps=4)
    assert [step.number for step in rollout(world, STILL, 0, 10)] == [0, 1, 2, 3, 4]


def test_a_step_is_not_changed_by_later_ones():
    given = {"agents": 2, "interface": "units"}
    world = gymnasium.make_vec("sandlot/Leveling-v0", num_envs=2, vectorization_mode="sync", **given)
    steps = list(rollout(world, Leveling(agents=2).controller("random"), 0, 20))
    copies = [step.observations.copy() for step in rollout(world, Leveling(agents=2).controller("random"), 0, 20)]
    for step, copy in zip(steps, copies, strict=True):
        np.testing.assert_array_equal(step.observations, copy)


def test_wrong_seeds_and_worlds_are_refused():
    with pytest.raises(SettingError, match="3 seeds and 3 controller seeds for 2 worlds"):
        next(rollout(WaterVector(2), STILL, [1, 2, 3], 1))
    with pytest.raises(SettingError, match="2 seeds and 1 controller seeds for 2 worlds"):
        next(rollout(WaterVector(2), STILL, 1, 1, controller_seeds=[np.random.SeedSequence(0)]))
    with pytest.raises(SettingError, match="needs autoreset mode NEXT_STEP"):
        next(rollout(WaterVector(2, autoreset_mode="Disabled"), STILL, 1, 1, again=True))
    with pytest.raises(SettingError, match="needs a world made with autoreset_mode=Disabled"):
        next(rollout(WaterVector(2), STILL, 1, 1, until=lambda: np.zeros(2, bool)))


@pytest.mark.parametrize("action", ["left", None, np.zeros((2, 3))])
def test_actions_without_an_axis_of_one_world_are_refused(action):
    class Wrong(Logger):
        def act(self, observations, members=None):
            return action

    with pytest.raises(SandlotError, match=r"^a controller gives actions with an axis of 1 world first, not of shape"):
        list(rollout(Water(snake=SMALL), Wrong(0), 1, 1))
