"""Proximal policy optimisation (Schulman et al. 2017) of a small net, on a batch of robots that step together.

The net gives the mean of each action; the standard deviation is the same in all states. Advantages are estimated as in
Schulman et al. 2016. The step length follows the change of the policy (as in Rudin et al. 2022).
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from pydantic import Field

from sandlot.errors import ModelError
from sandlot.extras import need
from sandlot.models.dense import ACTIVATIONS, Dense, layers_of, make_dense
from sandlot.settings import Settings
from sandlot.typing import Array, BoolArray


class Batch(Protocol):
    """Robots to learn with; those that end begin again by themselves."""

    count: int
    features: int
    actions: int

    def reset(self) -> Array:
        """Begin; returns the observations (count, features)."""

    def step(self, actions: Array) -> tuple[Array, Array, BoolArray, BoolArray]:
        """Observations (count, features), rewards (count,), which ended, which ran out of time (count,)."""


class Ppo(Settings):
    """Settings of the search.

    Attributes:
        iterations: Each is a rollout and an update.
        horizon: Steps of a rollout.
        epochs: Times that an update uses each step.
        batches: Parts into which an update divides the steps.
        hidden: Neurons of each hidden layer.
        discount: Of the reward of the next step.
        trace: Decay of the advantage's estimate (lambda).
        clip: Largest change of a probability's ratio that is rewarded.
        entropy: Reward of the policy's entropy.
        rate: First step length.
        change: Wanted change of the policy in an update (mean KL divergence).
        deviation: First standard deviation of actions.
        seconds: The search ends after this long [s]; 0 for no limit. With a limit, results depend on the machine.
    """

    iterations: int = Field(480, ge=1)
    horizon: int = Field(32, ge=2)
    epochs: int = Field(4, ge=1)
    batches: int = Field(8, ge=1)
    hidden: tuple[int, ...] = (64, 64)
    discount: float = Field(0.99, gt=0.0, lt=1.0)
    trace: float = Field(0.95, ge=0.0, le=1.0)
    clip: float = Field(0.2, gt=0.0)
    entropy: float = Field(0.002, ge=0.0)
    rate: float = Field(1e-3, gt=0.0)
    change: float = Field(0.012, gt=0.0)
    deviation: float = Field(0.8, gt=0.0)
    seconds: float = Field(0.0, ge=0.0)


class Update(NamedTuple):
    """What an iteration did.

    Attributes:
        number: Of the iteration, from 1.
        reward: Mean of a step.
        deviation: Mean standard deviation of actions.
        change: Of the policy (KL divergence).
        seconds: Since the start [s].
    """

    number: int
    reward: float
    deviation: float
    change: float
    seconds: float


class Nets(NamedTuple):
    """What is trained.

    Attributes:
        policy: Observations in, mean actions out.
        value: Observations in, expected sum of rewards out; None if it is not known.
    """

    policy: Dense
    value: Dense | None = None


def learn(
    batch: Batch,
    ppo: Ppo,
    seed: np.random.SeedSequence,
    progress: Callable[[Update], None] = lambda update: None,
    start: Nets | None = None,
) -> Nets:
    """Train a policy.

    Args:
        batch: The robots.
        ppo: Settings.
        seed: Of the nets and of exploration.
        progress: Called after each iteration.
        start: Nets that were trained before, to begin with in place of random ones.

    Raises:
        ModelError: If the nets to begin with have other layers than the settings ask for.
    """
    torch = need("torch", "learn")
    rng, began = np.random.default_rng(seed), time.monotonic()
    actor = _net(torch, batch.features, ppo.hidden, batch.actions, 0.01, rng)
    critic = _net(torch, batch.features, ppo.hidden, 1, 1.0, rng)
    if start is not None:
        _copy(torch, start.policy, actor)
        if start.value is not None:
            _copy(torch, start.value, critic)
    log = torch.full((batch.actions,), math.log(ppo.deviation), requires_grad=True)
    parameters = [*actor.parameters(), *critic.parameters(), log]
    search = torch.optim.Adam(parameters, lr=ppo.rate)
    seen = batch.reset().astype(np.float32)
    with ThreadPoolExecutor(1) as beside:
        for number in range(1, ppo.iterations + 1):
            deviation = np.exp(log.detach().numpy())
            rollout, seen, reward = _roll(torch, batch, actor, critic, deviation, seen, ppo, rng, beside)
            change = _update(torch, search, actor, critic, log, rollout, np.log(deviation), ppo, rng, beside)
            now = time.monotonic() - began
            progress(Update(number, reward, float(deviation.mean()), change, now))
            if 0.0 < ppo.seconds < now:
                break
    return Nets(_as_dense(actor), _as_dense(critic))


def _roll(
    torch: Any,
    batch: Batch,
    actor: Any,
    critic: Any,
    deviation: Any,
    seen: Any,
    ppo: Ppo,
    rng: np.random.Generator,
    beside: Executor,
) -> tuple[list[Any], Any, float]:
    """Step all robots. The critic runs ``beside``, in another thread, while they are simulated.

    Returns:
        States, actions, their means, advantages and returns of all steps of all robots; the last observations; the mean
        reward of a step.
    """
    shape = (ppo.horizon, batch.count)
    states, taken = (np.empty((*shape, size), np.float32) for size in (batch.features, batch.actions))
    means, values = np.empty_like(taken), np.empty((ppo.horizon + 1, batch.count), np.float32)
    rewards, stops, lates = np.empty(shape, np.float32), np.empty(shape, np.bool_), np.empty(shape, np.bool_)
    for t in range(ppo.horizon):
        states[t] = seen
        rows = torch.from_numpy(seen)
        value = beside.submit(_evaluate, torch, critic, rows)
        means[t] = _evaluate(torch, actor, rows)
        taken[t] = means[t] + deviation * rng.standard_normal(taken[t].shape, np.float32)
        after, rewards[t], ended, lates[t] = batch.step(taken[t].astype(np.float64))
        stops[t], values[t] = ended | lates[t], value.result()[:, 0]
        seen = after.astype(np.float32)
    values[-1] = _evaluate(torch, critic, torch.from_numpy(seen))[:, 0]
    reward = float(rewards.mean())
    # A truncated episode is bootstrapped with the value of its last state.
    rewards += ppo.discount * values[:-1] * lates
    advantages = _advantages(rewards, values, stops, ppo.discount, ppo.trace)
    data = (states, taken, means, advantages, advantages + values[:-1])
    return [torch.from_numpy(each.reshape(-1, *each.shape[2:])) for each in data], seen, reward


def _evaluate(torch: Any, net: Any, rows: Any) -> Any:
    with torch.no_grad():
        return net(rows).numpy()


def _net(torch: Any, inputs: int, hidden: tuple[int, ...], outputs: int, last: float, rng: np.random.Generator) -> Any:
    """Layers with orthogonal weights, drawn by NumPy; those of the last scaled by ``last``."""
    sizes, layers = [inputs, *hidden, outputs], []
    for k, (rows, columns) in enumerate(pairwise(sizes)):
        layer = torch.nn.Linear(rows, columns)
        basis = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))[0]
        scale = last if k == len(sizes) - 2 else math.sqrt(2.0)
        weight = scale * (basis if columns >= rows else basis.T)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight.astype(np.float32)))
            layer.bias.zero_()
        layers += [layer, torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


def _copy(torch: Any, start: Dense, net: Any) -> None:
    """Give a net the weights of another with the same layers."""
    layers = [each for each in net if hasattr(each, "weight")]
    sizes = [layers[0].in_features, *(each.out_features for each in layers)]
    kinds = [ACTIVATIONS[each] for each in start.activations]
    if start.sizes.tolist() != sizes or kinds != ["tanh"] * (len(layers) - 1) + ["linear"]:
        raise ModelError(
            f"a net with layers of {start.sizes.tolist()} cannot be trained further; expected {sizes}, with tanh"
        )
    with torch.no_grad():
        for layer, (weights, biases) in zip(layers, layers_of(start), strict=True):
            layer.weight.copy_(torch.from_numpy(weights.T.astype(np.float32)))
            layer.bias.copy_(torch.from_numpy(biases.astype(np.float32)))


def _advantages(rewards: Any, values: Any, stops: Any, discount: float, trace: float) -> Any:
    """How much better than expected each action was: (steps, robots)."""
    found, running = np.empty_like(rewards), np.zeros_like(rewards[0])
    for t in range(len(rewards) - 1, -1, -1):
        goes_on = ~stops[t]
        surprise = rewards[t] + discount * values[t + 1] * goes_on - values[t]
        running = surprise + discount * trace * goes_on * running
        found[t] = running
    return found


def _update(
    torch: Any,
    search: Any,
    actor: Any,
    critic: Any,
    log: Any,
    data: list[Any],
    old: Any,
    ppo: Ppo,
    rng: Any,
    beside: Executor,
) -> float:
    """Improve policy and value by one rollout; returns the policy's change.

    The gradients of the critic, which shares nothing with the actor, are found ``beside``, in another thread.
    """
    states, taken, means, advantages, returns = data
    old, total, count = torch.from_numpy(old), 0.0, len(states)
    before = _log_probability(torch, taken, means, old)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(ppo.epochs):
        order = torch.from_numpy(rng.permutation(count))
        for part in order.chunk(ppo.batches):
            search.zero_grad()
            judged = beside.submit(_judge, critic, states, returns, part)
            mean = actor(states[part])
            ratio = (_log_probability(torch, taken[part], mean, log) - before[part]).exp()
            gain = torch.minimum(
                ratio * advantages[part], ratio.clamp(1.0 - ppo.clip, 1.0 + ppo.clip) * advantages[part]
            )
            # Means far outside of the limits of an action would have no effect and no way back.
            outside = (mean.abs() - 1.2).clamp(min=0.0).square().mean()
            loss = -gain.mean() + 0.1 * outside - ppo.entropy * log.sum()
            loss.backward()
            judged.result()
            torch.nn.utils.clip_grad_norm_([each for group in search.param_groups for each in group["params"]], 1.0)
            search.step()
            with torch.no_grad():
                moved = ((mean - means[part]).square() / (2.0 * (2.0 * log).exp())).sum(dim=1).mean()
                spread = (log - old + ((2.0 * old).exp() / (2.0 * (2.0 * log).exp())) - 0.5).sum()
                change = float(moved + spread)
            total += change
            for group in search.param_groups:
                if change > 2.0 * ppo.change:
                    group["lr"] = max(group["lr"] / 1.5, 1e-5)
                elif change < 0.5 * ppo.change:
                    group["lr"] = min(group["lr"] * 1.5, 5e-3)
            with torch.no_grad():
                log.clamp_(math.log(0.1), math.log(1.0))
    return total / (ppo.epochs * ppo.batches)


def _judge(critic: Any, states: Any, returns: Any, part: Any) -> None:
    """Find the gradients of the critic's error."""
    (critic(states[part])[:, 0] - returns[part]).square().mean().backward()


def _log_probability(torch: Any, taken: Any, mean: Any, log: Any) -> Any:
    """Of actions, without the constant."""
    return -(((taken - mean) / log.exp()).square() * 0.5 + log).sum(dim=1)


def _as_dense(net: Any) -> Dense:
    layers = [each for each in net if hasattr(each, "weight")]
    weights = [each.weight.detach().numpy().T.astype(np.float64) for each in layers]
    biases = [each.bias.detach().numpy().astype(np.float64) for each in layers]
    return make_dense(weights, biases, ["tanh"] * (len(layers) - 1) + ["linear"])
