"""Deep Q-learning of the avoid world, side by side with the DQN of Stable-Baselines3 in the same run.

Both learn in easy situations with exact moves until they have made as many moves, and are tested in the same unseen
situations. Ours must reach at least as many goals. Rates are moves per second of processor time, learning included.
"""

import time
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN

import sandlot.worlds
from _side_by_side import Comparison, best_rates, main
from sandlot.kernels.randomness import streams
from sandlot.learning.dqn import ALL, MODERN, Dqn, Learner, Stage, shares_of
from sandlot.studies.indoor.sweep import Sweep
from sandlot.worlds.avoid.settings import AvoidSettings

MOVES = 30_000
"""That Stable-Baselines3 makes."""
TESTED = 500
EPISODES = 4000
SAMPLE = 12
"""Agents of the sweep that are timed."""
EASY = (Stage(kinds={"easy": 1.0}),)
WORLD = AvoidSettings(situation="easy")
OURS = MODERN.model_copy(update={"hidden": (32, 32), "updates": 6, "epsilon_decay": 0.997})
"""A smaller net, and fewer batches after each episode."""


def learn_peer() -> tuple[float, float]:
    """Let Stable-Baselines3 learn; returns moves a second and the share of goals that it reaches then."""
    torch.set_num_threads(1)
    world = gymnasium.make("sandlot/Avoid-v0", disable_env_checker=True, settings=WORLD)
    agent = DQN(
        "MlpPolicy",
        world,
        learning_rate=1e-3,
        buffer_size=20_000,
        learning_starts=1000,
        batch_size=64,
        gamma=OURS.discount,
        train_freq=4,
        target_update_interval=500,
        exploration_fraction=0.5,
        exploration_final_eps=0.02,
        policy_kwargs={"net_arch": list(OURS.hidden)},
        seed=0,
        device="cpu",
    )
    began = time.process_time()
    agent.learn(MOVES)
    rate = MOVES / (time.process_time() - began)
    vector: Any = gymnasium.make_vec("sandlot/Avoid-v0", num_envs=TESTED, settings=WORLD, autoreset_mode="Disabled")
    seen, _ = vector.reset(seed=10_000)
    reached, running = np.zeros(TESTED, np.bool_), np.ones(TESTED, np.bool_)
    for _ in range(WORLD.longest):
        actions, _ = agent.predict(seen, deterministic=True)
        seen, _, terminated, _, info = vector.step(actions)
        reached |= running & info["reached"]
        running &= ~terminated
    return rate, float(reached.mean())


def learn_ours(settings: Dqn, moves: int) -> tuple[float, float]:
    """Let an agent learn until it has made so many moves; returns the same."""
    Learner(settings, WORLD, np.random.SeedSequence(1)).learn(shares_of(EASY, 20))  # compiles
    agent = Learner(settings, WORLD, np.random.SeedSequence(0))
    began = time.process_time()
    while agent.agent.counts[2] < moves:
        agent.learn(shares_of(EASY, 50))
    rate = float(agent.agent.counts[2]) / (time.process_time() - began)
    return rate, agent.test("easy", streams(np.random.SeedSequence(10_000), TESTED)).success


def train_one() -> float:
    """Processor time in which one agent learns as the shipped one: 4,000 episodes with slip and noise [s]."""
    agent = Learner(MODERN, AvoidSettings(fidelity="reference"), np.random.SeedSequence(0))
    began = time.process_time()
    agent.learn(shares_of(ALL, EPISODES))
    return time.process_time() - began


def sweep_minutes() -> float:
    """How long the sweep takes on two cores, from a sample of its agents that is spread over the grid [min]."""
    study = Sweep()
    jobs = [job for job in study.jobs() if job.parameters["method"] == "grid"]
    chosen = [jobs[int(k)] for k in np.linspace(0, len(jobs) - 1, SAMPLE)]
    began = time.process_time()
    for job in chosen:
        study.run(job)
    return (time.process_time() - began) / len(chosen) * len(jobs) / 2.0 / 60.0


def step(world: Any, actions: Any, steps: int, many: int) -> float:
    """Step with the same random moves; episodes that end begin anew."""
    for k in range(steps):
        _, _, terminated, _, _ = world.step(actions[k % len(actions)])
        if not many and terminated:
            world.reset()
    return float(steps * max(many, 1))


def compare() -> list[Comparison]:
    """Train agents of the avoid world, and one of Stable-Baselines3, and step the world through Gymnasium."""
    sandlot.worlds.register()
    found = []
    for fidelity in ("fast", "reference"):
        works = []
        for many in (0, 1024):
            given: dict[str, Any] = {"fidelity": fidelity}
            world: Any = (
                gymnasium.make_vec("sandlot/Avoid-v0", num_envs=many, **given)
                if many
                else gymnasium.make("sandlot/Avoid-v0", disable_env_checker=True, **given)
            )
            world.reset(seed=0)
            world.action_space.seed(0)
            actions = [world.action_space.sample() for _ in range(16)]
            works.append(partial(step, world, actions, 50 if many else 1000, many))
            works[-1]()
        one, vector = best_rates(3, *works)
        found.append(Comparison(f"{fidelity}, one world", one, "moves/s"))
        found.append(Comparison(f"{fidelity}, 1,024 worlds as one, against one", vector, "moves/s", one))
    peer_rate, peer_share = learn_peer()
    rate, share = learn_ours(OURS, MOVES)
    found += [
        Comparison("learning, against Stable-Baselines3", rate, "moves/s", peer_rate, at_least=20.0),
        Comparison("goals reached after as many moves, against it", share, "1", peer_share, at_least=1.0),
        Comparison("4,000 episodes with slip and noise, one agent on one core", train_one(), "s", at_most=20.0),
        Comparison("sweep of 336 agents on two cores, from 12 of them", sweep_minutes(), "min", at_most=10.0),
    ]
    return found


if __name__ == "__main__":
    main(compare)
