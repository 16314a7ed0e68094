"""Stretches of recorded drives, as the nets of a learned rover are trained on them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.extras import need
from sandlot.surrogates.terrain.drives import RESTS, Drive, symmetries
from sandlot.surrogates.terrain.ensemble import NEAR_ZERO, Scaling, Tensor, Trained, scaling, scaling_of_soils
from sandlot.surrogates.terrain.grip import GRIPS
from sandlot.surrogates.terrain.inputs import FRICTION, shear_of
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array

LEAST_SPEED, LEAST_REST = 0.25, 0.15
"""Errors count relative to how much a drive moves and rocks, but at least to these shares of the mean drive."""
TURN_ARM = 0.1
"""A turn rate counts as the speed at this distance [m]."""


class Stretches:
    """Stretches of drives for the training, scaled.

    Attributes:
        rows: (parts, T - 1, rows).
        states: (parts, T, STATES).
        grips: (parts, T, GRIPS) before each frame.
        shifts: (parts, T - 1, 3) as of `Drive`.
        soils: (parts, soil inputs).
        shears: (parts,) [m].
        frictions: (parts,)
        importance: (parts, MOVES) of squared errors.
        row_scaling: Of rows.
        state_scaling: Of states.
        soil_scaling: Of soils.
    """

    def __init__(self, drives: Sequence[Drive], shape: Shape, like: Trained | None = None) -> None:
        """Cut all drives into parts as long as the shortest; scale them as nets that were trained before."""
        self._torch = torch = need("torch", "learn")
        frames = min(len(drive.commands) for drive in drives)
        parts = [
            (drive, slice(first, first + frames))
            for drive in drives
            for first in range(0, len(drive.commands) - frames + 1, frames)
        ]
        of_drive = {id(drive): _whole(drive, shape) for drive in drives}
        rows = np.stack([of_drive[id(drive)][0][part][: frames - 1] for drive, part in parts])
        states, grips = (np.stack([of_drive[id(drive)][k][part] for drive, part in parts]) for k in (1, 2))
        shifts = np.stack([of_drive[id(drive)][3][part][: frames - 1] for drive, part in parts])
        soils = np.stack([drive.soil for drive, _ in parts])
        kinds = symmetries(shape, 0)
        of_states = [(each.states, each.state_signs) for each in kinds]
        if like is None:
            self.row_scaling = scaling(rows, [(each.rows, each.row_signs) for each in kinds])
            self.state_scaling = scaling(states, of_states)
            self.soil_scaling = scaling_of_soils(soils)
        else:
            many = slice(rows.shape[2]), slice(rows.shape[2], rows.shape[2] + states.shape[2])
            self.row_scaling, self.state_scaling = (Scaling(like.means[each], like.scales[each]) for each in many)
            # Weights of parameters that do not change in these drives are kept.
            self.soil_scaling = scaling(soils, [(np.arange(soils.shape[1]), np.ones(soils.shape[1]))])

        def tensor(values: NDArray[Any]) -> Tensor:
            return torch.tensor(values, dtype=torch.float32)

        self.rows = tensor((rows - self.row_scaling.mean) / self.row_scaling.scale)
        self.states = tensor((states - self.state_scaling.mean) / self.state_scaling.scale)
        self.soils = tensor((soils - self.soil_scaling.mean) / self.soil_scaling.scale)
        self.grips, self.importance = tensor(grips), tensor(importance(states))
        self.shifts = tensor(shifts / self.state_scaling.scale[RESTS])
        self.shears, self.frictions = tensor(np.array([shear_of(each) for each in soils])), tensor(soils[:, FRICTION])
        self._kinds: list[Any] = [
            [tensor(each) if each.dtype.kind == "f" else torch.tensor(each) for each in kind] for kind in kinds
        ]

    def cut(self, drive: Tensor, start: Tensor, frames: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Rows, states, the first grip, and shifts, of some stretches.

        Equal parts of the batch show the rover as it is, and as its symmetries exchange left and right, and front
        and back.

        Args:
            drive: (members, batch) number of the part.
            start: (members, batch) its first frame.
            frames: Length.

        Returns:
            (members, batch, frames, rows), (members, batch, frames + 1, STATES), (members, batch, GRIPS), and
            (members, batch, frames, 3).
        """
        index = start[..., None] + self._torch.arange(frames + 1)
        whole = (
            self.rows[drive[..., None], index[..., :-1]],
            self.states[drive[..., None], index],
            self.grips[drive, start],
        )
        parts, found, shifts = len(self._kinds), [], []
        for k, kind in enumerate(self._kinds):
            at = slice(k * drive.shape[1] // parts, (k + 1) * drive.shape[1] // parts)
            shifts.append(self.shifts[drive[:, at, None], index[:, at, :-1]] * kind[3][RESTS])
            found.append([each[:, at][..., kind[2 * m]] * kind[2 * m + 1] for m, each in enumerate(whole)])
        rows, states, grips = (self._torch.cat(each, 1) for each in zip(*found, strict=True))
        return rows, states, grips, self._torch.cat(shifts, 1)


def _whole(drive: Drive, shape: Shape) -> tuple[Array, Array, Array, Array]:
    """Rows, states, the grip before each frame, and shifts, of a drive."""
    return drive.rows(shape), drive.states, np.vstack([np.zeros(GRIPS), drive.grips(shape)[:-1]]), drive.shifts


def importance(states: Array) -> Array:
    """Weights of squared errors (drives, MOVES) for recorded states (drives, T, STATES); their mean is 1."""
    speed = np.sqrt((states[..., 0] ** 2 + (TURN_ARM * states[..., 2]) ** 2).mean(axis=1))
    rocking = states[..., 5:8].std(axis=1)
    of_motion = (LEAST_SPEED + (1.0 - LEAST_SPEED) * speed / max(speed.mean(), NEAR_ZERO)) ** -2
    of_rests = (LEAST_REST + (1.0 - LEAST_REST) * rocking / np.maximum(rocking.mean(axis=0), NEAR_ZERO)) ** -2
    found = np.column_stack([of_motion, of_motion, of_motion, of_rests])
    return np.asarray(found / found.mean(axis=0))
