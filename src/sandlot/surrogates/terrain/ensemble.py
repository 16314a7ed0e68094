"""An ensemble of small nets in PyTorch, which are trained together, and how their inputs and outputs are scaled."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sandlot.extras import need
from sandlot.models.dense import Dense, layers_of, make_dense
from sandlot.surrogates.terrain.motors import Motors
from sandlot.typing import Array, IntArray

Tensor = Any
"""Of PyTorch, which is an extra."""
LAST_RATE = 0.003
"""Final learning rate, as a share of the largest one."""
NEAR_ZERO = 1e-9


class Scaling(NamedTuple):
    """Mean and standard deviation of each column."""

    mean: Array
    scale: Array


class Trained(NamedTuple):
    """Nets that move a rover; as of `sandlot.surrogates.terrain.motion_model.MotionModel`."""

    drives: tuple[Dense, ...]
    linears: tuple[Dense, ...]
    gains: tuple[Dense, ...]
    means: Array
    scales: Array
    motors: Motors


def scaling(rows: Array, changes: Sequence[tuple[IntArray, Array]]) -> Scaling:
    """Of rows (..., columns) and what symmetries make of them; columns that never change keep their scale."""
    first, second = rows.reshape(-1, rows.shape[-1]).mean(0), (rows.reshape(-1, rows.shape[-1]) ** 2).mean(0)
    mean = np.mean([first[order] * signs for order, signs in changes], axis=0)
    spread = np.sqrt(np.maximum(np.mean([second[order] for order, _ in changes], axis=0) - mean * mean, 0.0))
    return Scaling(mean, np.where(spread > NEAR_ZERO, spread, 1.0))


def scaling_of_soils(soils: Array) -> Scaling:
    """Of rows (rows, columns); columns that never change have an infinite scale, so that nets do not see them.

    Their weights would stay random, and act on soils whose values differ.
    """
    mean, spread = soils.mean(axis=0), soils.std(axis=0)
    return Scaling(mean, np.where(np.ptp(soils, axis=0) > 0.0, np.maximum(spread, NEAR_ZERO), np.inf))


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

    @classmethod
    def of(cls, nets: Sequence[Dense], inputs: Scaling, outputs: Scaling) -> "Ensemble":
        """The ensemble whose `nets` these are."""
        found = cls([*nets[0].sizes.tolist()], len(nets), 0)
        layers = [list(layers_of(net)) for net in nets]
        for k in range(len(layers[0])):
            weights, biases = (np.stack([each[k][part] for each in layers]) for part in (0, 1))
            if k == 0:
                biases, weights = biases + inputs.mean @ weights, weights * inputs.scale[:, None]
            if k == len(layers[0]) - 1:
                biases, weights = (biases - outputs.mean) / outputs.scale, weights / outputs.scale
            pair = found.torch.tensor(weights).float(), found.torch.tensor(biases[:, None]).float()
            found.parameters[2 * k : 2 * k + 2] = [each.requires_grad_() for each in pair]
        return found

    def after(self, sums: Tensor) -> Tensor:
        """Outputs (members, rows, outputs), from the sums (members, rows, neurons) of the first hidden layer."""
        rows = self.torch.nn.functional.softsign(sums)
        for k in range(2, len(self.parameters), 2):
            rows = self.torch.baddbmm(self.parameters[k + 1], rows, self.parameters[k])
            if k + 2 < len(self.parameters):
                rows = self.torch.nn.functional.softsign(rows)
        return rows

    def outputs(self, rows: Tensor) -> Tensor:
        """Outputs (members, rows, outputs) of inputs (members, rows, inputs)."""
        return self.after(self.torch.baddbmm(self.parameters[1], rows, self.parameters[0]))

    def nets(self, inputs: Scaling, outputs: Scaling) -> list[Dense]:
        """Each member as a net of unscaled inputs and outputs."""
        arrays = [each.detach().numpy().astype(np.float64) for each in self.parameters]
        return [
            net_of([(w[m], b[m, 0]) for w, b in zip(arrays[::2], arrays[1::2], strict=True)], inputs, outputs)
            for m in range(len(arrays[0]))
        ]


def annealed(done: float) -> float:
    """Learning rate after a share of the training, as a share of the largest."""
    return 0.5 * (1.0 + math.cos(math.pi * done)) + LAST_RATE
