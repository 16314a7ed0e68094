"""Swimming bodies at two fidelities: they agree, detect explosions, restart, and leave other simulations alone."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest

from sandlot.control.snake.gaits import Gait
from sandlot.errors import SandlotError
from sandlot.physics.swimming import callback, rows
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers, check_stable
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import Swimmers

SNAKE = Snake(links=8, mass=150.0)
GAIT = Gait(amplitude=0.4, frequency=1.0, phase=0.8, veer=0.02)
BOTH = pytest.mark.parametrize("cls", [FastSwimmers, ReferenceSwimmers])
QUANTITIES = ("centre", "velocity", "head", "angles", "rates", "drive", "angular_momentum")


def swim(swimmers, seconds=2.0, gait=GAIT):
    snake = swimmers.snake
    for k in range(round(seconds / snake.interval)):
        targets = gait.targets((k + 1) * snake.interval, snake.joints)
        swimmers.command(np.tile(targets, (swimmers.count, 1)))
    return swimmers


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
    assert fast.drive == pytest.approx(reference.drive, abs=1e-3)
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
        carried.state[[rows.MOMENTUM_X, rows.MOMENTUM_Y, rows.SURGE, rows.SWAY]] = 0.0
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
    assert fast.centre == pytest.approx(reference.centre, abs=0.01)


@BOTH
def test_without_drag_the_centre_stays(cls):
    swimmers = swim(cls(SNAKE.model_copy(update={"drag": 0.0}), 1), 3.0)
    away = np.abs(swimmers.centre - [-6.0, 0.0]).max()
    assert away <= (0.0 if cls is FastSwimmers else 2e-3)
    assert np.abs(swimmers.angular_momentum).max() <= (0.0 if cls is FastSwimmers else 1e-3)


def test_following_gaits_equals_single_commands():
    waves = GAIT.waves(SNAKE.joints)[None, :, :, None]
    swum = FastSwimmers(SNAKE, 1)
    swum.swim([0.0], waves, 2.0)
    commanded = swim(FastSwimmers(SNAKE, 1))
    assert swum.time == commanded.time == 2.0
    assert swum.state == pytest.approx(commanded.state, rel=1e-9, abs=1e-9)


def test_copies_start_at_time_zero():
    first = swim(FastSwimmers(SNAKE, 2))
    others = first.copies(3)
    assert first.heat[0] > 0.0
    assert np.array([others.time, others.heat, others.drive]).tolist() == [[0.0] * 3] * 3
    assert others.centre == pytest.approx(np.tile(first.centre[0], (3, 1)))
    assert others.rates == pytest.approx(np.tile(first.rates[0], (3, 1)))


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Swimmers(SNAKE, 1)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_do_not_change_fast_results(threads):
    rng = np.random.default_rng(0)
    gaits = np.stack([GAIT.waves(7)] * 5, axis=-1)[None] * rng.uniform(0.5, 1.0, (1, 1, 1, 5))
    alone, together = FastSwimmers(SNAKE, 5), FastSwimmers(SNAKE, 5, threads=threads)
    alone.swim([0.0], gaits, 1.0)
    together.swim([0.0], gaits, 1.0)
    assert np.array_equal(alone.state, together.state)


def test_threads_do_not_change_reference_results():
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


class TestBalls:
    def test_a_ball_stays_until_it_is_pushed(self):
        place = np.array([[0.9, 0.0], [5.0, 5.0]])
        swimmers = swim(ReferenceSwimmers(SNAKE, 2, balls=place), 3.0)
        assert swimmers.balls[0, 0] > 1.0, "the head is behind it"
        assert swimmers.balls[1] == pytest.approx(place[1])
        assert swimmers.ball_velocity[1] == pytest.approx([0.0, 0.0])

    def test_a_current_carries_it(self):
        swimmers = ReferenceSwimmers(SNAKE, 1, (0.5, 0.0), balls=np.array([[0.0, 9.0]]))
        swim(swimmers, 2.0, Gait())
        assert swimmers.ball_velocity[0] == pytest.approx([0.5, 0.0], abs=1e-3)

    @pytest.mark.parametrize(
        ("cls", "name"), [(ReferenceSwimmers, "balls"), (ReferenceSwimmers, "ball_velocity"), (FastSwimmers, "balls")]
    )
    def test_without_any_asking_for_them_is_an_error(self, cls, name):
        with pytest.raises(SandlotError, match="have no balls"):
            getattr(cls(SNAKE, 1), name)

    def test_in_the_fast_model_they_are_marks_that_stay(self):
        places = np.array([[0.9, 0.0], [5.0, 5.0]])
        fast = swim(FastSwimmers(SNAKE, 2, (0.5, 0.0), places), 1.0)
        assert np.array_equal(fast.balls, places)
        assert not fast.solid_balls
        assert ReferenceSwimmers(SNAKE, 2, balls=places).solid_balls
        assert not ReferenceSwimmers(SNAKE, 2).solid_balls


@BOTH
class TestRestarts:
    BALLS = np.array([[9.0, 1.0], [9.0, 2.0], [9.0, 3.0]])

    def make(self, cls):
        return cls(SNAKE, 3, (0.3, -0.2), self.BALLS)

    @staticmethod
    def read(swimmers, body):
        return [np.copy(getattr(swimmers, name)[body]) for name in ("time", "balls", *QUANTITIES)]

    def test_some_restart_while_the_others_go_on(self, cls):
        undisturbed, restarted, fresh = self.make(cls), self.make(cls), self.make(cls)
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
            for mine, theirs in zip(self.read(restarted, body), self.read(other, body), strict=True):
                assert np.array_equal(mine, theirs)

    def test_balls_go_back_to_where_they_were_made(self, cls):
        swimmers = self.make(cls)
        swimmers.restart(np.array([1]), np.array([[4.0, 8.0]]))
        assert swimmers.balls.tolist() == [[9.0, 1.0], [4.0, 8.0], [9.0, 3.0]]
        swimmers.restart(np.arange(3))
        assert np.array_equal(swimmers.balls, self.BALLS)

    def test_a_restarted_body_has_no_longer_exploded(self, cls):
        swimmers = swim(TestExplosions.explode(self.make(cls)), 0.1)
        assert swimmers.exploded.tolist() == [False, True, False]
        swimmers.restart(np.array([1]))
        assert not swim(swimmers, 0.1).exploded.any()

    def test_times_that_were_read_do_not_change(self, cls):
        swimmers = swim(self.make(cls), 0.1)
        before = swimmers.time
        swimmers.restart(np.arange(3))
        assert before == pytest.approx([0.1] * 3)


class TestExplosions:
    @staticmethod
    def explode(swimmers, which=1):
        """Give one of them a velocity that no motor can cause."""
        if isinstance(swimmers, FastSwimmers):
            swimmers.state[rows.MOMENTUM_X, which] = np.inf
        else:
            swimmers._velocity[which, 3] = 1e12
        return swimmers

    @BOTH
    def test_one_is_detected_and_the_others_go_on(self, cls):
        expected = swim(cls(SNAKE, 3))
        swimmers = swim(self.explode(cls(SNAKE, 3)))
        assert swimmers.exploded.tolist() == [False, True, False]
        assert np.array_equal(swimmers.centre[[0, 2]], expected.centre[[0, 2]])

    def test_an_exploded_body_stays_exploded(self):
        swimmers = swim(self.explode(ReferenceSwimmers(SNAKE, 2)), 0.1)
        swimmers._velocity[:] = 0.0
        swimmers._position[:] = 0.0
        assert swimmers.exploded.tolist() == [False, True]

    def test_a_body_faster_than_its_motors_counts_as_exploded(self):
        swimmers = FastSwimmers(SNAKE, 1)
        swimmers.state[rows.MOMENTUM_X] = SNAKE.mass * SNAKE.max_rate * SNAKE.arclength
        assert swimmers.exploded.all()

    @pytest.mark.parametrize(
        ("word", "value"), [("_velocity", np.nan), ("_position", np.nan), ("_velocity", 1e4), ("_velocity", -1e200)]
    )
    def test_a_ball_that_explodes_is_detected(self, word, value):
        swimmers = ReferenceSwimmers(SNAKE, 3, (1.0, 0.0), balls=np.full((3, 2), 9.0), ball_drag=0.0)
        getattr(swimmers, word)[1, -1] = value
        swim(swimmers, 0.02)
        assert swimmers.exploded.tolist() == [False, True, False]

    @pytest.mark.parametrize("ball", [False, True])
    def test_energy_that_no_motor_gave_is_detected(self, ball):
        """With negative drag, long before anything is too fast."""
        balls = {"balls": np.full((2, 2), 9.0)} if ball else {}
        swimmers = ReferenceSwimmers(SNAKE.model_copy(update={"drag": -20.0}), 2, **balls)
        swimmers._velocity[1, :2] = 1.0
        swim(swimmers, 0.5, Gait())
        assert swimmers.exploded.tolist() == [False, True]
        assert np.abs(swimmers.velocity).max() < 3.0

    @pytest.mark.parametrize("drag", [0.0, Snake().drag])
    def test_energy_from_a_current_is_no_explosion(self, drag):
        snake = SNAKE.model_copy(update={"drag": drag})
        options = {"balls": np.full((2, 2), 9.0), "ball_drag": drag}
        swimmers = ReferenceSwimmers(snake, 2, (8.0, -6.0), **options)
        swimmers._velocity[0, 2] = 1.0
        swim(swimmers, 1.0, Gait())
        assert not swimmers.exploded.any()

    @pytest.mark.parametrize("changes", [{}, {"max_torque": 1e3}, {"mass": 0.3, "faces": "all", "max_torque": 100.0}])
    def test_ordinary_gaits_do_not_explode(self, changes):
        swimmers = ReferenceSwimmers(SNAKE.model_copy(update=changes), 20)
        rng = np.random.default_rng(0)
        amplitude, frequency, phase = rng.uniform([0.1, 0.1, 0.0], [0.8, 2.0, 2.0 * np.pi], (20, 3)).T[:, :, None]
        for k in range(100):
            wave = 2.0 * np.pi * frequency * 0.02 * (k + 1) - phase * np.arange(7)
            swimmers.command(amplitude * np.sin(wave))
        assert not swimmers.exploded.any()

    def test_mujoco_writes_nothing_about_it(self, tmp_path):
        program = (
            "import numpy as np\n"
            "from sandlot.robots.snake import Snake\n"
            "from sandlot.robots.reference_swimmers import ReferenceSwimmers\n"
            "swimmers = ReferenceSwimmers(Snake(links=4), 2, threads=2)\n"
            "swimmers.command(np.zeros((2, 3)))\n"
            "never = {'__or__': lambda s, o: s, '__invert__': lambda s: np.ones(2, bool)}\n"
            "swimmers._lost = type('Never', (), never)()\n"
            "swimmers._velocity[1] = 1e12\n"
            "swimmers.command(np.zeros((2, 3)))\n"
            "assert not np.isfinite(swimmers.centre[1]).all()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == done.stderr == ""
        assert not list(tmp_path.iterdir()), "as MUJOCO_LOG.TXT would be"

    def test_warnings_of_other_simulations_are_kept(self):
        warnings = []
        mujoco.set_mju_user_warning(warnings.append)
        try:
            swim(ReferenceSwimmers(SNAKE, 1), 0.1)
            model, data = pendulum()
            data.qvel[0] = 1e12
            mujoco.mj_step(model, data)
        finally:
            mujoco.set_mju_user_warning(None)
        assert warnings


class TestBadInput:
    @BOTH
    @pytest.mark.parametrize("angle", [np.nan, np.inf])
    def test_targets_that_are_nan_or_infinite_are_refused(self, cls, angle):
        swimmers, targets = swim(cls(SNAKE, 3), 0.1), np.zeros((3, 7))
        before = [np.copy(getattr(swimmers, name)) for name in ("time", *QUANTITIES)]
        targets[1, 4] = angle
        with pytest.raises(
            SandlotError, match=r"^the commanded joint angles of body 1 are NaN or infinite; allowed: a"
        ):
            swimmers.command(targets)
        assert all(map(np.array_equal, before, [getattr(swimmers, name) for name in ("time", *QUANTITIES)]))

    @BOTH
    def test_targets_of_an_exploded_body_are_not_checked(self, cls):
        swimmers, targets = swim(TestExplosions.explode(cls(SNAKE, 3)), 0.1), np.zeros((3, 7))
        targets[1] = np.nan
        swimmers.command(targets)
        assert swimmers.exploded.tolist() == [False, True, False]
        assert np.isfinite(swimmers.centre[[0, 2]]).all()

    def test_a_step_that_would_be_unstable_is_refused(self):
        snake = Snake(links=8, mass=0.01)
        with pytest.raises(
            SandlotError, match=r"^step=0.005 would make the reference unstable.*allowed: at most"
        ) as caught:
            ReferenceSwimmers(snake, 1)
        assert "\n" not in str(caught.value)
        FastSwimmers(snake, 1)

    @pytest.mark.parametrize(
        ("changes", "ball", "words"),
        [
            ({"step": 0.02}, 0.0, "servos"),
            ({"mass": 0.15, "step": 0.02}, 0.0, "drag on the body"),
            ({"mass": 0.15, "width": 4.0, "step": 0.002}, 0.0, "drag on the body"),
            ({}, 1927.0, "drag on the ball"),
        ],
    )
    def test_the_step_that_the_message_names_is_allowed(self, changes, ball, words):
        snake = Snake(links=8, **changes)
        with pytest.raises(SandlotError, match=f"{words} too stiff for it") as caught:
            check_stable(snake, ball)
        named = float(str(caught.value).rpartition(" ")[2])
        check_stable(snake.model_copy(update={"step": named}), ball)
        with pytest.raises(SandlotError):
            check_stable(snake.model_copy(update={"step": 1.2 * named}), ball)

    def test_the_light_body_of_the_source_is_allowed(self):
        check_stable(Snake(links=8, mass=0.3))
        check_stable(Snake(links=8, mass=0.3), 60.0)

    def test_the_longest_step_swims_nearly_as_far(self):
        gait = Gait(amplitude=0.46, frequency=2.0, phase=0.68)
        distances = []
        for step in (0.005, 0.01):
            swimmers = swim(ReferenceSwimmers(Snake(step=step), 1, contact=False), 5.0, gait)
            distances.append(np.linalg.norm(swimmers.centre[0] - (-12.75, 0.0)))
        assert distances[0] > 10.0
        assert distances[1] == pytest.approx(distances[0], rel=0.02)

    @pytest.mark.parametrize(("mass", "drag"), [(0.001, Snake().drag), (0.01, Snake().drag), (0.42, 500.0)])
    def test_a_ball_too_light_for_the_step_is_refused(self, mass, drag):
        with pytest.raises(SandlotError, match=r"drag on the ball too stiff for it; allowed: at most "):
            ReferenceSwimmers(SNAKE, 1, balls=np.array([[0.0, 9.0]]), ball_mass=mass, ball_drag=drag)

    @pytest.mark.parametrize("step", [0.0005, 0.001, 0.0025])
    def test_the_longest_allowed_step_is_stable(self, step):
        """The lightest allowed body, moving sideways, slows down without oscillation."""
        drag = Snake().drag * 1.5 * 0.5
        snake = Snake(links=4, mass=4 * drag * step / 0.99, step=step, interval=0.02)
        swimmers = ReferenceSwimmers(snake, 1)
        swimmers._velocity[0, 1] = 1.0
        swim(swimmers, 0.2, Gait())
        assert not swimmers.exploded.any()
        assert np.abs(swimmers.velocity).max() < 0.1


def pendulum():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint axis='0 1 0' damping='0.1'/><geom size='0.1' pos='0.5 0 0'/></body>"
        "</worldbody></mujoco>"
    )
    return model, mujoco.MjData(model)


class TestCallback:
    @staticmethod
    def fall():
        model, data = pendulum()
        mujoco.mj_step(model, data, 500)
        return data.qpos.copy(), data.qvel.copy()

    def test_other_simulations_are_left_alone(self):
        mine = mujoco.get_mjcb_passive()
        mujoco.set_mjcb_passive(None)
        try:
            without = self.fall()
        finally:
            mujoco.set_mjcb_passive(mine)
        callback.install()
        swimmers = swim(ReferenceSwimmers(SNAKE, 1), 0.2)
        assert np.array_equal(self.fall(), without)
        assert swimmers.velocity.any()

    def test_simulations_with_other_user_data_are_left_alone(self):
        callback.install()
        model = mujoco.MjModel.from_xml_string(
            "<mujoco><size nuserdata='3'/><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
        )
        data = mujoco.MjData(model)
        data.userdata[:] = (1.0, 2.0, 3.0)
        mujoco.mj_step(model, data, 10)
        assert data.qfrc_passive.tolist() == [0.0]
        assert data.userdata.tolist() == [1.0, 2.0, 3.0]

    def test_installing_twice_has_no_effect(self):
        one = swim(ReferenceSwimmers(SNAKE, 1), 0.5).centre.copy()
        callback.install()
        callback.install()
        assert np.array_equal(swim(ReferenceSwimmers(SNAKE, 1), 0.5).centre, one)
