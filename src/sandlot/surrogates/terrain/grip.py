"""How far the soil under a rover is sheared: a memory that its speeds do not hold.

Soil resists slip like a spring until it shears off: the resisting share of its strength follows slip as Janosi and
Hanamoto describe, and is lost with the soil that the rover leaves behind. A rover therefore overshoots, and swings
several times a second. Shares are kept at eight spots: four corners, which stand for all wheels or belts, and four that
stand for the quarters of its underside, which drags in soft soil.
"""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.terrain.contact import DRAGGED, ENTRY, LEVER, LOAD, QUARTERS, UNDER
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array

CORNERS, SPOTS = QUARTERS, 2 * QUARTERS
GRIPS = 2 * SPOTS
"""Shares ahead and to the left, of each spot."""
ASIDE = 0.01
"""Distance after which feet that slide sideways have left the sheared soil behind [m], chosen to explain the recorded
accelerations of training drives best. Ahead, it is how far they have gone over the soil that carries them."""
SLOWEST = 1e-12
"""Squared slip [m^2/s^2]."""


def spots_of(shape: Shape) -> Array:
    """Where grip is kept, in the axes of the chassis: (SPOTS, 2) [m]; the quarters of wheels, then of the underside."""
    signs = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    return np.concatenate([signs * shape.corner, signs * shape.middle])


def loads_of(seen: Array) -> Array:
    """The load on each grip (..., GRIPS), from what is seen of the ground (..., SEEN)."""
    both = np.concatenate([seen[..., LOAD : LOAD + QUARTERS], seen[..., UNDER : UNDER + QUARTERS]], axis=-1)
    return np.asarray(np.repeat(both, 2, axis=-1))


@kernel(error_model="numpy", allocates=False)
def hold(
    spots: Array, dt: float, shear: float, seen: Array, motion: Array, left: float, right: float, grip: Array
) -> None:
    """Change the grip at all spots by one frame.

    Args:
        spots: (SPOTS, 2) as `spots_of` gives them [m].
        dt: Length of the frame [s].
        shear: Janosi and Hanamoto's length of the soil [m].
        seen: (SEEN,) of the ground.
        motion: (3,) speed ahead and to the left [m/s], and turn rate [rad/s].
        left: Speed of the left wheels [rad/s].
        right: Speed of the right wheels [rad/s].
        grip: (GRIPS,) from -1 to 1; changed in place.
    """
    per_shear = dt / shear
    for k in range(SPOTS):
        ahead, aside = motion[0] - motion[2] * spots[k, 1], motion[1] + motion[2] * spots[k, 0]
        rim, travel = 0.0, seen[DRAGGED + k - CORNERS]
        if k < CORNERS:
            rim, travel = (left if spots[k, 1] > 0.0 else right) * seen[LEVER + k], seen[ENTRY + k]
        slip = rim - ahead
        sheared = per_shear * math.sqrt(slip * slip + aside * aside + SLOWEST)
        kept = 1.0 / (1.0 + dt / travel * abs(ahead) + dt / ASIDE * abs(aside) + sheared)
        grip[2 * k] = (grip[2 * k] + per_shear * slip) * kept
        grip[2 * k + 1] = (grip[2 * k + 1] - per_shear * aside) * kept


@kernel(error_model="numpy")
def hold_along(spots: Array, dt: float, shear: float, seen: Array, states: Array) -> Array:
    """Grip after each frame of a drive: seen (T, SEEN), states (T, 5 or more) motion and wheel speeds; (T, GRIPS)."""
    found, grip = np.zeros((len(states), GRIPS)), np.zeros(GRIPS)
    for t in range(len(states)):
        hold(spots, dt, shear, seen[t], states[t, :3], states[t, 3], states[t, 4], grip)
        found[t] = grip
    return found


def speeds_of(shape: Shape) -> tuple[Array, Array]:
    """Speeds at all spots, as products with motion and wheel speeds: of wheels (5, SPOTS), over ground (5, GRIPS)."""
    over, wheels = np.zeros((5, SPOTS, 2)), np.zeros((5, SPOTS))
    for k, (x, y) in enumerate(spots_of(shape).tolist()):
        over[0, k, 0], over[2, k, 0], over[1, k, 1], over[2, k, 1] = 1.0, -y, 1.0, x
        if k < CORNERS:
            wheels[3 if y > 0.0 else 4, k] = 1.0
    return wheels, over.reshape(5, GRIPS)
