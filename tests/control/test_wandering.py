"""Wandering: driving ahead, avoiding obstacles, and random turns at intervals."""

import math

import numpy as np

from sandlot.control.wandering import Wander, Wanderer

BEARINGS = (np.arange(180) + 0.5) * math.pi / 180 - math.pi / 2
FREE = np.full(182, 20.0)


def wanderer(seed=0, **settings):
    return Wanderer(Wander(**settings), BEARINGS, 0.25, np.random.SeedSequence(seed))


def test_it_drives_ahead_and_turns_at_intervals():
    act = wanderer(every=5.0)
    actions = np.array([act(FREE) for _ in range(200)])
    assert np.array_equal(actions[:20], np.tile([0.8, 0.0], (20, 1)))
    turning = actions[:, 1] != 0.0
    assert turning[20]
    assert 0.1 < turning.mean() < 0.6
    assert (actions[turning, 0] == 0.0).all()
    assert set(np.sign(actions[turning, 1])) == {-1.0, 1.0}


def test_it_turns_to_the_side_with_more_room_until_the_path_is_clear():
    blocked = FREE.copy()
    blocked[60:110] = 0.5
    blocked[:60] = 1.0
    act = wanderer()
    for _ in range(10):
        speed, turn = act(blocked)
        assert speed == 0.0
        assert turn > 0.0
    assert act.doing == "avoid"
    for _ in range(8):
        speed, turn = act(FREE)
    assert speed > 0.0
    assert turn == 0.0


def test_it_accepts_a_narrow_passage_if_there_is_no_other():
    act, narrow = wanderer(), np.full(182, 0.65)
    actions = np.array([act(narrow) for _ in range(60)])
    assert (actions[:15, 0] == 0.0).all()
    assert (actions[15:, 0] > 0.0).any()


def test_it_slows_down_only_for_obstacles_in_its_lane():
    aside = FREE.copy()
    aside[:45] = 0.55  # to the right, beside the robot
    assert wanderer()(aside)[0] == 0.8
    near = np.where(np.abs(BEARINGS) < 0.1, 0.9, 20.0)
    assert 0.0 < wanderer()(near)[0] < 0.8


def test_the_same_seed_gives_the_same_walk():
    one, same, other = ([act(FREE)[1] for _ in range(400)] for act in (wanderer(1), wanderer(1), wanderer(2)))
    assert one == same != other
