"""The terrain net of version 2: 20 hidden layers of 500 linear nodes predict how a window of a height map changes.

Inputs are the four numbers of the other nets and the last change of all 128 x 128 pixels; outputs are their next
change. As in the source, a change is one cropped image less the one before, each cropped about the rover's position in
its own frame. Whenever the rover enters another pixel, the whole window moves, and the change is that of the view, not
of the ground. If views do not follow, both are cropped at the later position instead.

It has 21 million weights; `train` measures the time of a step.
"""

import itertools
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.extras import need
from sandlot.kernels import kernel
from sandlot.surrogates.published.version2 import BATCH, DECAY, EPSILON, FIRST_WEIGHT, MOMENTUM
from sandlot.typing import Array

SIDE = 128
HIDDEN_LAYERS, WIDTH = 20, 500
RATE = 1e-3
"""Of Adam, by default of Keras."""
LEVELS = 255
"""Of a grey value."""


@dataclass(frozen=True, eq=False)
class Views:
    """Changes of the view of a rover in the frames of a session.

    Attributes:
        changes: (frames, 128, 128) of grey values.
        inputs: (frames, 4) of the motion in the same frames, from -1 to 1.
    """

    changes: NDArray[np.int16]
    inputs: Array

    def pairs(self, chosen: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Inputs (n, 4 + pixels) and targets (n, pixels) of frames that have one before; changes of grey values."""
        flat = self.changes.reshape(len(self.changes), -1)
        before, after = (flat[k].astype(np.float32) for k in (chosen - 1, chosen))
        return np.column_stack([self.inputs[chosen].astype(np.float32), before]), after


@kernel(error_model="numpy")
def crop(grey: NDArray[np.uint8], row: int, column: int, window: NDArray[np.int16]) -> None:
    """Copy the window whose first pixel is at a row and a column; the image continues at its opposite edge."""
    ny, nx = grey.shape
    for i in range(window.shape[0]):
        for j in range(window.shape[1]):
            window[i, j] = grey[(row + i) % ny, (column + j) % nx]


def grey_values(heights: Array, low: float, high: float) -> NDArray[np.uint8]:
    """Heights as an image whose black and white are two heights [m]."""
    return np.rint(np.clip((heights - low) * (LEVELS / (high - low)), 0.0, LEVELS)).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained net.

    Attributes:
        net: The PyTorch module, in evaluation mode.
        errors: (epochs,) mean squared error during each epoch.
        step: Time of a training step [s].
    """

    net: Any
    errors: Array
    step: float

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Changes (n, pixels) of grey values, for inputs (n, 4 + pixels)."""
        torch = need("torch", "learn")
        with torch.no_grad():
            return np.asarray(self.net(torch.from_numpy(inputs)).numpy())


class Ridge:
    """The linear map with the least squared error and a penalty on its size.

    A net of linear layers is a linear map, so that this shows what any training of it can reach. It is found from the
    inner products of samples, for several penalties.

    Args:
        sessions: To fit it to.
    """

    def __init__(self, sessions: list[Views]) -> None:
        parts = [each.pairs(np.arange(1, len(each.changes))) for each in sessions]
        inputs, targets = (np.concatenate(part) for part in zip(*parts, strict=True))
        self._centre, self._mean = inputs.mean(axis=0), targets.mean(axis=0)
        self._inputs, self._targets = inputs - self._centre, targets - self._mean
        self._values, self._vectors = np.linalg.eigh((self._inputs @ self._inputs.T).astype(np.float64))

    def predict(self, inputs: NDArray[np.float32], penalty: float) -> NDArray[np.float32]:
        """Changes (n, pixels) for inputs (n, 4 + pixels); the penalty is a share of the mean square of a sample."""
        damped = 1.0 / (np.maximum(self._values, 0.0) + penalty * self._values.mean())
        shares = (((inputs - self._centre) @ self._inputs.T) @ self._vectors * damped) @ self._vectors.T
        return np.asarray(shares.astype(np.float32) @ self._targets + self._mean)


def train(sessions: list[Views], epochs: int, seed: int) -> Fit:
    """Train the net with all frames of sessions, on one thread, with the same result for the same seed."""
    torch = need("torch", "learn")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _train(torch, sessions, epochs, seed)
    finally:
        torch.set_num_threads(threads)


def _train(torch: Any, sessions: list[Views], epochs: int, seed: int) -> Fit:
    generator = torch.Generator().manual_seed(seed)
    sizes = [SIDE * SIDE + 4, *(HIDDEN_LAYERS * [WIDTH]), SIDE * SIDE]
    layers = []
    for size, width in itertools.pairwise(sizes):
        layer = torch.nn.Linear(size, width)
        torch.nn.init.uniform_(layer.weight, -FIRST_WEIGHT, FIRST_WEIGHT, generator=generator)
        torch.nn.init.zeros_(layer.bias)
        layers += [layer, torch.nn.BatchNorm1d(width, EPSILON, 1.0 - MOMENTUM)]
    net = torch.nn.Sequential(*layers)
    weights = [layer.weight for layer in layers[::2]]
    others = [each for each in net.parameters() if each.ndim == 1]
    # The gradient of DECAY times the sum of squares.
    groups = [{"params": weights, "weight_decay": 2.0 * DECAY}, {"params": others}]
    descent = torch.optim.Adam(groups, RATE, fused=True)
    samples = np.concatenate([[(k, n) for n in range(1, len(each.changes))] for k, each in enumerate(sessions)])
    rng, errors, steps, start = np.random.default_rng(seed), [], 0, time.process_time()
    for _ in range(epochs):
        order, losses = rng.permutation(len(samples)), []
        for first in range(0, len(order) - BATCH + 1, BATCH):
            mine = samples[order[first : first + BATCH]]
            parts = [sessions[k].pairs(mine[mine[:, 0] == k, 1]) for k in range(len(sessions))]
            inputs, targets = (torch.from_numpy(np.concatenate(part)) for part in zip(*parts, strict=True))
            loss = torch.nn.functional.mse_loss(net(inputs), targets)
            losses.append(loss.item())
            descent.zero_grad()
            loss.backward()
            descent.step()
        steps += len(losses)
        errors.append(float(np.mean(losses)))
    return Fit(net.eval(), np.array(errors), (time.process_time() - start) / max(steps, 1))
