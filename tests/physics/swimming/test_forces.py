"""Drag and servo torques, and energies, agree with their plain twin, and with MuJoCo."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.physics.swimming import callback
from sandlot.physics.swimming.energy import energies
from sandlot.physics.swimming.forces import MARK, SIMULATION, push
from sandlot.robots.reference_swimmers import STIFFNESS, mjcf
from sandlot.robots.snake import Snake
from twins.swimming import Head

SLOW = bool(config.DISABLE_JIT)
CURRENT = np.array([0.7, -0.4])
SINCE = 0.013
"""Time since the last command [s]."""
compiled = pytest.mark.skipif(SLOW, reason="MuJoCo can call compiled functions only")


class Moment:
    """A body with random velocities, and a random plan of its servos."""

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

    def simulation(self, now):
        record = np.zeros(1, SIMULATION).view(np.recarray)
        record[0] = (MARK, self.body, *CURRENT, STIFFNESS, now - SINCE, self.ball_drag)
        return record[0]

    @property
    def plan(self):
        return np.stack([self.angles, self.rates, self.acceleration])

    def wanted(self):
        """Wanted accelerations of the joints, with the correction of errors."""
        chain = slice(3, 3 + self.snake.joints)
        rates = self.rates + self.acceleration * SINCE
        angles = self.angles + self.rates * SINCE + 0.5 * self.acceleration * SINCE**2
        error = 2.0 * STIFFNESS * (rates - self.velocity[chain]) + STIFFNESS**2 * (angles - self.position[chain])
        return self.acceleration + error

    def twin(self):
        size = 3 + self.snake.joints
        return Head(self.body, self.position[:size], self.velocity[:size], CURRENT)

    def forces(self):
        """The forces that the kernel adds."""
        before = np.linspace(-1.0, 1.0, self.position.size)
        force = before.copy()
        push(self.position, self.velocity, force, 1.5, self.simulation(1.5), self.plan)
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
def test_forces_agree_with_the_twin(changes, torque, ball):
    for seed in range(2 if SLOW else 20):
        moment = Moment(Snake(**changes, max_torque=torque), seed, ball)
        expected, _ = moment.twin().forces(moment.wanted())
        found = moment.forces()
        size = len(expected)
        assert found[:size] == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())
        if ball:
            assert found[size:] == pytest.approx(-3.0 * (moment.velocity[size:] - CURRENT))


def test_the_compared_cases_reach_the_torque_limit():
    """Otherwise the comparison would not test it."""
    shares = {}
    for name, torque in TORQUES.items():
        moments = [Moment(Snake(links=6, max_torque=torque), seed) for seed in range(20)]
        shares[name] = [moment.twin().forces(moment.wanted())[1] for moment in moments]
    assert min(shares["strong"]) == 1.0
    assert 0.0 < np.median(shares["limited"]) < 1.0
    assert max(shares["weak"]) < 0.5
    assert min(shares["weak"]) == 0.0


def test_the_torque_limit_is_soft():
    """Torques that keep the joint rates may exceed the limit; accelerations never add to them then."""
    moment = Moment(Snake(links=6, max_torque=1.0), 3)
    twin = moment.twin()
    water = np.linalg.solve(twin.jacobian.T, -twin.shape.drag(twin.speeds) @ twin.speeds)
    torques, keeping = moment.forces()[3:] - water[3:], twin.forces(np.zeros(5))[0][3:] - water[3:]
    beyond = np.abs(torques) > 1.0 + 1e-9
    assert np.abs(torques).max() > 100.0
    assert (np.abs(torques) <= np.abs(keeping) + 1e-9)[beyond].all()


@compiled
def test_joints_get_the_accelerations_they_want_in_mujoco():
    """Our inverse dynamics against MuJoCo's forward dynamics."""
    callback.install()
    for seed in range(10):
        moment = Moment(Snake(links=7, max_torque=1e12, max_angle=1.5), seed)
        model = mujoco.MjModel.from_xml_string(mjcf(moment.snake, None, False, "RK4"))
        data = mujoco.MjData(model)
        data.time = 1.5
        data.qpos[:], data.qvel[:] = moment.position, moment.velocity
        data.userdata[:] = np.append(np.frombuffer(moment.simulation(1.5).tobytes()), moment.plan)
        mujoco.mj_forward(model, data)
        assert data.qfrc_passive == pytest.approx(moment.forces(), rel=1e-9, abs=1e-9 * np.abs(moment.forces()).max())
        assert data.qacc[3:] == pytest.approx(moment.wanted(), rel=1e-6, abs=1e-6)


@settings(max_examples=3 if SLOW else 30)
@given(st.sampled_from(list(BODIES)), st.integers(0, 2**32 - 1), st.booleans())
def test_energies_agree_with_the_twin(name, seed, ball):
    snake = Snake(**BODIES[name], max_rate=1.0, max_torque=10.0)
    moments = [Moment(snake, seed + k, ball) for k in range(2)]
    position, velocity = (np.stack([getattr(each, word) for each in moments]) for word in ("position", "velocity"))
    found = energies(snake.record(), position, velocity, CURRENT, 0.5 if ball else 0.0)
    speed = np.linalg.norm(velocity[:, -2:] - CURRENT, axis=1) if ball else np.zeros(2)
    expected = [each.twin().energy() + extra for each, extra in zip(moments, 0.25 * speed**2, strict=True)]
    assert found.ball_speed == pytest.approx(speed)
    assert found.kinetic == pytest.approx(expected)
    rates = np.abs(velocity[:, 3 : 3 + snake.joints])
    assert found.max_power == pytest.approx(10.0 * np.minimum(rates, 1.0).sum(axis=1))
