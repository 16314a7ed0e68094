"""Trains a controller of any world with Stable-Baselines3: PPO, SAC or DQN, at the world's normalised interface.

What is kept between runs is in safetensors and JSON; Stable-Baselines3's own files hold pickles, which are never used.
"""

import importlib.util
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete

from sandlot.errors import SettingError
from sandlot.extras import need
from sandlot.learning.checkpoints import keep, resume
from sandlot.learning.training_settings import Training
from sandlot.models.card import Card
from sandlot.models.dense import Dense, make_dense, save_dense
from sandlot.models.graphs import to_onnx
from sandlot.models.policies import KIND
from sandlot.worlds import VECTORS, load, world_id

CHECKPOINT, GRAPH = "checkpoint.safetensors", "controller.onnx"


def train(
    world: str,
    settings: Training,
    out: Path,
    values: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Train a controller, or go on with a training that was interrupted, and keep it.

    The last checkpoint and a log, ``progress.csv``, are in ``OUT.training``, beside the controller, and so is its net
    as an ONNX graph for other programs, if the extra ``onnx`` is installed. Resumed, episodes begin anew, and so does
    the memory of SAC and DQN: the result is then not that of a training without a break.

    Args:
        world: Short name.
        settings: Of the training.
        out: Directory of the controller.
        values: Settings of the world.
        progress: Called with the steps that are done, and all steps.

    Raises:
        SettingError: If the algorithm does not suit the world's actions.
        ModelError: If there is a checkpoint of another training.
    """
    kind, folder = load(world), out.with_name(f"{out.name}.training")
    given = {**(values or {}), "interface": "normalised"}
    quick = [each for each in ("fast", "learned") if each in kind.fidelities()]
    fidelity = given.get("fidelity", (quick or kind.fidelities())[0])
    worlds = _worlds(world, {**given, "fidelity": fidelity}, settings.members, settings.longest)
    need("torch", "learn").set_num_threads(1)  # its batches are small: more threads wait for each other
    model = _model(settings, worlds)
    about = {
        "world": world,
        "world_settings": {**given, "fidelity": fidelity},
        "training": settings.model_dump(mode="json"),
    }
    done = resume(model, folder / CHECKPOINT, about)
    _log(model, folder / f"from-{done}")
    base: Any = need("stable_baselines3.common.callbacks", "learn").BaseCallback

    class Keep(base):
        """Reports progress and keeps checkpoints."""

        kept = done

        def _on_step(self) -> bool:
            progress(min(self.num_timesteps, settings.steps), settings.steps)
            return True

        def _on_rollout_start(self) -> None:
            if self.num_timesteps - self.kept >= settings.every:
                self.kept = self.num_timesteps
                keep(model, folder / CHECKPOINT, about)

    try:
        if done < settings.steps:
            model.num_timesteps = done
            model.learn(settings.steps - done, callback=Keep(), reset_num_timesteps=done == 0)
        keep(model, folder / CHECKPOINT, about)
    finally:
        worlds.close()
    del given["interface"]
    card = Card(
        kind=KIND,
        description=f"{settings.algorithm.upper()} controller of the world {world}, trained at fidelity {fidelity}",
        settings={
            "world": world,
            "world_settings": {**{k: v for k, v in given.items() if k != "fidelity"}, "interface": "normalised"},
            "training": about["training"],
            "steps": int(model.num_timesteps),
        },
    )
    net = net_of(model)
    if importlib.util.find_spec("onnx"):
        (folder / GRAPH).write_bytes(to_onnx(net, card.description))
    save_dense(out, net, card, KIND)


def _worlds(world: str, values: dict[str, Any], members: int, limit: int) -> Any:
    """An environment of Stable-Baselines3."""
    if world in VECTORS:
        from sandlot.learning.stable_baselines import as_sb3

        made = as_sb3(gymnasium.make_vec(world_id(world), num_envs=members, max_episode_steps=limit, **values))
        return need("stable_baselines3.common.vec_env", "learn").VecMonitor(made)  # logs rewards of episodes
    from sandlot.learning.single_worlds import one_by_one

    return one_by_one(world_id(world), values, members, limit)


def _model(settings: Training, worlds: Any) -> Any:
    sb3 = need("stable_baselines3", "learn")
    space, name = worlds.action_space, settings.algorithm
    if name == "sac" and not isinstance(space, Box):
        raise SettingError("algorithm=sac needs actions that are numbers; this world's are discrete: use ppo or dqn")
    if name == "dqn" and not isinstance(space, Discrete):
        raise SettingError("algorithm=dqn needs one discrete action; use ppo, or sac if actions are numbers")
    torch = need("torch", "learn")
    shared: dict[str, Any] = {"learning_rate": settings.rate, "gamma": settings.discount, "batch_size": settings.batch}
    shared |= {"seed": settings.seed, "device": "cpu"}
    kept = {
        "buffer_size": settings.replay,
        "learning_starts": settings.begin,
        "train_freq": 1,
        "gradient_steps": settings.updates,
    }
    policy: dict[str, Any] = {"net_arch": list(settings.layers)}
    if name == "ppo":
        policy |= {"activation_fn": torch.nn.Tanh, "log_std_init": math.log(settings.deviation)}
        own = {"n_steps": settings.horizon, "n_epochs": settings.epochs, "ent_coef": settings.entropy}
        return sb3.PPO("MlpPolicy", worlds, policy_kwargs=policy, **shared, **own)
    policy["activation_fn"] = torch.nn.ReLU
    return (sb3.SAC if name == "sac" else sb3.DQN)("MlpPolicy", worlds, policy_kwargs=policy, **shared, **kept)


def _log(model: Any, folder: Path) -> None:
    """Write ``progress.csv``, and a log for TensorBoard."""
    need("tensorboard", "learn")
    logger = need("stable_baselines3.common.logger", "learn")
    model.set_logger(logger.configure(str(folder), ["csv", "tensorboard"]))


def net_of(model: Any) -> Dense:
    """The net that chooses the best actions of a model of Stable-Baselines3."""
    torch, policy = need("torch", "learn"), model.policy
    if hasattr(policy, "mlp_extractor"):
        parts, last = [*policy.mlp_extractor.policy_net, policy.action_net], "linear"
    elif hasattr(policy, "actor"):
        parts, last = [*policy.actor.latent_pi, policy.actor.mu], "tanh"
    else:
        parts, last = [*policy.q_net.q_net], "linear"
    layers = [part for part in parts if isinstance(part, torch.nn.Linear)]
    hidden = "tanh" if any(isinstance(part, torch.nn.Tanh) for part in parts) else "relu"
    weights = [layer.weight.detach().numpy().T.astype(np.float64) for layer in layers]
    biases = [layer.bias.detach().numpy().astype(np.float64) for layer in layers]
    return make_dense(weights, biases, [hidden] * (len(layers) - 1) + [last])
