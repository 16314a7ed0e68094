"""Swimming bodies at two fidelities: they agree, restart, detect explosions and refuse impossible commands."""

import numpy as np
import pytest

from sandlot.control.snake.gaits import Gait
from sandlot.errors import SandlotError
from sandlot.physics.swimming import rows
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers
from swimming_bodies import BOTH, GAIT, QUANTITIES, SNAKE, explode, swim

BALLS = np.array([[9.0, 1.0], [9.0, 2.0], [9.0, 3.0]])


def make(cls):
    return cls(SNAKE, 3, (0.3, -0.2), BALLS)


def read(swimmers, body):
    return [np.copy(getattr(swimmers, name)[body]) for name in ("time", "balls", *QUANTITIES)]


@pytest.mark.parametrize("faces", ["open", "all"])
def test_both_agree_on_an_ordinary_gait(faces):
    snake = SNAKE.model_copy(update={"faces": faces})
    fast, reference = (swim(cls(snake, 1), 5.0) for cls in (FastSwimmers, ReferenceSwimmers))
    start = np.array([-6.0, 0.0])
    distance = np.linalg.norm(fast.centre - start)
    assert distance > 1.0
    assert np.linalg.norm(fast.centre - reference.centre) < 0.01 * distance
    assert fast.head == pytest.approx(reference.head, abs=0.01)
    assert fast.angles == pytest.approx(reference.angles, abs=1e-3)
    assert fast.velocity == pytest.approx(reference.velocity, abs=0.01 * np.linalg.norm(fast.velocity))
    assert fast.angular_momentum == pytest.approx(reference.angular_momentum, rel=0.03)
    # The reference takes shorter steps, in which motors reach their limits more often.
    assert fast.drive == pytest.approx(reference.drive, abs=5e-3)
    assert fast.centres == pytest.approx(reference.centres, abs=0.02 * distance)


@BOTH
def test_the_front_starts_at_the_origin(cls):
    swimmers = cls(SNAKE, 2)
    assert swimmers.centre == pytest.approx(np.array([[-6.0, 0.0]] * 2))
    assert swimmers.centres[:, 0] == pytest.approx(np.array([[-0.75, 0.0]] * 2))
    assert not swimmers.velocity.any()
    assert swimmers.time.tolist() == [0.0, 0.0]


@BOTH
def test_velocity_is_how_fast_the_centre_moves(cls):
    swimmers = swim(cls(SNAKE.model_copy(update={"interval": 0.005}), 1), 1.0)
    before = swimmers.centre.copy()
    speed = swimmers.velocity.copy()
    swim(swimmers, 0.005, GAIT.model_copy(update={"amplitude": 0.0}))
    mean = 0.5 * (speed + swimmers.velocity)
    assert (swimmers.centre - before) / 0.005 == pytest.approx(mean, rel=0.02, abs=1e-3)


@BOTH
def test_a_body_that_moves_with_the_current_swims_as_in_still_water(cls):
    current = np.array([0.7, -0.3])
    still, carried = cls(SNAKE, 1), cls(SNAKE, 1, current)
    if cls is ReferenceSwimmers:
        carried._velocity[:, :2] = current
    else:
        carried.state[rows.velocities(SNAKE.joints)] = 0.0
    for swimmers in (still, carried):
        swim(swimmers)
    assert carried.centre - current * carried.time[:, None] == pytest.approx(still.centre, abs=1e-6)
    assert carried.velocity - current == pytest.approx(still.velocity, abs=1e-6)
    assert carried.head == pytest.approx(still.head, abs=1e-6)


@BOTH
def test_a_current_accelerates_a_body_at_rest(cls):
    swimmers = cls(SNAKE, 1, (0.0, 1.0))
    assert swimmers.velocity == pytest.approx(np.zeros((1, 2)))
    swim(swimmers, 3.0, Gait())
    # Broadside: drag on eight sides.
    rate = 8 * SNAKE.drag * SNAKE.length * SNAKE.height / SNAKE.mass
    assert swimmers.velocity[0] == pytest.approx([0.0, 1.0 - np.exp(-3.0 * rate)], abs=1e-3)


def test_both_agree_in_a_current():
    fast, reference = (swim(cls(SNAKE, 1, (0.4, 0.3))) for cls in (FastSwimmers, ReferenceSwimmers))
    assert fast.centre == pytest.approx(reference.centre, abs=0.02)


@BOTH
def test_without_drag_the_centre_stays(cls):
    swimmers = swim(cls(SNAKE.model_copy(update={"drag": 0.0}), 1), 3.0)
    away = np.abs(swimmers.centre - [-6.0, 0.0]).max()
    assert away <= 1e-9
    assert np.abs(swimmers.angular_momentum).max() <= 1e-9


@BOTH
def test_some_restart_while_the_others_go_on(cls):
    undisturbed, restarted, fresh = make(cls), make(cls), make(cls)
    swim(undisturbed, 0.6)
    swim(restarted, 0.4)
    restarted.restart(np.array([0, 2]), np.array([[4.0, 8.0], [4.0, 9.0]]))
    fresh.restart(np.array([0, 2]), np.array([[4.0, 8.0], [4.0, 9.0]]))
    for k in range(20, 30):
        targets = np.tile(GAIT.targets((k - 19) * SNAKE.interval, SNAKE.joints), (3, 1))
        targets[1] = GAIT.targets((k + 1) * SNAKE.interval, SNAKE.joints)
        restarted.command(targets)
    swim(fresh, 0.2)
    assert restarted.time == pytest.approx([0.2, 0.6, 0.2])
    for body, other in ((0, fresh), (1, undisturbed), (2, fresh)):
        for mine, theirs in zip(read(restarted, body), read(other, body), strict=True):
            assert np.array_equal(mine, theirs)


@BOTH
def test_balls_go_back_to_where_they_were_made(cls):
    swimmers = make(cls)
    swimmers.restart(np.array([1]), np.array([[4.0, 8.0]]))
    assert swimmers.balls.tolist() == [[9.0, 1.0], [4.0, 8.0], [9.0, 3.0]]
    swimmers.restart(np.arange(3))
    assert np.array_equal(swimmers.balls, BALLS)


@BOTH
def test_a_restarted_body_has_no_longer_exploded(cls):
    swimmers = swim(explode(make(cls)), 0.1)
    assert swimmers.exploded.tolist() == [False, True, False]
    swimmers.restart(np.array([1]))
    assert not swim(swimmers, 0.1).exploded.any()


@BOTH
def test_times_that_were_read_do_not_change(cls):
    swimmers = swim(make(cls), 0.1)
    before = swimmers.time
    swimmers.restart(np.arange(3))
    assert before == pytest.approx([0.1] * 3)


@BOTH
def test_an_explosion_is_detected_and_the_others_go_on(cls):
    expected = swim(cls(SNAKE, 3))
    swimmers = swim(explode(cls(SNAKE, 3)))
    assert swimmers.exploded.tolist() == [False, True, False]
    assert np.array_equal(swimmers.centre[[0, 2]], expected.centre[[0, 2]])


@BOTH
@pytest.mark.parametrize("angle", [np.nan, np.inf])
def test_targets_that_are_nan_or_infinite_are_refused(cls, angle):
    swimmers, targets = swim(cls(SNAKE, 3), 0.1), np.zeros((3, 7))
    before = [np.copy(getattr(swimmers, name)) for name in ("time", *QUANTITIES)]
    targets[1, 4] = angle
    with pytest.raises(SandlotError, match=r"^the commanded joint angles of body 1 are NaN or infinite; allowed: a"):
        swimmers.command(targets)
    assert all(map(np.array_equal, before, [getattr(swimmers, name) for name in ("time", *QUANTITIES)]))


@BOTH
def test_targets_of_an_exploded_body_are_not_checked(cls):
    swimmers, targets = swim(explode(cls(SNAKE, 3)), 0.1), np.zeros((3, 7))
    targets[1] = np.nan
    swimmers.command(targets)
    assert swimmers.exploded.tolist() == [False, True, False]
    assert np.isfinite(swimmers.centre[[0, 2]]).all()


@pytest.mark.parametrize(
    ("cls", "name"), [(ReferenceSwimmers, "balls"), (ReferenceSwimmers, "ball_velocity"), (FastSwimmers, "balls")]
)
def test_reading_balls_that_do_not_exist_is_refused(cls, name):
    with pytest.raises(SandlotError, match="have no balls"):
        getattr(cls(SNAKE, 1), name)
