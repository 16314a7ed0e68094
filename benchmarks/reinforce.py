"""Deep Q-learning of the avoid world, side by side with the DQN of Stable-Baselines3 in the same run.

Both learn in easy situations with exact moves until they reach the same share of goals in the same unseen situations,
where they are tested again and again. Rates are moves per second of processor time, learning included and tests not.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback

import sandlot.worlds
from _side_by_side import Comparison, best_rates, main
from sandlot.learning.dqn import ALL, MODERN, Learner, Stage, shares_of
from sandlot.models.dense import Dense, forward
from sandlot.studies.indoor.sweep import Sweep
from sandlot.worlds.avoid.settings import AvoidSettings

GOAL, MAX_MOVES = 0.85, 150_000
"""Share of goals at which learning ends, and moves after which it ends in any case."""
TESTED, EVERY = 500, 2500
"""Situations of a test, and moves between two tests."""
SEEDS, PEER_SEEDS = (0, 1, 2), (0,)
"""Of our agents, and of those of Stable-Baselines3, which take minutes each."""
EPISODES = 4000
SAMPLE = 12
"""Agents of the sweep that are timed."""
EASY = (Stage(kinds={"easy": 1.0}),)
WORLD = AvoidSettings(situation="easy", interface="units")
OURS = MODERN.model_copy(update={"hidden": (32, 32), "updates": 6, "epsilon_decay": 0.997})
"""A smaller net, and fewer batches after each episode."""


class Learned(NamedTuple):
    """What it took to learn.

    Attributes:
        moves: That were made.
        seconds: Processor time.
        success: Share of goals that are reached then.
    """

    moves: float
    seconds: float
    success: float


def success(choose: Callable[[NDArray[Any]], NDArray[Any]]) -> float:
    """Share of goals that are reached in the unseen situations, which are always the same."""
    vector: Any = gymnasium.make_vec("sandlot/Avoid-v0", num_envs=TESTED, settings=WORLD, autoreset_mode="Disabled")
    seen, _ = vector.reset(seed=10_000)
    reached, running = np.zeros(TESTED, np.bool_), np.ones(TESTED, np.bool_)
    for _ in range(WORLD.longest):
        seen, _, terminated, _, info = vector.step(choose(seen))
        reached |= running & info["reached"]
        running &= ~terminated
        if not running.any():
            break
    return float(reached.mean())


def learn_peer(seed: int) -> Learned:
    """Let Stable-Baselines3 learn."""
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
        exploration_fraction=15_000 / MAX_MOVES,
        exploration_final_eps=0.02,
        policy_kwargs={"net_arch": list(OURS.hidden)},
        seed=seed,
        device="cpu",
    )

    class Tests(BaseCallback):
        """Tests the agent now and then, and ends its learning."""

        seconds, share = 0.0, 0.0

        def _on_step(self) -> bool:
            if self.num_timesteps % EVERY:
                return True
            began = time.process_time()
            self.share = success(lambda seen: agent.predict(seen, deterministic=True)[0])
            self.seconds += time.process_time() - began
            return self.share < GOAL

    tests, began = Tests(), time.process_time()
    agent.learn(MAX_MOVES, callback=tests)
    return Learned(agent.num_timesteps, time.process_time() - began - tests.seconds, tests.share)


def best_moves(net: Dense, seen: NDArray[Any]) -> NDArray[Any]:
    """The moves of which a net expects most: (n,)."""
    return np.asarray(forward(net, seen.astype(np.float64)).argmax(axis=1))


def learn_ours(seed: int) -> Learned:
    """Let an agent of ours learn."""
    agent = Learner(OURS, WORLD, np.random.SeedSequence(seed))
    share, seconds, tested = 0.0, 0.0, 0
    while share < GOAL and agent.agent.counts[2] < MAX_MOVES:
        began = time.process_time()
        agent.learn(shares_of(EASY, 10))
        seconds += time.process_time() - began
        if agent.agent.counts[2] >= tested + EVERY:
            tested = int(agent.agent.counts[2])
            share = success(partial(best_moves, agent.net))
    return Learned(float(agent.agent.counts[2]), seconds, share)


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


def _means(them: list[NDArray[Any]], unit: str) -> tuple[float, str, float]:
    """Ours, the unit, and the peer's."""
    return float(them[0].mean()), unit, float(them[1].mean())


def compare() -> list[Comparison]:
    """Train agents of the avoid world, and one of Stable-Baselines3, and step the world through Gymnasium."""
    sandlot.worlds.register()
    found = []
    for fidelity in ("fast", "reference"):
        works = []
        for many in (0, 1024):
            given: dict[str, Any] = {"fidelity": fidelity, "interface": "units"}
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
    Learner(OURS, WORLD, np.random.SeedSequence(9)).learn(shares_of(EASY, 20))  # compiles
    ours, peers = [learn_ours(seed) for seed in SEEDS], [learn_peer(seed) for seed in PEER_SEEDS]
    rate, peer_rate = (sum(each.moves for each in them) / sum(each.seconds for each in them) for them in (ours, peers))
    moves, seconds, least = ([np.array([each[k] for each in them]) for them in (ours, peers)] for k in range(3))
    until = f"until {GOAL:.0%} of goals"
    found += [
        Comparison(f"learning, against Stable-Baselines3, {until}", rate, "moves/s", peer_rate, at_least=20.0),
        Comparison(f"moves {until}, mean of {len(SEEDS)} agents, against one of it", *_means(moves, "moves")),
        Comparison(f"processor time {until}, mean, against one of it", *_means(seconds, "s"), at_most=0.05),
        Comparison("goals reached then by the worst agent, against it", least[0].min(), "1", least[1].min()),
        Comparison("4,000 episodes with slip and noise, one agent on one core", train_one(), "s", at_most=20.0),
        Comparison("sweep of 336 agents on two cores, from 12 of them", sweep_minutes(), "min", at_most=10.0),
    ]
    return found


if __name__ == "__main__":
    main(compare)
