"""Drag, momentum and energy of chains in MuJoCo agree with their plain twin, and with MuJoCo."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.physics.swimming.drag import add_drag
from sandlot.physics.swimming.energy import energies
from sandlot.physics.swimming.momentum import keep_momentum
from sandlot.physics.swimming.simulation import ANGULAR_MOMENTUM, MOMENTUM_X, MOMENTUM_Y, SIMULATION, water
from sandlot.robots.reference_swimmers import Ball, mjcf
from sandlot.robots.snake import Snake
from twins.chain import TwinChain, cross

SLOW = bool(config.DISABLE_JIT)
CURRENT = (0.7, -0.4)
STEP = 0.003
BALL = Ball(radius=0.8, mass=0.5, drag=7.0)
BODIES = {
    "open faces": {"links": 6},
    "all faces": {"links": 5, "mass": 3.0, "faces": "all", "width": 2.0},
    "three links": {"links": 3, "length": 0.7},
    "no drag": {"links": 4, "drag": 0.0},
}
CASES = [st.sampled_from(list(BODIES)), st.integers(0, 2**32 - 1), st.booleans()]


class Moment:
    """Two bodies with random velocities, on which random forces acted before."""

    def __init__(self, name, seed, ball):
        rng = np.random.default_rng(seed)
        self.snake, self.ball = Snake(**BODIES[name], max_rate=1.0, max_torque=10.0), ball
        record = np.zeros(1, SIMULATION).view(np.recarray)
        dry = (BALL.mass, BALL.inertia, BALL.damping) if ball else (0.0, 0.0, 0.0)
        record[0] = (self.snake.record(), *dry, *CURRENT, STEP)
        self.simulation = record[0]
        # The last two coordinates are those of something else.
        self.used = self.snake.links + 2 + 3 * ball
        self.position = rng.normal(0.0, 3.0, (2, self.used + 2))
        self.position[:, 3 : self.snake.links + 2] = rng.normal(0.0, 0.5, (2, self.snake.joints))
        self.velocity = rng.normal(0.0, 1.5, self.position.shape)
        self.acceleration = rng.normal(0.0, 40.0, self.position.shape)
        self.others = rng.normal(0.0, 50.0, (2, self.snake.links + 1, 2))
        self.water = water(2, self.snake.links)
        self.water.others[:] = self.others
        self.force = np.full_like(self.position, 1.25)

    def twin(self, b):
        return TwinChain(self.simulation, self.position[b, : self.used], self.velocity[b, : self.used])

    def add_drag(self, which=(0, 1)):
        add_drag(self.simulation, self.position, self.velocity, np.array(which), self.water, self.force)


@settings(max_examples=3 if SLOW else 60)
@given(*CASES)
def test_drag_agrees_with_the_twin(name, seed, ball):
    moment = Moment(name, seed, ball)
    moment.add_drag()
    for b in range(2):
        twin = moment.twin(b)
        forces, generalised, added = twin.drag(moment.others[b])
        size = twin.size + 2 * ball
        scale = 1e-9 * (np.abs(generalised).max() + 1.0)
        assert moment.force[b, :size] == pytest.approx(generalised[:size], rel=1e-9, abs=scale)
        assert (moment.force[b, size:] == 1.25).all()
        assert moment.water.drag[b, : twin.links + ball] == pytest.approx(forces[: twin.links + ball], abs=scale)
        kept = moment.water.kept[b, [MOMENTUM_X, MOMENTUM_Y, ANGULAR_MOMENTUM]]
        kept[2] += cross(twin.centre, kept[:2])
        expected = twin.momentum() + added
        assert kept == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


@settings(max_examples=3 if SLOW else 60)
@given(*CASES)
def test_kept_momentum_agrees_with_the_twin(name, seed, ball):
    moment = Moment(name, seed, ball)
    twins = [moment.twin(b) for b in range(2)]
    moment.add_drag()
    drag = moment.water.drag.copy()
    moment.velocity += STEP * moment.acceleration
    moment.position += STEP * moment.velocity
    position, velocity = moment.position.copy(), moment.velocity.copy()
    keep_momentum(moment.simulation, moment.position, moment.velocity, np.array([0, 1]), moment.water)
    for b, twin in enumerate(twins):
        momentum = twin.momentum() + twin.drag(moment.others[b])[2]
        after, speeds = twin.after(position[b, : moment.used], velocity[b, : moment.used], momentum)
        assert moment.position[b, :3] == pytest.approx(after.q[:3], rel=1e-9, abs=1e-9)
        assert moment.velocity[b, :3] == pytest.approx(after.v[:3], rel=1e-8, abs=1e-8)
        assert np.array_equal(moment.position[b, 3:], position[b, 3:])
        assert np.array_equal(moment.velocity[b, 3:], velocity[b, 3:])
        found = moment.twin(b)
        assert found.momentum() == pytest.approx(momentum, rel=1e-9, abs=1e-9 * np.abs(momentum).max())
        others = moment.snake.link_mass / STEP * (speeds - twin.velocities) - drag[b, :-1]
        assert moment.water.others[b, :-1] == pytest.approx(others, rel=1e-6, abs=1e-6 * np.abs(others).max())
        if ball:
            expected = BALL.mass * moment.acceleration[b, twin.ball] - drag[b, -1]
            assert moment.water.others[b, -1] == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_bodies_that_are_not_asked_for_stay_as_they_are():
    moment = Moment("open faces", 0, True)
    moment.add_drag(which=[1])
    assert (moment.force[0] == 1.25).all()
    position = moment.position.copy()
    moment.position += 0.1
    keep_momentum(moment.simulation, moment.position, moment.velocity, np.array([1]), moment.water)
    assert np.array_equal(moment.position[0], position[0] + 0.1)
    assert np.array_equal(moment.water.others[0], moment.others[0])


@settings(max_examples=3 if SLOW else 30)
@given(*CASES)
def test_energies_agree_with_the_twin(name, seed, ball):
    moment = Moment(name, seed, ball)
    found = energies(moment.simulation, moment.position, moment.velocity)
    for b in range(2):
        twin, snake = moment.twin(b), moment.snake
        linear = ((twin.velocities - CURRENT) ** 2).sum()
        angular = ((twin.turns @ twin.v[: twin.size]) ** 2).sum()
        kinetic, speed = 0.5 * (snake.link_mass * linear + snake.inertia * angular), 0.0
        if ball:
            speed = np.linalg.norm(twin.v[twin.ball] - CURRENT)
            kinetic += 0.5 * (BALL.mass * speed**2 + BALL.inertia * twin.v[-1] ** 2)
        assert found.kinetic[b] == pytest.approx(kinetic)
        assert found.ball_speed[b] == pytest.approx(speed)
        rates = np.abs(twin.v[3 : twin.size])
        assert found.max_power[b] == pytest.approx(10.0 * np.minimum(rates, 1.0).sum())


def test_coordinates_are_those_of_mujoco():
    """Generalised forces, momentum and energy, each against MuJoCo's own."""
    moment = Moment("open faces", 4, True)
    model = mujoco.MjModel.from_xml_string(mjcf(moment.snake, BALL, False, STEP))
    data, links = mujoco.MjData(model), moment.snake.links
    data.qpos[: moment.used], data.qvel[: moment.used] = moment.position[0, :-2], moment.velocity[0, :-2]
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    moment.add_drag()
    force = np.zeros(model.nv)
    for k in range(links + 1):
        push = np.array([*moment.water.drag[0, k], 0.0])
        mujoco.mj_applyFT(model, data, push, np.zeros(3), data.xipos[1 + k], 1 + k, force)
    size = moment.used - 1
    assert moment.force[0, :size] == pytest.approx(force[:size])
    # What is kept is the momentum after the step: without drag, that before it.
    still = Moment("no drag", 4, False)
    model = mujoco.MjModel.from_xml_string(mjcf(still.snake, None, False, STEP))
    data = mujoco.MjData(model)
    data.qpos[: still.used], data.qvel[: still.used] = still.position[0, :-2], still.velocity[0, :-2]
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    still.add_drag()
    kept = still.water.kept[0]
    assert kept[[MOMENTUM_X, MOMENTUM_Y]] == pytest.approx(still.snake.mass * data.subtree_linvel[1, :2])
    assert kept[ANGULAR_MOMENTUM] == pytest.approx(data.subtree_angmom[1, 2])
