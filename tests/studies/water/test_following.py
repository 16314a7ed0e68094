"""Bodies that follow a plan: what they are commanded, and when the caller sees them."""

import numpy as np

from sandlot.control.snake.fetching import GIVE
from sandlot.control.snake.gaits import Gait, Schedule
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.studies.water.following import follow, three_models

SNAKE = Snake(links=4)
PLAN = Schedule((0.0,), (Gait(amplitude=0.2, frequency=1.0, phase=0.5),))


class Watched(FastSwimmers):
    """Keeps what it is commanded."""

    def __init__(self, *given):
        super().__init__(*given)
        self.commanded = []

    def command(self, targets):
        self.commanded.append(targets.copy())
        super().command(targets)


def test_the_caller_sees_the_start_and_every_command():
    swimmers = Watched(SNAKE, 1)
    seen = [(k, float(swimmers.time[0])) for k in follow(swimmers, PLAN, 0.1)]
    assert seen == [(k, k * SNAKE.interval) for k in range(6)]
    expected = [PLAN.targets(k * SNAKE.interval, SNAKE) for k in range(1, 6)]
    np.testing.assert_array_equal(np.concatenate(swimmers.commanded), expected)


def test_a_plan_may_have_targets_for_each_body():
    class Each:
        def targets(self, time, snake):
            return np.array([[time] * snake.joints, [-time] * snake.joints])

    swimmers = Watched(SNAKE, 2)
    assert list(follow(swimmers, Each(), 0.04)) == [0, 1, 2]
    assert swimmers.commanded[1][:, 0].tolist() == [0.04, -0.04]


def test_only_the_first_joints_give_way():
    bent = Schedule((0.0,), (Gait(veer=1.0),))
    swimmers = Watched(SNAKE, 1)
    for _ in follow(swimmers, bent, SNAKE.interval, giving=2):
        pass
    assert swimmers.commanded[0].tolist() == [[GIVE, GIVE, 1.0]]


def test_three_models_differ_in_fidelity_and_step():
    models = three_models(SNAKE, 2)
    assert [type(each).__name__ for each in models.values()] == ["FastSwimmers", *["ReferenceSwimmers"] * 2]
    assert [each.snake.step for each in models.values()] == [SNAKE.step, SNAKE.step, 0.5 * SNAKE.step]
    assert {each.count for each in models.values()} == {2}
