"""Swimmers in MuJoCo: contacts, balls, explosions, and steps that are too long."""

import numpy as np
import pytest

from sandlot.control.snake.gaits import Gait
from sandlot.errors import SandlotError
from sandlot.robots.reference_swimmers import Ball, ReferenceSwimmers, check_stable
from sandlot.robots.snake import Snake
from swimming_bodies import QUANTITIES, SNAKE, explode, swim


def test_threads_do_not_change_results():
    rng = np.random.default_rng(0)
    targets = np.cumsum(rng.normal(0.0, 0.02, (50, 4, 7)), axis=0)
    found = []
    for threads in (1, 2, 4):
        swimmers = ReferenceSwimmers(SNAKE, 4, threads=threads)
        for each in targets:
            swimmers.command(each)
        found.append([getattr(swimmers, name).copy() for name in QUANTITIES])
    for other in found[1:]:
        for mine, theirs in zip(found[0], other, strict=True):
            assert np.array_equal(mine, theirs)


def test_links_collide_only_with_contact():
    """A body that curls up more tightly than its links leave room for."""
    curl = Gait(veer=1.4)
    solid = swim(ReferenceSwimmers(SNAKE, 1), 3.0, curl)
    ghost = swim(ReferenceSwimmers(SNAKE, 1, contact=False), 3.0, curl)
    assert not solid.exploded.any()
    assert np.abs(ghost.angles).max() == pytest.approx(1.4, abs=0.05)
    assert np.abs(solid.angles - ghost.angles).max() > 0.1


def test_a_ball_stays_until_it_is_pushed():
    place = np.array([[0.9, 0.0], [5.0, 5.0]])
    swimmers = ReferenceSwimmers(SNAKE, 2, balls=place)
    assert swimmers.solid_balls
    assert not ReferenceSwimmers(SNAKE, 2).solid_balls
    swim(swimmers, 3.0)
    assert swimmers.balls[0, 0] > 1.0, "the head is behind it"
    assert swimmers.balls[1] == pytest.approx(place[1])
    assert swimmers.ball_velocity[1] == pytest.approx([0.0, 0.0])


def test_a_current_carries_a_ball():
    swimmers = ReferenceSwimmers(SNAKE, 1, (0.5, 0.0), balls=np.array([[0.0, 9.0]]))
    swim(swimmers, 2.0, Gait())
    assert swimmers.ball_velocity[0] == pytest.approx([0.5, 0.0], abs=1e-3)


def test_an_exploded_body_stays_exploded():
    swimmers = swim(explode(ReferenceSwimmers(SNAKE, 2)), 0.1)
    swimmers._velocity[:] = 0.0
    swimmers._position[:] = 0.0
    assert swimmers.exploded.tolist() == [False, True]


@pytest.mark.parametrize(
    ("word", "value"), [("_velocity", np.nan), ("_position", np.nan), ("_velocity", 1e4), ("_velocity", -1e200)]
)
def test_a_ball_that_explodes_is_detected(word, value):
    swimmers = ReferenceSwimmers(SNAKE, 3, (1.0, 0.0), balls=np.full((3, 2), 9.0), ball=Ball(drag=0.0))
    getattr(swimmers, word)[1, -1] = value
    swim(swimmers, 0.02)
    assert swimmers.exploded.tolist() == [False, True, False]


@pytest.mark.parametrize("ball", [False, True])
def test_energy_that_no_motor_gave_is_detected(ball):
    """With negative drag, long before anything is too fast."""
    balls = {"balls": np.full((2, 2), 9.0)} if ball else {}
    swimmers = ReferenceSwimmers(SNAKE.model_copy(update={"drag": -20.0}), 2, **balls)
    swimmers._velocity[1, :2] = 1.0
    swim(swimmers, 0.5, Gait())
    assert swimmers.exploded.tolist() == [False, True]
    assert np.abs(swimmers.velocity).max() < 3.0


@pytest.mark.parametrize("drag", [0.0, Snake().drag])
def test_energy_from_a_current_is_no_explosion(drag):
    snake = SNAKE.model_copy(update={"drag": drag})
    options = {"balls": np.full((2, 2), 9.0), "ball": Ball(drag=drag)}
    swimmers = ReferenceSwimmers(snake, 2, (8.0, -6.0), **options)
    swimmers._velocity[0, 2] = 1.0
    swim(swimmers, 1.0, Gait())
    assert not swimmers.exploded.any()


@pytest.mark.parametrize("changes", [{}, {"max_torque": 1e3}, {"mass": 0.3, "faces": "all", "max_torque": 100.0}])
def test_ordinary_gaits_do_not_explode(changes):
    swimmers = ReferenceSwimmers(SNAKE.model_copy(update=changes), 20)
    rng = np.random.default_rng(0)
    amplitude, frequency, phase = rng.uniform([0.1, 0.1, 0.0], [0.8, 2.0, 2.0 * np.pi], (20, 3)).T[:, :, None]
    for k in range(100):
        wave = 2.0 * np.pi * frequency * 0.02 * (k + 1) - phase * np.arange(7)
        swimmers.command(amplitude * np.sin(wave))
    assert not swimmers.exploded.any()


@pytest.mark.parametrize(
    ("changes", "ball", "words"),
    [
        ({"step": 0.02}, 0.0, "servos"),
        ({"mass": 0.15, "step": 0.02}, 0.0, "drag on the body"),
        ({"mass": 0.15, "width": 4.0, "step": 0.002}, 0.0, "drag on the body"),
        ({}, 1927.0, "drag on the ball"),
    ],
)
def test_the_step_that_the_message_names_is_allowed(changes, ball, words):
    snake = Snake(links=8, **changes)
    with pytest.raises(SandlotError, match=f"{words} too stiff for it") as caught:
        check_stable(snake, ball)
    named = float(str(caught.value).rpartition(" ")[2])
    check_stable(snake.model_copy(update={"step": named}), ball)
    with pytest.raises(SandlotError):
        check_stable(snake.model_copy(update={"step": 1.2 * named}), ball)


def test_the_light_body_of_the_source_is_allowed():
    check_stable(Snake(links=8, mass=0.3))
    check_stable(Snake(links=8, mass=0.3), 60.0)


def test_the_longest_step_swims_nearly_as_far():
    gait = Gait(amplitude=0.46, frequency=2.0, phase=0.68)
    distances = []
    for step in (0.005, 0.01):
        swimmers = swim(ReferenceSwimmers(Snake(step=step), 1, contact=False), 5.0, gait)
        distances.append(np.linalg.norm(swimmers.centre[0] - (-12.75, 0.0)))
    assert distances[0] > 10.0
    assert distances[1] == pytest.approx(distances[0], rel=0.02)


@pytest.mark.parametrize(("mass", "drag"), [(0.001, Snake().drag), (0.01, Snake().drag), (0.42, 500.0)])
def test_a_ball_too_light_for_the_step_is_refused(mass, drag):
    with pytest.raises(SandlotError, match=r"drag on the ball too stiff for it; allowed: at most "):
        ReferenceSwimmers(SNAKE, 1, balls=np.array([[0.0, 9.0]]), ball=Ball(mass=mass, drag=drag))


@pytest.mark.parametrize("step", [0.0005, 0.001, 0.0025])
def test_the_longest_allowed_step_is_stable(step):
    """The lightest allowed body, moving sideways, slows down without oscillation."""
    drag = Snake().drag * 1.5 * 0.5
    snake = Snake(links=4, mass=4 * drag * step / 0.99, step=step, interval=0.02)
    swimmers = ReferenceSwimmers(snake, 1)
    swimmers._velocity[0, 1] = 1.0
    swim(swimmers, 0.2, Gait())
    assert not swimmers.exploded.any()
    assert np.abs(swimmers.velocity).max() < 0.1
