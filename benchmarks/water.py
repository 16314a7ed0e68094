"""Swimming, side by side with MuJoCo: steps of a 17-link body per second and core; and many worlds as one.

A rate is in physics steps of one body, of 0.01 s each, two from one command to the next, per second of processor time.
Both sides use two threads, so that the rate is that of one core.

There are two peers, without contacts. One is a plain MuJoCo model of the same body, stepped by ``mujoco.batch.Batch``
with MuJoCo's cheapest integrator: the motors' rates are held by implicit damping, without a torque limit, and the water
is that of MuJoCo's own fluid model. It is as fast as MuJoCo gets, but no reference. The other peer is the reference. It
takes several shorter steps for each of 0.01 s, which count as one.

``gymnasium.make_vec`` gives a vector world that is compiled as one; its peer is as many single worlds, stepped in a
loop by Gymnasium's own ``SyncVectorEnv``. Of these, rates are in commands of 0.02 s.
"""

import time
from functools import partial
from typing import Any
from unittest import mock

import gymnasium
import mujoco
import numpy as np
from mujoco.batch import Batch

from _side_by_side import Comparison, best_rates, main
from sandlot.learning.evolution import evolve
from sandlot.physics.swimming import chain
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers
from sandlot.robots.snake import Snake
from sandlot.studies.water.base import HIGH, LOW, shared_waves
from sandlot.studies.water.shared import Shared
from sandlot.typing import Array

THREADS = 2
REPETITIONS = 5
BODIES, SECONDS = 128, 10.0
PEERS, PEER_SECONDS = 64, 0.4
GAIT = np.array([[0.46, 2.0, 0.68]])
"""Amplitude [rad], frequency [Hz] and phase [rad] of the source's best gait."""
MILD = np.array([[0.2, 1.0, 0.68]])
"""A gait with which motors stay below their torque limit, also those of 64 links; otherwise a step costs more."""
GENERATIONS = 20
"""Of the study of section 7.7, timed to tell how long its thousand take."""
STIFF = 1e5
"""Torque of the plain model's motors over the error of their rate [N*m*s]."""
VISCOSITY = 1.8
"""Of the plain model's water [Pa*s]: slows a link that moves sideways as the drag does."""
UNIT = "physics steps of one body/s"
WORLDS = 120
"""Of a vector world."""
COMMANDS = {"fast": (200, 4), "reference": (10, 2)}
"""Given to a vector world, and to its peer."""


def swim(snake: Snake, genes: Array = GAIT) -> float:
    """Swim at the fast fidelity; returns the number of steps."""
    swimmers = FastSwimmers(snake, BODIES, threads=THREADS)
    waves = shared_waves(np.resize(genes, (BODIES, 3)), snake.joints)
    swimmers.swim([0.0], waves[None], SECONDS)
    return BODIES * SECONDS / snake.step


def swim_reference(swimmers: ReferenceSwimmers, genes: Array = GAIT) -> float:
    """Swim in the reference; returns the number of steps, each of the fast model's length."""
    snake = swimmers.snake
    amplitude, frequency, phase, _ = shared_waves(np.resize(genes, (swimmers.count, 3)), snake.joints)
    for _ in range(round(PEER_SECONDS / snake.interval)):
        swimmers.command((amplitude * np.sin(frequency * (swimmers.time + snake.interval) - phase)).T)
    if swimmers.exploded.any():
        raise RuntimeError("a simulation of the peer exploded")
    return swimmers.count * PEER_SECONDS / snake.step


def mjcf(snake: Snake) -> str:
    """The body as a plain MuJoCo model: a chain in a plane in viscous water, with motors that hold a rate."""
    half = f"{0.5 * snake.length} {0.5 * snake.width} {0.5 * snake.height}"
    geom = f'<geom type="box" size="{half}" mass="{snake.link_mass}"/>'
    planar = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint axis="0 0 1"/>'
    body, motors = f"<body>{planar}{geom}", ""
    for k in range(1, snake.links):
        joint = f'<joint name="joint{k}" axis="0 0 -1" pos="{0.5 * snake.length} 0 0" damping="{STIFF}"/>'
        body += f'<body pos="{-snake.length} 0 0">{joint}{geom}'
        motors += f'<motor joint="joint{k}" gear="{STIFF}"/>'
    return f"""
        <mujoco>
            <option timestep="{snake.step}" gravity="0 0 0" integrator="Euler" viscosity="{VISCOSITY}">
                <flag contact="disable"/>
            </option>
            <worldbody>{body}{"</body>" * snake.links}</worldbody>
            <actuator>{motors}</actuator>
        </mujoco>
    """


def swim_plain(snake: Snake, genes: Array = GAIT) -> float:
    """Swim in a plain MuJoCo model; returns the number of steps."""
    batch = Batch(mujoco.MjModel.from_xml_string(mjcf(snake)), PEERS, THREADS)
    angles, rates = batch.bind("qpos")[:, 3:], batch.bind("ctrl")
    amplitude, frequency, phase, _ = shared_waves(np.resize(genes, (PEERS, 3)), snake.joints)
    every = np.arange(PEERS)
    for command in range(round(PEER_SECONDS / snake.interval)):
        targets = (amplitude * np.sin(frequency * (command + 1) * snake.interval - phase)).T
        rates[:] = snake.gain * (targets - angles)
        batch.step(every, nstep=snake.substeps)
    if not np.abs(angles).max() < np.pi:
        raise RuntimeError("a simulation of the peer exploded")
    return PEERS * PEER_SECONDS / snake.step


def step_worlds(worlds: Any, commands: int) -> float:
    """Step many worlds; returns the number of steps of all of them."""
    waves = shared_waves(GAIT, worlds.single_action_space.shape[0])[..., 0]
    actions = waves[0] * np.sin(waves[1] * 0.02 * np.arange(commands)[:, None] - waves[2])
    worlds.reset(seed=0)
    for each in np.repeat(actions[:, None], worlds.num_envs, axis=1):
        worlds.step(each)
    return float(commands * worlds.num_envs)


def compare_worlds(fidelity: str) -> Comparison:
    """Compare a vector world with as many single ones."""
    works = []
    for mode, commands in zip((None, "sync"), COMMANDS[fidelity], strict=True):
        given: dict[str, Any] = {"vectorization_mode": mode, "fidelity": fidelity, "interface": "units"}
        worlds = gymnasium.make_vec("sandlot/Water-v0", WORLDS, **given)
        works.append(partial(step_worlds, worlds, commands))
        works[-1]()
    ours, single = best_rates(REPETITIONS, *works)
    return Comparison(f"{WORLDS} worlds as one at {fidelity}, against single ones", ours, "steps/s", single)


def compare() -> list[Comparison]:
    """Compare the fast model with MuJoCo, and a vector world with single ones; time the study of section 7.7."""
    snake = Snake()
    gaits = np.random.default_rng(0).uniform(LOW, HIGH, (BODIES, 3))
    reference = ReferenceSwimmers(snake, PEERS, contact=False, threads=THREADS)
    works = [
        partial(swim, snake),
        partial(swim_plain, snake),
        partial(swim_reference, reference),
        partial(swim, snake, gaits),
        partial(swim_plain, snake, gaits),
    ]
    for work in works:
        work()
    ours, plain, trusted, ours_random, plain_random = best_rates(REPETITIONS, *works)
    lengths = [Snake(links=4), Snake(links=64)]
    small, large = best_rates(REPETITIONS, *(partial(swim, each) for each in lengths))
    small_mild, large_mild = best_rates(REPETITIONS, *(partial(swim, each, MILD) for each in lengths))
    minutes, outside = study_time()
    return [
        Comparison("17 links, against MuJoCo's cheapest integrator", ours, UNIT, plain, at_least=30.0),
        Comparison("17 links with random gaits, against MuJoCo's cheapest integrator", ours_random, UNIT, plain_random),
        Comparison("17 links, against the reference", ours, UNIT, trusted),
        Comparison("cost per link, 64 links against 4", small / large / 16.0, "times", at_most=1.3),
        Comparison("cost per link, motors below their torque limit", small_mild / large_mild / 16.0, "times"),
        Comparison("section 7.7 at full size, on two cores", minutes, "min", at_most=20.0),
        Comparison("share of a generation outside the simulation kernel", outside, "1", at_most=0.1),
        *(compare_worlds(fidelity) for fidelity in COMMANDS),
    ]


def study_time() -> tuple[float, float]:
    """Time for 18 replicates of 1000 generations on two cores [min], and the share that is not spent in the kernel.

    The study's workers are processes, one for each core: a replicate on one core is timed.
    """
    study = Shared()
    job, kernel, spent = next(study.jobs()), chain.swim, 0.0

    def timed(*arguments: Any) -> None:
        nonlocal spent
        start = time.process_time()
        kernel(*arguments)
        spent += time.process_time() - start

    genetic = study.genetic.model_copy(update={"generations": GENERATIONS})
    start = time.process_time()
    with mock.patch.object(chain, "swim", timed):
        evolve(partial(study.evaluate, job), *study.limits(), genetic, job.seed)
    whole = time.process_time() - start
    return whole / GENERATIONS * 1000 * 18 / 2 / 60, 1.0 - spent / whole


if __name__ == "__main__":
    main(compare)
