"""Water and servos for MuJoCo: as their plain twin says, and found where MuJoCo keeps them."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.errors import SandlotError
from sandlot.physics.swimming import callback
from sandlot.physics.swimming.callback import MARK, USER_ROWS, push
from sandlot.physics.swimming.energy import energies
from sandlot.robots.reference_swimmers import STIFFNESS, mjcf
from sandlot.robots.snake import Snake
from twins.water import Head

SLOW = bool(config.DISABLE_JIT)
CURRENT = np.array([0.7, -0.4])
SINCE = 0.013
"""Since the last command [s]."""
compiled = pytest.mark.skipif(SLOW, reason="MuJoCo cannot call what is not compiled")


class Moment:
    """A body that moves at random, and what its servos were told."""

    def __init__(self, snake, seed, ball=False):
        rng = np.random.default_rng(seed)
        self.snake, self.body, joints = snake, snake.record(), snake.joints
        self.position = np.concatenate(
            [rng.normal(0.0, 5.0, 2), rng.uniform(-7.0, 7.0, 1), rng.normal(0.0, 0.5, joints)]
        )
        self.velocity = rng.normal(0.0, 1.5, joints + 3)
        self.angles, self.rates = self.position[3:] + rng.normal(0.0, 0.01, joints), rng.normal(0.0, 1.5, joints)
        self.acceleration = rng.normal(0.0, 20.0, joints)
        self.ball_drag = 3.0 if ball else -1.0
        if ball:
            self.position = np.append(self.position, [3.0, 4.0])
            self.velocity = np.append(self.velocity, [0.3, 2.0])

    def user(self, now):
        body = self.body
        fixed = (
            body.links,
            body.length,
            body.side_drag,
            body.end_drag,
            body.tip_drag,
            *CURRENT,
            body.mass,
            body.inertia,
        )
        motors = (STIFFNESS, body.max_torque, now - SINCE, 0.0, 0.0, self.ball_drag)
        return np.concatenate([(MARK, *fixed, *motors), self.angles, self.rates, self.acceleration])

    def wanted(self):
        """Accelerations of the joints, with the correction of errors."""
        chain = slice(3, 3 + self.snake.joints)
        rates = self.rates + self.acceleration * SINCE
        angles = self.angles + self.rates * SINCE + 0.5 * self.acceleration * SINCE**2
        late = 2.0 * STIFFNESS * (rates - self.velocity[chain]) + STIFFNESS**2 * (angles - self.position[chain])
        return self.acceleration + late

    def twin(self):
        size = 3 + self.snake.joints
        return Head(self.body, self.position[:size], self.velocity[:size], CURRENT)

    def forces(self):
        """What the kernel adds."""
        before = np.linspace(-1.0, 1.0, self.position.size)
        force = before.copy()
        push(self.position, self.velocity, force, 1.5, self.user(1.5))
        return force - before


TORQUES = {"strong": 1e9, "limited": 1e4, "weak": 100.0}
BODIES = {
    "open faces": {"links": 6},
    "all faces": {"links": 5, "mass": 3.0, "faces": "all", "width": 2.0},
    "three links": {"links": 3, "length": 0.7},
    "no drag": {"links": 4, "drag": 0.0},
}


@pytest.mark.parametrize("ball", [False, True], ids=["alone", "with ball"])
@pytest.mark.parametrize("torque", TORQUES.values(), ids=TORQUES)
@pytest.mark.parametrize("changes", BODIES.values(), ids=BODIES)
def test_forces_are_those_of_the_twin(changes, torque, ball):
    for seed in range(2 if SLOW else 20):
        moment = Moment(Snake(**changes, max_torque=torque), seed, ball)
        expected, _ = moment.twin().forces(moment.wanted())
        found = moment.forces()
        size = len(expected)
        assert found[:size] == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())
        if ball:
            assert found[size:] == pytest.approx(-3.0 * (moment.velocity[size:] - CURRENT))


def test_the_cases_reach_the_limits():
    """Or else agreement would say nothing about them."""
    shares = {}
    for name, torque in TORQUES.items():
        moments = [Moment(Snake(links=6, max_torque=torque), seed) for seed in range(20)]
        shares[name] = [moment.twin().forces(moment.wanted())[1] for moment in moments]
    assert min(shares["strong"]) == 1.0
    assert 0.0 < np.median(shares["limited"]) < 1.0
    assert max(shares["weak"]) < 0.5
    assert min(shares["weak"]) == 0.0


def test_the_torque_limit_is_a_soft_one():
    """What keeps a joint's rate is given even where it needs more than the limit; nothing goes further beyond that."""
    moment = Moment(Snake(links=6, max_torque=1.0), 3)
    twin = moment.twin()
    water = np.linalg.solve(twin.jacobian.T, -twin.shape.drag(twin.speeds) @ twin.speeds)
    torques, keeping = moment.forces()[3:] - water[3:], twin.forces(np.zeros(5))[0][3:] - water[3:]
    beyond = np.abs(torques) > 1.0 + 1e-9
    assert np.abs(torques).max() > 100.0
    assert (np.abs(torques) <= np.abs(keeping) + 1e-9)[beyond].all()


@compiled
def test_joints_get_the_accelerations_they_want_in_mujoco():
    """Inverse dynamics of ours, forward dynamics of MuJoCo's."""
    callback.install()
    for seed in range(10):
        moment = Moment(Snake(links=7, max_torque=1e12, max_angle=1.5), seed)
        model = mujoco.MjModel.from_xml_string(mjcf(moment.snake, False, 1.0, 1.0, False, "RK4"))
        data = mujoco.MjData(model)
        data.time = 1.5
        data.qpos[:], data.qvel[:], data.userdata[:] = moment.position, moment.velocity, moment.user(1.5)
        mujoco.mj_forward(model, data)
        assert data.qfrc_passive == pytest.approx(moment.forces(), rel=1e-9, abs=1e-9 * np.abs(moment.forces()).max())
        assert data.qacc[3:] == pytest.approx(moment.wanted(), rel=1e-6, abs=1e-6)


@settings(max_examples=3 if SLOW else 30)
@given(st.sampled_from(list(BODIES)), st.integers(0, 2**32 - 1), st.booleans())
def test_energies_are_those_of_the_twin(name, seed, ball):
    snake = Snake(**BODIES[name], max_rate=1.0, max_torque=10.0)
    moments = [Moment(snake, seed + k, ball) for k in range(2)]
    position, velocity = (np.stack([getattr(each, word) for each in moments]) for word in ("position", "velocity"))
    found = energies(snake.record(), position, velocity, CURRENT, 0.5 if ball else 0.0)
    speed = np.linalg.norm(velocity[:, -2:] - CURRENT, axis=1) if ball else np.zeros(2)
    expected = [each.twin().energy() + extra for each, extra in zip(moments, 0.25 * speed**2, strict=True)]
    assert found[:, 2] == pytest.approx(speed)
    assert found[:, 0] == pytest.approx(expected)
    rates = np.abs(velocity[:, 3 : 3 + snake.joints])
    assert found[:, 1] == pytest.approx(10.0 * np.minimum(rates, 1.0).sum(axis=1))


def test_fields_of_mujoco_are_looked_for_within_bounds():
    places = callback._places()
    assert max(places.values()) < callback.WORDS
    with pytest.raises(SandlotError, match=rf"^MuJoCo {mujoco.__version__} does not keep .*qfrc_passive.* where"):
        callback._places(max(places.values()))


def test_user_rows_are_those_before_the_joints():
    assert len(Moment(Snake(links=4), 0).user(0.0)) == USER_ROWS + 3 * 3
