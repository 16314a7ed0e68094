"""Swimming, side by side with MuJoCo: steps of a 17-link body per second and core; and many worlds as one.

The peers step the same body with the same motors through ``mujoco.batch.Batch``, without contacts: once as the
reference does, with shorter steps, drag and a correction of the momentum, and once MuJoCo alone, with the steps of the
fast fidelity and no water, which is the least that it could cost. Rates are steps of the fast fidelity per second of
processor time, with two threads each, so that all are those of one core.

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
from sandlot.physics.swimming import reduced
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers, mjcf
from sandlot.robots.snake import Snake
from sandlot.studies.water.base import shared_waves
from sandlot.studies.water.shared import Shared

THREADS = 2
REPETITIONS = 5
BODIES, SECONDS = 128, 10.0
PEERS, PEER_SECONDS = 64, 0.4
GAIT = np.array([[0.46, 2.0, 0.68]])
"""Amplitude [rad], frequency [Hz] and phase [rad] of the source's best gait."""
GENERATIONS = 20
"""Of the study of section 7.7, timed to tell how long its thousand take."""
WORLDS = 120
"""Of a vector world."""
COMMANDS = {"fast": (200, 4), "reference": (10, 2)}
"""Given to a vector world, and to its peer."""


def swim(snake: Snake, bodies: int = BODIES) -> float:
    """Swim at the fast fidelity; returns the number of steps."""
    swimmers = FastSwimmers(snake, bodies, threads=THREADS)
    swimmers.swim([0.0], shared_waves(np.repeat(GAIT, bodies, axis=0), snake.joints)[None], SECONDS)
    return bodies * SECONDS / snake.step


def swim_reference(swimmers: ReferenceSwimmers) -> float:
    """Swim in MuJoCo; returns the number of steps."""
    snake = swimmers.snake
    waves = shared_waves(GAIT, snake.joints)[..., 0]
    for _ in range(round(PEER_SECONDS / snake.interval)):
        targets = waves[0] * np.sin(waves[1] * (swimmers.time[0] + snake.interval) - waves[2])
        swimmers.command(np.repeat(targets[None], swimmers.count, axis=0))
    return swimmers.count * PEER_SECONDS / snake.step


def swim_mujoco(snake: Snake, batch: Batch) -> float:
    """Swim in MuJoCo alone, without water; returns the number of steps."""
    waves, rates = shared_waves(GAIT, snake.joints)[..., 0], batch.bind("qvel")[:, -snake.joints :]
    for k in range(round(PEER_SECONDS / snake.interval)):
        targets = waves[0] * np.sin(waves[1] * snake.interval * (k + 1) - waves[2])
        rates[:] = snake.gain * (targets - batch.bind("qpos")[:, 3 : 3 + snake.joints])
        batch.step(nstep=snake.substeps)
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
        worlds = gymnasium.make_vec("sandlot/Water-v0", WORLDS, vectorization_mode=mode, fidelity=fidelity)
        works.append(partial(step_worlds, worlds, commands))
        works[-1]()
    ours, single = best_rates(REPETITIONS, *works)
    return Comparison(f"{WORLDS} worlds as one at {fidelity}, against single ones", ours, "steps/s", single)


def compare() -> list[Comparison]:
    """Compare the reduced model with MuJoCo, and a vector world with single ones; time the study of section 7.7."""
    snake = Snake()
    peer = ReferenceSwimmers(snake, PEERS, contact=False, threads=THREADS)
    plain = Batch(mujoco.MjModel.from_xml_string(mjcf(snake, None, False, snake.step)), PEERS, THREADS)
    works = [partial(swim, snake), partial(swim_reference, peer), partial(swim_mujoco, snake, plain)]
    for work in works:
        work()
    ours, reference, alone = best_rates(REPETITIONS, *works)
    small, large = best_rates(REPETITIONS, partial(swim, Snake(links=4)), partial(swim, Snake(links=64)))
    minutes, outside = study_time()
    return [
        Comparison("17 links, against MuJoCo alone", ours, "steps/s", alone, at_least=30.0),
        Comparison("17 links, against the reference", ours, "steps/s", reference),
        Comparison("cost per link, 64 links against 4", small / large / 16.0, "times", at_most=1.3),
        Comparison("section 7.7 at full size, on two cores", minutes, "min", at_most=20.0),
        Comparison("share of a generation outside the simulation kernel", outside, "1", at_most=0.1),
        *(compare_worlds(fidelity) for fidelity in COMMANDS),
    ]


def study_time() -> tuple[float, float]:
    """Time for 18 replicates of 1000 generations on two cores [min], and the share that is not spent in the kernel.

    The study's workers are processes, one for each core: a replicate on one core is timed.
    """
    study = Shared()
    job, kernel, spent = next(study.jobs()), reduced.swim, 0.0

    def timed(*arguments: Any) -> None:
        nonlocal spent
        start = time.process_time()
        kernel(*arguments)
        spent += time.process_time() - start

    genetic = study.genetic.model_copy(update={"generations": GENERATIONS})
    start = time.process_time()
    with mock.patch.object(reduced, "swim", timed):
        evolve(partial(study.evaluate, job), *study.limits(), genetic, job.seed)
    whole = time.process_time() - start
    return whole / GENERATIONS * 1000 * 18 / 2 / 60, 1.0 - spent / whole


if __name__ == "__main__":
    main(compare)
