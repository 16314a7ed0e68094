"""Trains the nets of a learned rover on recorded drives, a small ensemble at once."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from sandlot.extras import need
from sandlot.models.dense import Dense, make_dense
from sandlot.settings import Settings
from sandlot.surrogates.terrain.drives import MOVES, STATES, Drive, Symmetry, symmetries
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array, IntArray

Tensor = Any
"""Of PyTorch, which is an extra."""
NEAR_ZERO = 1e-9
WEIGHTS = (1.0, 1.0, 1.0, 0.3, 0.3, 1.0, 1.0, 1.0)
"""Of squared errors of each output; of motion, wheels, and of height, pitch and roll."""
DRIFT_WEIGHTS = (1.0, 0.5, 1.5, 0.05, 0.05, 0.2, 0.2, 0.2)
"""The same for mean errors of a stretch: those of speed and turn rate add up along a drive."""
LEAST_SPEED, LEAST_REST = 0.25, 0.15
"""Errors count relative to how much a drive moves and rocks, but at least to these shares of the mean drive."""
SHORT = ((0.1, 10), (0.25, 30))
"""Until these shares of the training, stretches have no more than so many frames."""
MAX_BATCH = 1024
WARM_UP = 50
"""Steps of the search in which the learning rate grows."""
LAST_RATE = 0.003
"""Of the largest learning rate, at the end."""
TURN_ARM = 0.1
"""A turn rate counts as the speed at this distance [m]."""
SETTLING_HIDDEN, SETTLING_STEPS, SETTLING_DECAY = 12, 600, 0.1
Report = Callable[[int, float], None]
"""Called after each epoch with its number and its mean error."""


def silent(epoch: int, error: float) -> None:
    """Report nothing."""


class Training(Settings):
    """Settings of the training.

    Attributes:
        members: Nets of the ensemble.
        hidden: Neurons of each of the two hidden layers.
        epochs: An epoch sees as many frames as the drives have.
        stretch: Frames that the net drives by itself before it is set back to the recording.
        batch: Stretches that are averaged for a step of the search.
        rate: Largest learning rate.
        drift: Weight of the squared mean error of a stretch, beside that of the mean squared error.
        seed: Of everything random.
    """

    members: int = Field(3, ge=1, le=64)
    hidden: int = Field(48, ge=1, le=1024)
    epochs: int = Field(120, ge=1)
    stretch: int = Field(100, ge=1)
    batch: int = Field(256, ge=1)
    rate: float = Field(4e-3, gt=0.0)
    drift: float = Field(20.0, ge=0.0)
    seed: int = Field(0, ge=0)


class Scaling(NamedTuple):
    """Mean and standard deviation of each column."""

    mean: Array
    scale: Array


def scaling(rows: Array, changes: Sequence[tuple[IntArray, Array]]) -> Scaling:
    """Of rows (..., columns) and what symmetries make of them; columns that never change keep their scale."""
    first, second = rows.reshape(-1, rows.shape[-1]).mean(0), (rows.reshape(-1, rows.shape[-1]) ** 2).mean(0)
    mean = np.mean([first[order] * signs for order, signs in changes], axis=0)
    spread = np.sqrt(np.maximum(np.mean([second[order] for order, _ in changes], axis=0) - mean * mean, 0.0))
    return Scaling(mean, np.where(spread > NEAR_ZERO, spread, 1.0))


def net_of(layers: Sequence[tuple[Array, Array]], inputs: Scaling, outputs: Scaling) -> Dense:
    """A net of unscaled inputs and outputs, from weights and biases of scaled ones."""
    weights, biases = [w for w, _ in layers], [b for _, b in layers]
    biases[0] = biases[0] - (inputs.mean / inputs.scale) @ weights[0]
    weights[0] = weights[0] / inputs.scale[:, None]
    weights[-1], biases[-1] = weights[-1] * outputs.scale, biases[-1] * outputs.scale + outputs.mean
    return make_dense(weights, biases, ["softsign"] * (len(weights) - 1) + ["linear"])


class Ensemble:
    """Nets with hidden layers, which differ only in their weights, as batched matrices.

    Attributes:
        parameters: Weights (members, inputs, neurons) and biases (members, 1, neurons) of each layer.
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

    def after(self, sums: Tensor) -> Tensor:
        """Outputs (members, rows, outputs), from the sums (members, rows, neurons) of the first hidden layer."""
        rows = self.torch.nn.functional.softsign(sums)
        for k in range(2, len(self.parameters), 2):
            rows = self.torch.baddbmm(self.parameters[k + 1], rows, self.parameters[k])
            if k + 2 < len(self.parameters):
                rows = self.torch.nn.functional.softsign(rows)
        return rows

    def nets(self, inputs: Scaling, outputs: Scaling) -> list[Dense]:
        """Each member as a net of unscaled inputs and outputs."""
        arrays = [each.detach().numpy().astype(np.float64) for each in self.parameters]
        return [
            net_of([(w[m], b[m, 0]) for w, b in zip(arrays[::2], arrays[1::2], strict=True)], inputs, outputs)
            for m in range(len(arrays[0]))
        ]


class Stretches:
    """Stretches of drives for the training, scaled.

    Attributes:
        rows: (drives, T - 1, rows).
        states: (drives, T, STATES).
        importance: (drives, MOVES) of squared errors.
        row_scaling: Of rows.
        state_scaling: Of states.
        step_scale: (MOVES,) standard deviation of changes from frame to frame.
    """

    def __init__(self, drives: Sequence[Drive], shape: Shape) -> None:
        """Cut all drives to the length of the shortest."""
        self._torch = torch = need("torch", "learn")
        frames = min(len(drive.commands) for drive in drives)
        rows = np.stack([drive.rows(shape)[: frames - 1] for drive in drives])
        states = np.stack([drive.states[:frames] for drive in drives])
        kinds = symmetries(shape, len(drives[0].soil))
        self.row_scaling = scaling(rows, [(each.rows, each.row_signs) for each in kinds])
        of_states = [(each.states, each.state_signs) for each in kinds]
        self.state_scaling = scaling(states, of_states)
        self.step_scale = scaling(np.diff(states, axis=1), of_states).scale[:MOVES]
        self.rows = torch.tensor((rows - self.row_scaling.mean) / self.row_scaling.scale, dtype=torch.float32)
        self.states = torch.tensor((states - self.state_scaling.mean) / self.state_scaling.scale, dtype=torch.float32)
        self.importance = torch.tensor(importance(states), dtype=torch.float32)
        self._kinds: list[Any] = [
            (each.rows, torch.tensor(each.row_signs).float(), each.states, torch.tensor(each.state_signs).float())
            for each in kinds
        ]

    def cut(self, drive: Tensor, start: Tensor, frames: int) -> tuple[Tensor, Tensor]:
        """Rows (members, batch, frames, rows) and states (members, batch, frames + 1, STATES) of some stretches.

        Equal parts of the batch show the rover as it is, and as its symmetries exchange left and right, and front
        and back.

        Args:
            drive: (members, batch) number of the drive.
            start: (members, batch) its first frame.
            frames: Length.
        """
        index = start[..., None] + self._torch.arange(frames + 1)
        rows, states = self.rows[drive[..., None], index[..., :-1]], self.states[drive[..., None], index]
        parts, found = len(self._kinds), []
        for k, (row_order, row_signs, state_order, state_signs) in enumerate(self._kinds):
            at = slice(k * drive.shape[1] // parts, (k + 1) * drive.shape[1] // parts)
            found.append((rows[:, at][..., row_order] * row_signs, states[:, at][..., state_order] * state_signs))
        return self._torch.cat([each for each, _ in found], 1), self._torch.cat([each for _, each in found], 1)


def importance(states: Array) -> Array:
    """Of squared errors in each drive: states (drives, T, STATES) to (drives, MOVES), 1 on the mean."""
    speed = np.sqrt((states[..., 0] ** 2 + (TURN_ARM * states[..., 2]) ** 2).mean(axis=1))
    rocking = states[..., 5:8].std(axis=1)
    of_motion = (LEAST_SPEED + (1.0 - LEAST_SPEED) * speed / max(speed.mean(), NEAR_ZERO)) ** -2
    of_rests = (LEAST_REST + (1.0 - LEAST_REST) * rocking / np.maximum(rocking.mean(axis=0), NEAR_ZERO)) ** -2
    found = np.column_stack([of_motion, of_motion, of_motion, np.ones((len(states), 2)), of_rests])
    return np.asarray(found / found.mean(axis=0))


def train_drives(drives: Sequence[Drive], shape: Shape, given: Training, report: Report = silent) -> list[Dense]:
    """Train the nets that move a rover; they learn to drive by themselves, stretch by stretch.

    Args:
        drives: Recorded.
        shape: Of the rover.
        given: Settings.
        report: Shows progress.
    """
    data = Stretches(drives, shape)
    torch, members = need("torch", "learn"), given.members
    count, length, width = len(data.rows), data.rows.shape[1], data.rows.shape[2]
    scale = data.state_scaling.scale
    factor = torch.tensor(data.step_scale / scale[:MOVES]).float()
    change_factor = torch.tensor(scale[5:8] / scale[8:11]).float()
    weights, drift_weights = torch.tensor(WEIGHTS), torch.tensor(DRIFT_WEIGHTS)
    ensemble = Ensemble([width + STATES, given.hidden, given.hidden, MOVES], members, given.seed, 0.1)
    first, bias = ensemble.parameters[:2]

    def loss(drive: Tensor, start: Tensor, frames: int) -> Any:
        rows, states = data.cut(drive, start, frames)
        given_sums = torch.baddbmm(bias, rows.flatten(1, 2), first[:, :width]).unflatten(1, (-1, frames))
        state, found = states[:, :, 0], []
        for k in range(frames):
            change = factor * ensemble.after(given_sums[:, :, k] + torch.bmm(state, first[:, width:]))
            state = torch.cat([state[..., :MOVES] + change, change[..., 5:8] * change_factor], -1)
            found.append(state[..., :MOVES])
        away, important = torch.stack(found, 2) - states[:, :, 1:, :MOVES], data.importance[drive]
        squared = ((away**2).mean(2) * weights * important).mean()
        return members * (squared + given.drift * (away.mean(2) ** 2 * drift_weights * important).mean())

    draw = torch.Generator().manual_seed(given.seed + 1)
    search = torch.optim.Adam(ensemble.parameters, lr=given.rate)
    rounds = max(count * length // (given.batch * given.stretch), 1)
    for epoch in range(given.epochs):
        total = 0.0
        for k in range(rounds):
            done = (epoch + k / rounds) / given.epochs
            longest = min((most for until, most in SHORT if done < until), default=given.stretch)
            frames = min(longest, given.stretch, length - 1)
            batch = min(given.batch * max(given.stretch // frames, 1), max(MAX_BATCH, given.batch))
            for group in search.param_groups:
                group["lr"] = given.rate * min(1.0, (epoch * rounds + k + 1) / WARM_UP) * _annealed(done)
            drive = torch.randint(0, count, (members, batch), generator=draw)
            start = torch.randint(0, length - frames, (members, batch), generator=draw)
            error = loss(drive, start, frames)
            search.zero_grad()
            error.backward()
            torch.nn.utils.clip_grad_norm_(ensemble.parameters, 1.0)
            search.step()
            total += float(error.detach()) / members
        report(epoch, total / rounds)
    inputs = Scaling(*(np.concatenate(pair) for pair in zip(data.row_scaling, data.state_scaling, strict=True)))
    return ensemble.nets(inputs, Scaling(np.zeros(MOVES), data.step_scale))


def _annealed(done: float) -> float:
    return 0.5 * (1.0 + math.cos(math.pi * done)) + LAST_RATE


def train_settling(drives: Sequence[Drive], shape: Shape, given: Training) -> Dense:
    """Train the net that puts a rover on untouched ground; arguments as of `train_drives`."""
    torch = need("torch", "learn")
    kinds = symmetries(shape, len(drives[0].soil))
    seen = drives[0].seen.shape[1] + len(drives[0].soil)
    rows = np.stack([np.concatenate([drive.seen[0], drive.soil]) for drive in drives])
    rests = np.stack([drive.rests[0] for drive in drives])

    def turned(each: Symmetry) -> tuple[Array, Array]:
        return rows[:, each.rows[:seen]] * each.row_signs[:seen], rests * each.state_signs[5:8]

    inputs, targets = (np.concatenate(pair) for pair in zip(*(turned(each) for each in kinds), strict=True))
    same = [(np.arange(seen), np.ones(seen))]
    of_inputs, of_targets = scaling(inputs, same), scaling(targets, [(np.arange(3), np.ones(3))])
    ensemble = Ensemble([seen, SETTLING_HIDDEN, SETTLING_HIDDEN, 3], 1, given.seed)
    x = torch.tensor((inputs - of_inputs.mean) / of_inputs.scale).float()[None]
    y = torch.tensor((targets - of_targets.mean) / of_targets.scale).float()[None]
    search = torch.optim.AdamW(ensemble.parameters, lr=given.rate, weight_decay=SETTLING_DECAY)
    for k in range(SETTLING_STEPS):
        for group in search.param_groups:
            group["lr"] = given.rate * _annealed(k / SETTLING_STEPS)
        error = ((ensemble.after(torch.baddbmm(ensemble.parameters[1], x, ensemble.parameters[0])) - y) ** 2).mean()
        search.zero_grad()
        error.backward()
        search.step()
    return ensemble.nets(of_inputs, of_targets)[0]
