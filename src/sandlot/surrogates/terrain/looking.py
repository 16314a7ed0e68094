"""When a rover looks at the ground, and where it would rest until it looks again."""

import math

import numpy as np

from sandlot.geometry.planar import wrap_compiled
from sandlot.kernels import kernel
from sandlot.surrogates.terrain.contact import SEEN, look
from sandlot.surrogates.terrain.drives import MOVES
from sandlot.surrogates.terrain.feet import Ground
from sandlot.surrogates.terrain.grip import GRIPS
from sandlot.surrogates.terrain.springs import Body, Give, Springs
from sandlot.typing import Array

STATE = np.dtype(
    [
        ("position", np.float64, 3),
        ("attitude", np.float64, 3),
        ("motion", np.float64, 3),
        ("wheels", np.float64, 2),
        ("commanded", np.float64, 2),
        ("angles", np.float64, 2),
        ("rest", np.float64, 3),
        ("change", np.float64, MOVES),
        ("grip", np.float64, GRIPS),
        ("still", np.float64),
        ("since", np.int64),
        ("waited", np.int64),
        ("last_position", np.float64, 3),
        ("last_attitude", np.float64, 3),
        ("looked", np.float64, 3),
        ("at_rest", np.float64, 3),
        ("slope", np.float64, 2),
        ("turned", np.float64, 2),
        ("imprints", np.int64),
    ]
)
"""A learned rover: position [m]; roll, pitch and yaw [rad]; its horizontal speed ahead and to the left [m/s] and its
turn rate [rad/s]; speeds, commanded speeds [rad/s] and angles [rad] of its left and its right wheels; its height [m],
pitch and roll [rad] relative to where it would rest; the last changes of its motion and of these; its grip; 1 if it
stands still, else 0; least mark of the nodes below it; frames since it last changed the ground, and its
position and attitude then; place [m] and yaw [rad] where it last looked at the ground, height [m], pitch and roll
[rad] at which it would rest there, its slopes along x and y, and the speeds of its wheels [rad/s] then; and how often
it has changed the ground since."""
LOOK, LOOK_WHEELS, LOOK_IMPRINTS = 0.02, 0.3, 3
"""A rover looks at the ground again when its feet have moved by this [m], the speed of its wheels has changed by this
[rad/s], or it has changed the ground so often."""
ABOVE = 1.0
"""A rover that is put down was higher by this before [m]."""
NEVER = 2**62
"""``since`` of a rover that is above no node yet."""


@kernel(error_model="numpy", allocates=False)
def higher(state: np.void) -> float:
    """How much higher a rover would rest than where it looked last, if the ground goes on as it was there [m]."""
    position, looked, slope = state["position"], state["looked"], state["slope"]
    dx, dy = position[0] - looked[0], position[1] - looked[1]
    return 0.0 if math.isnan(dx) else dx * slope[0] + dy * slope[1]  # NaN where it has not looked yet


@kernel(error_model="numpy", allocates=False)
def look_below(body: Body, give: Give, state: np.void, ground: Ground, springs: Springs, seen: Array) -> None:
    """`look` below a rover, which stays where it is; the search begins where it has seen that it would rest.

    Args:
        body: The rover.
        give: How the ground gives way.
        state: Of STATE; changed in place.
        ground: As it is.
        springs: Room for those below it.
        seen: (SEEN,) to be filled.
    """
    place, yaw, at_rest, looked = state["position"], state["attitude"][2], state["at_rest"], state["looked"]
    at_rest[0] += higher(state)
    for m in range(3):
        springs.rest[m] = at_rest[m]
    look(body, ground, place, yaw, state["wheels"], give, springs, seen)
    for m in range(3):
        state["rest"][m] += at_rest[m] - springs.rest[m]
        at_rest[m] = springs.rest[m]
    looked[0], looked[1], looked[2] = place[0], place[1], yaw
    state["imprints"] = 0
    state["turned"][0], state["turned"][1] = state["wheels"][0], state["wheels"][1]
    c, s, ahead, left = math.cos(yaw), math.sin(yaw), seen[SEEN - 2], seen[SEEN - 1]
    state["slope"][0], state["slope"][1] = c * ahead - s * left, s * ahead + c * left


@kernel(error_model="numpy", allocates=False)
def has_left(lever: float, state: np.void) -> bool:
    """Whether a rover has moved or changed the ground so much, or its wheels turn so differently, that it looks again.

    ``lever`` is as of `has_moved`.
    """
    position, looked = state["position"], state["looked"]
    dx, dy = position[0] - looked[0], position[1] - looked[1]
    moved = math.sqrt(dx * dx + dy * dy) + lever * abs(wrap_compiled(state["attitude"][2] - looked[2]))
    left, right = state["wheels"][0] - state["turned"][0], state["wheels"][1] - state["turned"][1]
    same = moved <= LOOK and max(abs(left), abs(right)) <= LOOK_WHEELS  # NaN where it has not looked yet
    return not same or state["imprints"] >= LOOK_IMPRINTS
