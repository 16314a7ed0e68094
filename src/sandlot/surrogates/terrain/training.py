"""Trains the nets of a learned rover on recorded drives, a small ensemble at once."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from sandlot.extras import need
from sandlot.models.dense import Dense, make_dense
from sandlot.settings import Settings
from sandlot.surrogates.terrain.drives import Drive
from sandlot.surrogates.terrain.shape import Shape
from sandlot.surrogates.terrain.step import MOVES
from sandlot.typing import Array

Tensor = Any
"""Of PyTorch, which is an extra."""
FEEDBACK = slice(-7, -2)
"""Of the inputs of the net that moves a rover: its motion and its wheels' speeds, which come from its own outputs."""
NEAR_ZERO = 1e-9
SEEN_FIRST = 3
"""The first of these inputs that is seen of the ground."""
FRAMES_PER_STRETCH = 16
"""Single frames in a batch, for each stretch in a batch of stretches."""
SETTLING_WEIGHT = 30.0
"""The first frame of a drive counts as many times in the training of how a rover stands."""
Report = Callable[[int, float], None]
"""Called after each epoch with its number and its mean error."""


def silent(epoch: int, error: float) -> None:
    """Report nothing."""


class Training(Settings):
    """Settings of the training.

    Attributes:
        members: Nets of the ensemble.
        hidden: Neurons of each of the two hidden layers.
        epochs: Passes over the drives.
        stretch: Frames that the net drives by itself before it is set back to the recording.
        batch: Stretches that are averaged for a step of the search.
        rate: Largest learning rate.
        drift: Weight of the squared mean error of a stretch, beside that of the mean squared error.
        one_step: Weight of the squared error one frame ahead.
        noise: Standard deviation of what is added in training to how much the rover has pressed the ground under each
            wheel [m], so that nets get over errors of their own.
        seed: Of everything random.
    """

    members: int = Field(3, ge=1, le=64)
    hidden: int = Field(48, ge=1, le=1024)
    epochs: int = Field(14, ge=1)
    stretch: int = Field(50, ge=1)
    batch: int = Field(128, ge=1)
    rate: float = Field(5e-3, gt=0.0)
    drift: float = Field(3.0, ge=0.0)
    one_step: float = Field(5.0, ge=0.0)
    noise: float = Field(1.5e-3, ge=0.0)
    seed: int = Field(0, ge=0)


class Scaling(NamedTuple):
    """Mean and standard deviation of each column."""

    mean: Array
    scale: Array


def scaling(rows: Array) -> Scaling:
    """Of rows (n, columns); columns that never change keep their scale."""
    spread = rows.std(axis=0)
    return Scaling(rows.mean(axis=0), np.where(spread > NEAR_ZERO, spread, 1.0))


class Ensemble:
    """Nets with two hidden layers, which differ only in their weights, as batched matrices.

    Attributes:
        parameters: Weights (members, inputs, neurons) and biases (members, 1, neurons) of the three layers.
    """

    def __init__(self, sizes: Sequence[int], members: int, seed: int, last: float = 1.0) -> None:
        """Draw initial weights; those of the last layer are multiplied by ``last``."""
        self.torch = need("torch", "learn")
        draw = self.torch.Generator().manual_seed(seed)
        self.parameters: list[Any] = []
        for k, (inputs, neurons) in enumerate(pairwise(sizes)):
            bound = inputs**-0.5 * (last if k == len(sizes) - 2 else 1.0)
            weights = (2.0 * self.torch.rand((members, inputs, neurons), generator=draw) - 1.0) * bound
            self.parameters += [weights.requires_grad_(), self.torch.zeros((members, 1, neurons)).requires_grad_()]

    def __call__(self, rows: Tensor) -> Tensor:
        """Outputs (members, rows, outputs) of inputs (members, rows, inputs)."""
        layers = len(self.parameters) // 2
        for k in range(layers):
            rows = self.torch.baddbmm(self.parameters[2 * k + 1], rows, self.parameters[2 * k])
            if k + 1 < layers:
                rows = self.torch.nn.functional.softsign(rows)
        return rows

    def nets(self, inputs: Scaling, outputs: Scaling) -> list[Dense]:
        """Each member as a net of unscaled inputs and outputs."""
        arrays = [each.detach().numpy().astype(np.float64) for each in self.parameters]
        nets = []
        for member in range(len(arrays[0])):
            weights, biases = [w[member] for w in arrays[::2]], [b[member, 0] for b in arrays[1::2]]
            biases[0] = biases[0] - (inputs.mean / inputs.scale) @ weights[0]
            weights[0] = weights[0] / inputs.scale[:, None]
            weights[-1], biases[-1] = weights[-1] * outputs.scale, biases[-1] * outputs.scale + outputs.mean
            nets.append(make_dense(weights, biases, ["softsign"] * (len(weights) - 1) + ["linear"]))
        return nets


class Noise:
    """Adds to inputs (members, rows, inputs), at those that say how much the ground of each group was pressed."""

    def __init__(self, shape: Shape, first: int, inputs: int, scale: Array, given: Training) -> None:
        """Prepare for inputs of which ``first`` is the first that is seen, divided by ``scale`` (inputs,)."""
        self._torch = need("torch", "learn")
        count = len(shape.samples)
        pattern = np.zeros((len(shape.groups), inputs))
        pattern[:, first + count : first + 2 * count] = shape.groups > 0.0
        self._pattern = self._torch.tensor(given.noise * pattern / scale, dtype=self._torch.float32)
        self._draw = self._torch.Generator().manual_seed(given.seed + 2)

    def __call__(self, rows: Tensor) -> Tensor:
        """The same rows with noise."""
        drawn = self._torch.randn((*rows.shape[:-1], len(self._pattern)), generator=self._draw)
        return rows + drawn @ self._pattern


def _search(
    ensemble: Ensemble,
    count: int,
    given: Training,
    loss: Callable[[Tensor, float], Any],
    report: Callable[[int, float], None],
) -> None:
    """Adam with one cycle of learning rates; ``loss`` takes (members, batch) numbers of items, and how far it is."""
    torch, members = ensemble.torch, given.members
    draw = torch.Generator().manual_seed(given.seed + 1)
    batch = min(given.batch, count)
    rounds = count // batch
    search = torch.optim.Adam(ensemble.parameters, lr=given.rate)
    rates = torch.optim.lr_scheduler.OneCycleLR(search, given.rate, total_steps=given.epochs * rounds)
    for epoch in range(given.epochs):
        order = torch.stack([torch.randperm(count, generator=draw) for _ in range(members)])
        total = 0.0
        for k in range(rounds):
            error = loss(order[:, k * batch : (k + 1) * batch], epoch / given.epochs)
            search.zero_grad()
            error.backward()
            torch.nn.utils.clip_grad_norm_(ensemble.parameters, 1.0)
            search.step()
            rates.step()
            total += float(error.detach()) / members
        report(epoch, total / rounds)


def train_drive(
    drives: Sequence[Drive],
    shape: Shape,
    given: Training,
    report: Report = silent,
) -> list[Dense]:
    """Train the nets that move a rover; they learn to drive by themselves, stretch by stretch.

    Args:
        drives: Recorded.
        shape: Of the rover.
        given: Settings.
        report: Shows progress.
    """
    library = need("torch", "learn")
    inputs = [drive.drive_inputs(shape) for drive in drives]
    moves = [drive.moves() for drive in drives]
    scale, change = scaling(np.concatenate(inputs)), scaling(np.concatenate(moves))
    span, width = given.stretch, scale.scale[FEEDBACK]

    def cut(rows: Array) -> Array:
        count = len(rows) // span
        return rows[: count * span].reshape(count, span, -1)

    given_inputs = library.tensor(
        np.concatenate([cut((x - scale.mean) / scale.scale) for x in inputs]), dtype=library.float32
    )
    # In units of the inputs, so that outputs can be added to them.
    steps = library.tensor(np.concatenate([cut(y / width) for y in moves]), dtype=library.float32)
    change = Scaling(np.zeros(MOVES), change.scale / width)
    factor = library.tensor(change.scale, dtype=library.float32)
    weight = library.tensor([1.0, 1.0, 1.0, 0.3, 0.3])
    noise = Noise(shape, SEEN_FIRST, inputs[0].shape[1], scale.scale, given)
    ensemble = Ensemble([inputs[0].shape[1], given.hidden, given.hidden, MOVES], given.members, given.seed, 0.1)

    def loss(items: Tensor, done: float) -> Any:
        rows, truth = noise(given_inputs[items]), steps[items]  # (members, batch, span, ...)
        frames = span if done > 0.3 else min(10, span)
        state = rows[:, :, 0, FEEDBACK]
        errors = []
        for k in range(frames):
            row = library.cat([rows[:, :, k, : FEEDBACK.start], state, rows[:, :, k, FEEDBACK.stop :]], 2)
            state = state + factor * ensemble(row)
            errors.append(state - rows[:, :, k, FEEDBACK] - truth[:, :, k])
        away = library.stack(errors, 2)
        one = ensemble(rows[:, :, :frames].flatten(1, 2)) - (truth[:, :, :frames] / factor).flatten(1, 2)
        total = (away**2 * weight).mean() + given.drift * (away.mean(2) ** 2 * weight).mean()
        return given.members * (total + given.one_step * 0.01 * (one**2 * weight).mean())

    _search(ensemble, len(steps), given, loss, report)
    return ensemble.nets(scale, Scaling(np.zeros(MOVES), change.scale * width))


def train_rest(drives: Sequence[Drive], shape: Shape, given: Training, report: Report = silent) -> list[Dense]:
    """Train the nets that put a rover on the ground; arguments as of `train_drive`."""
    library = need("torch", "learn")
    inputs, rests = np.concatenate([d.rest_inputs() for d in drives]), np.concatenate([d.rests for d in drives])
    scale, target = scaling(inputs), scaling(rests)
    rows = library.tensor((inputs - scale.mean) / scale.scale, dtype=library.float32)
    truth = library.tensor((rests - target.mean) / target.scale, dtype=library.float32)
    noise = Noise(shape, 0, inputs.shape[1], scale.scale, given)
    # Each drive shows only once how a rover settles on untouched ground.
    weight = library.ones(len(rows))
    weight[np.cumsum([0, *(len(drive.commands) for drive in drives[:-1])])] = SETTLING_WEIGHT
    ensemble = Ensemble([inputs.shape[1], given.hidden, given.hidden, rests.shape[1]], given.members, given.seed)

    def loss(items: Tensor, done: float) -> Any:
        squares = ((ensemble(noise(rows[items])) - truth[items]) ** 2).mean(2)
        return given.members * (weight[items] * squares).mean()

    _search(ensemble, len(rows), given.model_copy(update={"batch": FRAMES_PER_STRETCH * given.batch}), loss, report)
    return ensemble.nets(scale, target)
