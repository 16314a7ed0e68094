"""Swimmers in MuJoCo: motors, momentum, energy, contacts, balls, explosions, and steps that are too long."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest
from numba import config

from sandlot.control.snake.gaits import Gait
from sandlot.errors import SandlotError
from sandlot.robots.reference_swimmers import REFINE, Ball, ReferenceSwimmers, check_stable
from sandlot.robots.snake import Snake
from swimming_bodies import QUANTITIES, SNAKE, explode, swim

RANDOM = np.random.default_rng(1).uniform([0.1, 0.1, 0.0], [1.5, 3.0, 2.0 * np.pi], (20, 3))
"""Amplitude [rad], frequency [Hz] and phase [rad] of gaits."""
compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo can only call compiled code")


def wave(swimmers, gaits, seconds, each=lambda: None):
    """Let each body follow its own gait; ``each`` is called after every command."""
    amplitude, frequency, phase = np.asarray(gaits).T[:, :, None]
    for k in range(round(seconds / swimmers.snake.interval)):
        time = (k + 1) * swimmers.snake.interval
        swimmers.command(amplitude * np.sin(2.0 * np.pi * frequency * time - phase * np.arange(swimmers.snake.joints)))
        each()
    return swimmers


class Watched(ReferenceSwimmers):
    """Records the work of the motors since the start [J], also its absolute value, and the last torques [N*m]."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.work, self.turnover = np.zeros((2, self.count))
        self.torques, self._real = None, self._batch
        self._batch = self

    @property
    def state(self):
        return self._real.state

    def step(self, which):
        before = self.rates.copy()
        self._real.step(which)
        self.torques = -self._flywheels(self._constraints)
        work = self._step * 0.5 * self.torques * (before + self.rates)
        self.work += work.sum(axis=1)
        self.turnover += np.abs(work).sum(axis=1)


def test_a_strong_motor_has_the_commanded_rate():
    """Also while the water and the other joints push against it."""
    swimmers = Watched(SNAKE.model_copy(update={"max_torque": 1e7}), 4)
    rng = np.random.default_rng(0)
    for _ in range(30):
        targets = rng.uniform(-0.5, 0.5, (4, 7))
        rates = SNAKE.gain * (targets - swimmers.angles)
        expected = swimmers.angles + rates * SNAKE.interval
        swimmers.command(targets)
        assert swimmers.rates == pytest.approx(rates, abs=1e-3 * np.abs(rates).max())
        assert swimmers.angles == pytest.approx(expected, abs=1e-3)
    assert swimmers.drive.tolist() == [1.0] * 4


def test_the_commanded_rate_and_angle_are_limited():
    swimmers = ReferenceSwimmers(SNAKE.model_copy(update={"max_torque": 1e8, "max_rate": 2.0, "max_angle": 0.3}), 1)
    swimmers.command(np.full((1, 7), 9.0))
    assert swimmers.rates == pytest.approx(np.full((1, 7), 2.0), abs=1e-3)
    for _ in range(30):
        swimmers.command(np.full((1, 7), 9.0))
    assert swimmers.angles == pytest.approx(np.full((1, 7), 0.3), abs=1e-3)


def test_a_joint_stops_at_its_largest_angle():
    snake = Snake(links=3, max_torque=10.0, max_angle=0.5, drag=0.0)
    swimmers = ReferenceSwimmers(snake, 1, contact=False)
    swimmers._velocity[0, 3:5] = 3.0
    for _ in range(50):
        swimmers.command(np.zeros((1, 2)))
        assert np.abs(swimmers.angles).max() < 0.51
    assert not swimmers.exploded.any()


@pytest.mark.parametrize("torque", [20.0, 200.0])
def test_a_weak_motor_gives_its_largest_torque(torque):
    """Three links in vacuum that bend to the same side; the middle one does not turn, by symmetry.

    The work of both motors, 2 * torque * angle, is the kinetic energy: that of the two outer links that turn, and that
    of all three that move so that their centre of mass stays.
    """
    snake = Snake(links=3, mass=30.0, drag=0.0, max_torque=torque, gain=1e4)
    swimmers, step = Watched(snake, 1, contact=False), snake.step / REFINE
    arm = snake.link_mass * (0.5 * snake.length) ** 2
    for _ in range(1000):
        swimmers.command(np.full((1, 2), 1.5))
        angle = swimmers.angles[0, 0]
        if angle > 1.3:
            break
        assert np.array_equal(swimmers.torques, np.full((1, 2), torque))
        assert swimmers.angles[0, 1] == pytest.approx(angle, rel=1e-9)
        inertia = snake.inertia + arm * (np.sin(angle) ** 2 + np.cos(angle) ** 2 / 3.0)
        # The rates belong to half a step before the angles.
        expected = np.sqrt(2.0 * torque * angle / inertia) - 0.5 * step * torque / inertia
        assert swimmers.rates[0] == pytest.approx(np.full(2, expected), rel=0.02)
    assert angle > 1.3
    assert swimmers.drive.tolist() == [0.0]


def test_torques_stay_within_the_limit():
    swimmers, shares = Watched(Snake(max_torque=3e4), 20), []

    def check():
        assert np.abs(swimmers.torques).max() <= 3e4
        shares.append((np.abs(swimmers.torques) < 3e4).mean())

    wave(swimmers, RANDOM, 1.0, check)
    assert 0.3 < np.mean(shares) < 0.95, "some are at the limit"
    assert swimmers.drive.mean() == pytest.approx(np.mean(shares), abs=0.1)


def test_without_drag_momentum_stays():
    swimmers = ReferenceSwimmers(Snake(drag=0.0), 20)
    wave(swimmers, RANDOM, 3.0)
    assert np.abs(swimmers.centre - (-12.75, 0.0)).max() < 1e-9
    assert np.abs(swimmers.velocity).max() < 1e-9
    assert np.abs(swimmers.angular_momentum).max() < 1e-6
    assert not swimmers.exploded.any()


def test_a_contact_keeps_the_momentum_of_body_and_ball():
    """Without drag, a body that curls around its ball, which also rolls along it."""
    snake = SNAKE.model_copy(update={"drag": 0.0})
    swimmers = ReferenceSwimmers(snake, 1, balls=np.array([[-4.0, 1.6]]), ball=Ball(mass=20.0, drag=0.0))
    swim(swimmers, 0.8, Gait(veer=-0.9))
    moving = 20.0 * swimmers.ball_velocity[0]
    assert np.linalg.norm(moving) > 10.0
    assert SNAKE.mass * swimmers.velocity[0] == pytest.approx(-moving, abs=1e-9)
    arm = swimmers.balls[0] - swimmers.centre[0]
    turning = arm[0] * moving[1] - arm[1] * moving[0] + Ball(mass=20.0).inertia * swimmers._velocity[0, 12]
    assert swimmers.angular_momentum[0] == pytest.approx(-turning, abs=1e-8)
    assert abs(swimmers._velocity[0, 12]) > 0.01, "it rolls"


@pytest.mark.parametrize("drag", [0.0, Snake().drag])
def test_energy_comes_from_motors_only(drag):
    """Not more than their largest torques allow, and in all their work, up to the error of MuJoCo's integrator."""
    swimmers = Watched(Snake(drag=drag), 20, contact=False)
    last = swimmers._energies()

    def check():
        nonlocal last
        energies = swimmers._energies()
        given = swimmers.snake.interval * np.maximum(last.max_power, energies.max_power)
        assert (energies.kinetic - last.kinetic < given).all()
        last = energies

    wave(swimmers, RANDOM, 3.0, check)
    assert (last.kinetic < swimmers.work + 0.03 * swimmers.turnover).all()


@pytest.mark.parametrize(
    ("gait", "metres"), [((0.46, 2.0, 0.68), 99.7), ((0.7, 0.9, 0.8), 45.44), ((0.3, 1.0, 0.4), 81.82)]
)
def test_distances_converge(gait, metres):
    """To those that even shorter steps lead to."""
    swimmers = wave(ReferenceSwimmers(Snake(), 1, contact=False), [gait], 10.0)
    assert np.linalg.norm(swimmers.centre[0] - (-12.75, 0.0)) == pytest.approx(metres, rel=0.01)


@pytest.mark.parametrize("faces", ["open", "all"])
def test_a_light_body_converges_as_well(faces):
    """Drag slows its links down at 377/s."""
    distances = []
    for step in (0.01, 0.0025):
        swimmers = ReferenceSwimmers(Snake(links=8, mass=0.3, faces=faces, max_torque=100.0, step=step), 4)
        wave(swimmers, RANDOM[[0, 3, 4, 5]], 3.0)
        assert not swimmers.exploded.any()
        distances.append(np.linalg.norm(swimmers.centre - (-6.0, 0.0), axis=1))
    assert distances[0] == pytest.approx(distances[1], rel=0.03)


def test_threads_and_places_in_the_batch_do_not_change_results():
    order, found = np.random.default_rng(0).permutation(20), []
    for threads, places in ((1, np.arange(20)), (2, np.arange(20)), (4, order)):
        swimmers = wave(ReferenceSwimmers(SNAKE, 20, threads=threads), RANDOM[places], 1.0)
        found.append([getattr(swimmers, name)[np.argsort(places)] for name in QUANTITIES])
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


def test_an_exploded_body_stays_where_it_was_before():
    swimmers = swim(ReferenceSwimmers(SNAKE, 2), 0.5)
    centre = swimmers.centre.copy()
    swim(explode(swimmers), 0.5)
    assert swimmers.exploded.tolist() == [False, True]
    assert np.array_equal(swimmers.centre[1], centre[1])
    swimmers._velocity[:] = 0.0
    assert swimmers.exploded.tolist() == [False, True]
    swimmers.restart(np.array([1]))
    assert not swim(swimmers, 0.1).exploded.any()


@pytest.mark.parametrize(
    ("word", "value"), [("ball_velocity", np.nan), ("balls", np.nan), ("ball_velocity", 1e4), ("ball_velocity", -1e200)]
)
def test_a_ball_that_explodes_is_detected(word, value):
    swimmers = ReferenceSwimmers(SNAKE, 3, (1.0, 0.0), balls=np.full((3, 2), 9.0), ball=Ball(drag=0.0))
    getattr(swimmers, word)[1, 1] = value
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


@pytest.mark.parametrize(
    "changes", [{}, {"max_torque": 1e3}, {"mass": 0.3, "faces": "all", "max_torque": 100.0}, {"links": 17}]
)
def test_ordinary_gaits_do_not_explode(changes):
    swimmers = wave(ReferenceSwimmers(SNAKE.model_copy(update=changes), 20), RANDOM, 2.0)
    assert not swimmers.exploded.any()


@compiled
def test_mujoco_prints_and_logs_nothing_about_an_explosion(tmp_path):
    program = (
        "import numpy as np\n"
        "from sandlot.robots.snake import Snake\n"
        "from sandlot.robots.reference_swimmers import ReferenceSwimmers\n"
        "swimmers = ReferenceSwimmers(Snake(links=4), 2, threads=2)\n"
        "swimmers.command(np.zeros((2, 3)))\n"
        "swimmers._velocity[1] = 1e12\n"
        "swimmers.command(np.zeros((2, 3)))\n"
        "assert swimmers.exploded.tolist() == [False, True]\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == done.stderr == ""
    assert not list(tmp_path.iterdir()), "as MUJOCO_LOG.TXT would be"


@compiled
def test_warnings_of_other_simulations_are_kept():
    warnings = []
    mujoco.set_mju_user_warning(warnings.append)
    try:
        swim(ReferenceSwimmers(SNAKE, 1), 0.1)
        model = mujoco.MjModel.from_xml_string(
            "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='0.1' pos='0.5 0 0'/></body></worldbody></mujoco>"
        )
        data = mujoco.MjData(model)
        data.qvel[0] = 1e12
        mujoco.mj_step(model, data)
    finally:
        mujoco.set_mju_user_warning(None)
    assert warnings


@pytest.mark.parametrize(
    ("changes", "ball", "words"),
    [
        ({"step": 0.04, "interval": 0.04}, 0.0, "motors"),
        ({"mass": 0.1, "step": 0.02}, 0.0, "drag on the body"),
        ({"mass": 0.15, "width": 4.0}, 0.0, "drag on the body"),
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
    check_stable(Snake(links=8, mass=0.3), 142.0)


@pytest.mark.parametrize(("mass", "drag"), [(0.001, Snake().drag), (0.01, Snake().drag), (0.42, 500.0)])
def test_a_ball_too_light_for_the_step_is_refused(mass, drag):
    with pytest.raises(SandlotError, match=r"drag on the ball too stiff for it; allowed: at most "):
        ReferenceSwimmers(SNAKE, 1, balls=np.array([[0.0, 9.0]]), ball=Ball(mass=mass, drag=drag))


@pytest.mark.parametrize("step", [0.0005, 0.001, 0.0025])
def test_the_longest_allowed_step_is_stable(step):
    """The lightest allowed body, moving sideways, slows down without oscillation."""
    drag = Snake().drag * 1.5 * 0.5
    snake = Snake(links=4, mass=4 * drag * step / REFINE / 1.98, step=step, interval=0.02)
    swimmers = ReferenceSwimmers(snake, 1)
    swimmers._velocity[0, 1] = 1.0
    swim(swimmers, 0.2, Gait())
    assert not swimmers.exploded.any()
    assert np.abs(swimmers.velocity).max() < 1e-6
