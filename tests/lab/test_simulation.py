"""Simulations in a thread of their own."""

import time

import numpy as np
import pytest

from sandlot.lab.simulation import FASTEST, Run, Simulation
from sandlot.worlds import load
from sandlot.worlds.rollout import rollout


def make_run(name="water", controller="swim", **settings):
    world = load(name)(**settings)
    return Run(world, world.controller(controller))


@pytest.fixture
def start():
    made = []

    def make(*runs, **given):
        made.append(Simulation(runs, **given))
        return made[-1]

    yield make
    for simulation in made:
        simulation.close()


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def test_it_waits_until_started(start):
    simulation = start(make_run())
    time.sleep(0.1)
    assert simulation.runs[0].steps == 0
    simulation.start()
    until(lambda: simulation.runs[0].steps > 3)


def test_single_steps(start):
    simulation = start(make_run())
    for count in (1, 2, 3):
        simulation.step()
        until(lambda count=count: simulation.runs[0].steps == count)
    until(lambda: simulation.latest.time == pytest.approx(0.06))


def test_an_episode_is_that_of_a_rollout(start):
    simulation = start(make_run("leveling", "probabilistic"), seed=5)
    for _ in range(20):
        simulation.step()
    until(lambda: simulation.runs[0].steps == 20 and simulation.latest.time == 40.0)
    world = load("leveling")()
    *_, _ = rollout(world, world.controller("probabilistic"), 5, 20)
    for name, value in world.frame().items():
        np.testing.assert_array_equal(simulation.latest.frames[0][name], value)


def test_speed_is_kept(start):
    simulation = start(make_run(), speed=2.0)
    began = time.monotonic()
    simulation.start()
    until(lambda: simulation.latest.time > 1.0)
    simulation.pause()
    assert simulation.latest.time < 2.0 * (time.monotonic() - began) + 0.1, "never faster than that"


def test_long_steps_at_a_low_speed_are_waited_for(start):
    simulation = start(make_run("leveling", "probabilistic"), speed=2.0)  # a step is 2 s, so one each second
    simulation.start()
    time.sleep(1.5)
    simulation.pause()
    assert 1 <= simulation.runs[0].steps <= 3


def test_two_fidelities_go_side_by_side(start):
    simulation = start(make_run(fidelity="fast"), make_run(fidelity="reference"), seed=3, speed=FASTEST)
    simulation.start()
    until(lambda: simulation.latest.time > 0.5)
    one, two = simulation.latest.frames
    assert abs(one["time"] - two["time"]) < 0.021
    assert one["target_x"] == two["target_x"]
    assert len(simulation.latest.scenes) == 2


def test_when_an_episode_has_ended_the_next_begins(start, monkeypatch):
    monkeypatch.setattr("sandlot.lab.simulation.REST", 0.05)
    run = make_run("obstacles", "drive", seconds=0.3)
    simulation = start(run, speed=FASTEST)
    simulation.start()
    until(lambda: simulation.latest.episode >= 2)
    assert simulation.episode_seed >= 2
    simulation.pause()
    simulation.restart()
    until(lambda: simulation.latest.episode == 0)


def test_a_mistake_of_a_controller_is_one_line(start):
    run = make_run()
    run.controller.act = lambda observations: np.zeros((1, 2))
    simulation = start(run)
    simulation.start()
    until(lambda: simulation.error)
    assert "joint angles" in simulation.error
    assert "\n" not in simulation.error
