"""A four-legged robot learns to walk on soft ground: 32 of them at once, each on soil of its own.

    python learning_to_walk.py                      # trains for some minutes, and writes runs/walker.npz
    python learning_to_walk.py --generations 10     # trains for less

`Walkers` is a Gymnasium vector environment, and `Walker` an environment of one robot, for any learner. Here, CMA-ES
searches the weights of a linear policy. Needs: pip install "sandlot[evolve]"
"""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import mujoco
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from sandlot.learning.cmaes import Adaptive, adapt
from sandlot.physics.soil import Soils

SPACING, LENGTH, WIDTH = 0.02, 10.0, 0.32  # of the nodes of the ground, and of the ground [m]
STEPS, SECONDS = 20, 4.0  # physics steps of 1 ms for each action; length of an episode [s]
CLOCK = 2.0  # of the clock that the robot observes [Hz]
SMOOTH = 0.4  # fraction by which the motors' targets approach the action in each step, so that robots do not tremble
START, FALLEN, STEEPEST = (
    0.245,
    0.12,
    0.9,
)  # height of the hips at the start and after a fall [m]; pitch of a fall [rad]
REST, REACH = np.array([0.5, -1.0, 0.5, -1.0]), 0.6  # joint angles for actions of 0, and their change for 1 [rad]
SCALE = np.array([0.05, 0.2, 0.3, 0.3, 0.3, 0.3, 1.0, 1.0, 2.0, 1.0, 1.0])  # units of the observation
ACTIONS, SEEN = len(REST), len(SCALE)
USED = (1, 8, 9, 10)  # what the policy here uses of it: pitch, its rate, and the clock
WEIGHTS = ACTIONS * (len(USED) + 1)

LEGS = """
<body pos="{x} 0 0">
  <joint name="{leg} hip"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.13" size="0.02" mass="0.2"/>
  <body pos="0 0 -0.13">
    <joint name="{leg} knee"/>
    <geom name="{leg} shank" type="capsule" fromto="0 0 0 0 0 -0.13" size="0.015" mass="0.1"/>
    <geom name="{leg} feet" type="capsule" fromto="0 -0.06 -0.13 0 0.06 -0.13" size="0.022" mass="0.1"/>
  </body>
</body>"""
ROBOT = f"""
<mujoco>
  <option timestep="0.001" integrator="implicitfast"/>
  <default>
    <geom contype="0" conaffinity="0"/>
    <joint axis="0 1 0" damping="0.05" armature="0.003"/>
    <position kp="40" dampratio="1" forcerange="-12 12"/>
  </default>
  <worldbody>
    <body name="trunk" pos="0 0 {START}">
      <joint type="slide" axis="1 0 0" damping="0" armature="0"/>
      <joint type="slide" axis="0 0 1" damping="0" armature="0"/>
      <joint damping="0" armature="0"/>
      <geom name="trunk" type="box" size="0.17 0.08 0.035" mass="2"/>
      {LEGS.format(leg="front", x=0.14)}{LEGS.format(leg="back", x=-0.14)}
    </body>
  </worldbody>
  <actuator>
    <position joint="front hip"/><position joint="front knee"/><position joint="back hip"/><position joint="back knee"/>
  </actuator>
</mujoco>"""
TOUCHING = ("front feet", "back feet", "front shank", "back shank", "trunk")


class Walkers(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Robots that walk along x, each on ground of its own; left and right legs move together.

    Action: (4,) in -1 to 1, angles of front hip and knee and of back hip and knee about `REST`, in units of `REACH`.
    Observation: (11,) height, pitch, four joint angles, the velocities of x, z and pitch, and sine and cosine of a
    clock, in units of `SCALE`. Reward: distance along x [m], less 0.0005 times the squares of the actions. An episode
    ends with a fall, for which 0.5 is taken from the reward, or if the simulation diverges; it is truncated after
    `SECONDS`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self, num_envs: int = 32, kind: str = "soft", threads: int | None = None, autoreset: bool = True
    ) -> None:
        """Make the robots.

        Args:
            num_envs: How many.
            kind: Of the soil.
            threads: As of `Soils`; results are the same for any number.
            autoreset: Whether robots are reset in the step after the end of their episode; if not, they stay there.
        """
        self.num_envs, self.autoreset = num_envs, autoreset
        if not autoreset:
            self.metadata = {**self.metadata, "autoreset_mode": AutoresetMode.DISABLED}
        self.single_action_space = Box(-1.0, 1.0, (ACTIONS,), np.float64)
        self.single_observation_space = Box(-100.0, 100.0, (SEEN,), np.float64)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.model = mujoco.MjModel.from_xml_string(ROBOT)
        self.datas = [mujoco.MjData(self.model) for _ in range(num_envs)]
        flat = np.zeros((round(WIDTH / SPACING) + 1, round(LENGTH / SPACING) + 1))
        soils = Soils(num_envs, flat, SPACING, kind, corner=(-2.0, -0.5 * WIDTH), threads=threads)
        self.soils = soils.attach(self.model, TOUCHING)
        self.generators = [np.random.default_rng() for _ in range(num_envs)]
        self.ended, self.steps = np.zeros(num_envs, bool), np.zeros(num_envs, int)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Put robots on undisturbed ground: all, or those of ``options["reset_mask"]``. Robot k draws from seed + k."""
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, bool))
        seeds = [None if seed is None else seed + k for k in range(self.num_envs)] if np.ndim(seed) == 0 else seed
        for k in np.flatnonzero(mask):
            if seeds[k] is not None:
                self.generators[k] = seeding.np_random(seeds[k])[0]
        self.place(mask)
        return self.observe(), {}

    def place(self, mask: np.ndarray) -> None:
        """Give robots their pose at the beginning, at random within a few degrees."""
        self.soils.reset(mask)
        for k in np.flatnonzero(mask):
            data = self.datas[k]
            mujoco.mj_resetData(self.model, data)
            data.qpos[3:] = REST + self.generators[k].uniform(-0.05, 0.05, ACTIONS)
            data.ctrl[:] = REST
            mujoco.mj_forward(self.model, data)
        self.steps[mask], self.ended[mask] = 0, False

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all robots whose episodes have not ended; the others are reset, or stay as they are."""
        before, running = self.distance(), ~self.ended
        actions = np.clip(actions, -1.0, 1.0)
        for k in np.flatnonzero(running):
            self.datas[k].ctrl += SMOOTH * (REST + REACH * actions[k] - self.datas[k].ctrl)
        well = self.soils.step(self.datas, STEPS, running)
        self.steps[running] += 1
        height, pitch = np.array([data.qpos[1:3] for data in self.datas]).T
        # NaN compares false, so it counts as fallen.
        fallen = ~(well & (START + height > FALLEN) & (np.abs(pitch) < STEEPEST))
        reward = self.distance() - before - 0.0005 * np.sum(actions**2, axis=1) - 0.5 * fallen
        terminated = fallen & running
        truncated = (self.steps * STEPS * 0.001 >= SECONDS) & running & ~terminated
        if self.autoreset and self.ended.any():
            self.place(self.ended.copy())
        self.ended = self.ended | terminated | truncated
        return self.observe(), np.where(running & well, reward, 0.0), terminated, truncated, {}

    def distance(self) -> np.ndarray:
        """How far the robots are from where they began [m]; 0 if the simulation diverged."""
        return np.nan_to_num([data.qpos[0] for data in self.datas], posinf=0.0, neginf=0.0)

    def observe(self) -> np.ndarray:
        """Observations (robots, 11); of a robot that diverged, finite values of no meaning."""
        phase = 2.0 * np.pi * CLOCK * 0.001 * STEPS * self.steps
        seen = [np.concatenate([data.qpos[1:3], data.qpos[3:] - REST, data.qvel[:3]]) for data in self.datas]
        return np.clip(np.nan_to_num(np.column_stack([seen, np.sin(phase), np.cos(phase)]) / SCALE), -100.0, 100.0)


class Walker(gymnasium.Env[np.ndarray, np.ndarray]):
    """One robot, as in `Walkers`."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, kind: str = "soft") -> None:
        """Make the robot, on this kind of soil."""
        self.many = Walkers(1, kind, threads=1, autoreset=False)
        self.action_space, self.observation_space = self.many.single_action_space, self.many.single_observation_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """Put the robot on undisturbed ground."""
        super().reset(seed=seed)
        return self.many.reset(seed=seed)[0][0], {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Step the robot."""
        seen, reward, terminated, truncated, _ = self.many.step(np.asarray(action)[None])
        return seen[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), {}


def act(weights: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Actions (robots, 4) of linear policies with weights (robots, WEIGHTS)."""
    gains = weights.reshape(-1, ACTIONS, len(USED) + 1)
    return np.tanh(np.einsum("kij,kj->ki", gains[..., 1:], seen[:, USED]) + gains[..., 0])


def play(robots: Walkers, weights: np.ndarray, seeds: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """One episode of each policy (robots, WEIGHTS), with these starts; gives sums of rewards, and distances [m]."""
    seen, _ = robots.reset(seed=seeds)
    total = np.zeros(robots.num_envs)
    while not robots.ended.all():
        seen, reward, *_ = robots.step(act(weights, seen))
        total += reward
    return total, robots.distance()


def train(robots: Walkers, generations: int, seed: int) -> np.ndarray:
    """Search the weights (WEIGHTS,) of a policy; all policies of a generation are tried at once."""
    begin, numbers = time.perf_counter(), iter(range(generations))

    def evaluate(weights: np.ndarray) -> np.ndarray:
        number = next(numbers)
        total, distance = play(robots, weights, [seed + number] * robots.num_envs)
        best, median = distance[total.argmax()], np.median(distance)
        spent = time.perf_counter() - begin
        print(f"generation {number + 1}: best {best:.2f} m, median {median:.2f} m, {spent:.0f} s", flush=True)
        return total

    settings = Adaptive(population=robots.num_envs, generations=generations, spread=0.1)
    return adapt(evaluate, [-3.0] * WEIGHTS, [3.0] * WEIGHTS, settings, np.random.SeedSequence(seed)).genes[-1]


def main(arguments: list[str] | None = None) -> None:
    """Train on soft ground; print distances before and after on soft and on rigid ground."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", type=int, default=32, help="policies of a generation")
    parser.add_argument("--generations", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None, help="all cores if not given")
    parser.add_argument("--out", type=Path, default=Path("runs/walker.npz"))
    given = parser.parse_args(arguments)
    weights = train(Walkers(given.robots, "soft", given.threads, autoreset=False), given.generations, given.seed)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez(given.out, weights=weights)
    for kind in ("soft", "rigid"):
        robots = Walkers(8, kind, given.threads, autoreset=False)
        for name, policy in (("before", np.zeros(WEIGHTS)), ("after", weights)):
            # From starts that the training has not seen.
            distance = play(robots, np.tile(policy, (8, 1)), [10_000 + k for k in range(8)])[1].mean()
            print(f"{kind} ground, {name} training: {distance:.2f} m in {0.001 * STEPS * robots.steps.mean():.1f} s")


if __name__ == "__main__":
    main()
