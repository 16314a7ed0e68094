"""Trains the net that puts a learned rover on untouched ground."""

from collections.abc import Sequence

import numpy as np

from sandlot.extras import need
from sandlot.models.dense import Dense
from sandlot.surrogates.terrain.drives import Drive, Symmetry, symmetries
from sandlot.surrogates.terrain.ensemble import Ensemble, Scaling, annealed, scaling, scaling_of_soils
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array

SETTLING_HIDDEN, SETTLING_STEPS, SETTLING_DECAY = 12, 600, 0.1


def train_settling(drives: Sequence[Drive], shape: Shape, rate: float, seed: int) -> Dense:
    """Train the net that puts a rover on untouched ground; arguments as of `training.train_drives`."""
    torch = need("torch", "learn")
    kinds = symmetries(shape, len(drives[0].soil))
    seen = drives[0].seen.shape[1] + len(drives[0].soil)
    rows = np.stack([np.concatenate([drive.seen[0], drive.soil]) for drive in drives])
    rests = np.stack([drive.rests[0] for drive in drives])

    def turned(each: Symmetry) -> tuple[Array, Array]:
        return rows[:, each.rows[:seen]] * each.row_signs[:seen], rests * each.state_signs[5:8]

    inputs, targets = (np.concatenate(pair) for pair in zip(*(turned(each) for each in kinds), strict=True))
    same = [(np.arange(seen), np.ones(seen))]
    of_inputs, of_soils = scaling(inputs, same), scaling_of_soils(np.stack([drive.soil for drive in drives]))
    many = len(of_soils.mean)
    of_inputs = Scaling(of_inputs.mean, np.append(of_inputs.scale[:-many], of_soils.scale))
    of_targets = scaling(targets, [(np.arange(3), np.ones(3))])
    ensemble = Ensemble([seen, SETTLING_HIDDEN, SETTLING_HIDDEN, 3], 1, seed)
    x = torch.tensor((inputs - of_inputs.mean) / of_inputs.scale).float()[None]
    y = torch.tensor((targets - of_targets.mean) / of_targets.scale).float()[None]
    search = torch.optim.AdamW(ensemble.parameters, lr=rate, weight_decay=SETTLING_DECAY)
    for k in range(SETTLING_STEPS):
        for group in search.param_groups:
            group["lr"] = rate * annealed(k / SETTLING_STEPS)
        error = ((ensemble.outputs(x) - y) ** 2).mean()
        search.zero_grad()
        error.backward()
        search.step()
    return ensemble.nets(of_inputs, of_targets)[0]
