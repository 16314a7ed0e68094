"""How well a stuck robot gets on: the reward of Vincent 2008, equation 35 with table 5."""

from dataclasses import dataclass

import numpy as np

from sandlot.typing import Array

NARROW = (0.17, 0.33, -0.5, 0.5, 0.17, 0.03)
"""Row a of table 5: on a narrow box."""
STAIRS = (0.17, 0.33, 0.17, 0.08, 0.08)
"""Row b: up stairs."""
OTHER = (0.17, 0.33, 0.5, 0.17)
"""Row c: on steps, and anywhere else."""
BELOW = -0.15
"""P_k of a narrow box is lower than this [m]."""
LEVEL = np.deg2rad(-5.0)
"""Pitch on a narrow box is more than this [rad]."""
PROGRESS = 0.1
"""Forward speed that counts as progress [m/s]."""


@dataclass(frozen=True, eq=False)
class Motion:
    """What happened to n robots in an iteration.

    Attributes:
        forward: (n,) velocity v_x [m/s].
        up: (n,) velocity v_z [m/s].
        pitch: (n,) positive with the nose down [rad].
        aim: (n,) height P_k of the point at which the front tracks would aim, above the middle of the body [m].
        centre: (n, 2) mass centre from the middle of the body, forward and up [m]: annex A.
        before: (n, 2) the same, an iteration before [m].
    """

    forward: Array
    up: Array
    pitch: Array
    aim: Array
    centre: Array
    before: Array


def reward(motion: Motion, speed: float) -> Array:
    """Rewards (n,), with ``speed`` the nominal one [m/s]."""
    progress = np.where(motion.forward > PROGRESS, 1.0, -1.0)
    forward, up, nose = motion.forward / speed, motion.up / speed, motion.pitch / (0.5 * np.pi)
    moved, was = (motion.centre - motion.before).T, np.abs(motion.before[:, 0])
    rise, shift = np.sign(moved[1]), np.divide(moved[0], was, out=np.zeros_like(was), where=was > 0.0)
    terms = {
        NARROW: (progress, forward, up, nose, rise, shift),
        STAIRS: (progress, forward, up, rise, np.sign(shift)),
        OTHER: (progress, forward, nose, shift),
    }
    narrow, stairs, other = (
        sum((weight * term for weight, term in zip(weights, values, strict=True)), np.zeros_like(was))
        for weights, values in terms.items()
    )
    on_narrow = (motion.aim < BELOW) & (motion.pitch > LEVEL)
    on_stairs = (motion.aim > 0.0) & (motion.pitch < 0.0)
    return np.where(on_narrow, narrow, np.where(on_stairs, stairs, other))
