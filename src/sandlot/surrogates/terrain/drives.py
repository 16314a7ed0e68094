"""Recorded drives as the nets of a learned rover are trained on them, and the symmetries of a rover."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sandlot.geometry.planar import wrap
from sandlot.physics.soil import SoilKind
from sandlot.robots.rover import wheel_speeds
from sandlot.surrogates.terrain.contact import AHEAD, LEFT, QUARTERS, SEEN, SHIFT
from sandlot.surrogates.terrain.feet import FOOT
from sandlot.surrogates.terrain.grip import GRIPS, SPOTS, hold_along, loads_of, spots_of
from sandlot.surrogates.terrain.inputs import shear_of
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array, IntArray

SYMMETRIC = 1e-6
"""Feet of a symmetric rover agree to this [m]."""
WHEELS, RESTS = slice(3, 5), slice(5, 8)
MOVED = (0, 1, 2, 5, 6, 7)
"""Of the states of a rover (three speeds, two wheel speeds; height, pitch and roll relative to where it would rest),
a net changes these; those of the wheels follow from the motors."""
MOVES = len(MOVED)
STATES = 8 + MOVES
"""A net also gets to see the last changes: they tell the forces, which do not change at once."""


@dataclass(frozen=True, eq=False)
class Drive:
    """One recorded episode of T frames after the rover was put down. In the first of them it settles on the ground.

    Attributes:
        position: (T + 1, 3) of the chassis, without jumps where the ground wraps [m].
        attitude: (T + 1, 3) roll, pitch and yaw [rad].
        wheels: (T + 1, 2) speeds of the left and the right wheels [rad/s].
        commands: (T, 2) forward speed [m/s] and turn rate [rad/s] until the next frame.
        seen: (T, SEEN) of the ground of each frame, where the rover is one frame later, as `look` gives it.
        middles: (T,) height at which the rover would rest there [m].
        soil: (inputs,) as `soil_inputs` gives it.
        interval: Between frames [s].
        kind: Of soil; None for other ground.
        deforms: Whether the ground yields.
    """

    position: Array
    attitude: Array
    wheels: Array
    commands: Array
    seen: Array
    middles: Array
    soil: Array
    interval: float
    kind: SoilKind | None = None
    deforms: bool = True

    @property
    def motion(self) -> Array:
        """Horizontal speed ahead and to the left [m/s] and turn rate [rad/s] until each next frame: (T, 3)."""
        yaw = self.attitude[:, 2]
        turn = wrap(np.diff(yaw))
        middle, (dx, dy) = yaw[:-1] + 0.5 * turn, np.diff(self.position[:, :2], axis=0).T
        c, s = np.cos(middle), np.sin(middle)
        return np.column_stack([c * dx + s * dy, c * dy - s * dx, turn]) / self.interval

    @property
    def rests(self) -> Array:
        """Height [m], pitch and roll [rad] relative to where the rover would rest, one frame later: (T, 3)."""
        ahead, left = self.seen[:, -2:].T
        roll, pitch, _ = self.attitude[1:].T
        return np.column_stack([self.position[1:, 2] - self.middles, pitch + np.arctan(ahead), roll - np.arctan(left)])

    @property
    def states(self) -> Array:
        """Motion, wheel speeds, rests, and the last changes that a net would give, one frame later: (T, STATES)."""
        motion, rests = self.motion, self.rests
        changes = np.column_stack([np.diff(motion, axis=0), np.diff(rests, axis=0) - self.shifts])
        return np.column_stack([motion, self.wheels[1:], rests, np.vstack([np.zeros(MOVES), changes])])

    @property
    def shifts(self) -> Array:
        """Changes of rests from frame to frame that are those of the ground: (T - 1, 3).

        They are there because the rover would rest elsewhere than where its slope made one expect; the rover itself
        has not moved.
        """
        ahead, left = self.seen[:, -2:].T
        lying = np.column_stack([self.middles, -np.arctan(ahead), np.arctan(left)])
        dx, dy = self.interval * self.motion[1:, :2].T
        expected = np.column_stack([dx * ahead[:-1] + dy * left[:-1], np.zeros((len(dx), 2))])
        return np.asarray(expected - np.diff(lying, axis=0))

    def rows(self, shape: Shape) -> Array:
        """What a net gets in frames 1 to T - 1 besides the state and the soil: (T - 1, rows), as `step.fill_inputs`."""
        speed, turn_rate = self.commands[1:].T
        targets = wheel_speeds(speed, turn_rate, shape.base, shape.radius, shape.top_speed)
        return np.column_stack([self.seen[:-1], targets])

    def grips(self, shape: Shape) -> Array:
        """Grip after each frame: (T, GRIPS)."""
        states = np.ascontiguousarray(self.states)
        return np.asarray(hold_along(spots_of(shape), self.interval, shear_of(self.soil), self.seen, states))

    def inputs(self, shape: Shape) -> Array:
        """All inputs of a net in frames 1 to T - 1, besides the soil: (T - 1, inputs)."""
        held = self.grips(shape)[:-1] * loads_of(self.seen[:-1])
        return np.column_stack([self.rows(shape), self.states[:-1], held])


class Symmetry(NamedTuple):
    """What rows and states become if left and right, or front and back, are exchanged: ``x[..., order] * signs``.

    Attributes:
        rows: (rows,) order.
        row_signs: (rows,)
        states: (STATES,) order.
        state_signs: (STATES,)
        grips: (GRIPS,) order.
        grip_signs: (GRIPS,)
    """

    rows: IntArray
    row_signs: Array
    states: IntArray
    state_signs: Array
    grips: IntArray
    grip_signs: Array

    def then(self, other: "Symmetry") -> "Symmetry":
        """Both, one after the other."""
        return Symmetry(
            self.rows[other.rows],
            self.row_signs[other.rows] * other.row_signs,
            self.states[other.states],
            self.state_signs[other.states] * other.state_signs,
            self.grips[other.grips],
            self.grip_signs[other.grips] * other.grip_signs,
        )


def is_symmetric(shape: Shape, signs: tuple[float, float]) -> bool:
    """Whether a rover is the same after x and y were multiplied by signs."""
    feet = np.stack([shape.feet[name] for name in FOOT.names or ()], axis=1)
    moved = feet * (*signs, 1.0, 1.0, 1.0, 1.0)
    away = np.abs(moved[:, None] - feet[None]).sum(axis=2).min(axis=0).max()
    return bool(away < SYMMETRIC and np.abs(shape.centre[:2] * signs - shape.centre[:2]).max() < SYMMETRIC)


def symmetries(shape: Shape, soil: int) -> list[Symmetry]:
    """Those of a rover: nothing, and left and right, front and back, or both exchanged, as far as it is symmetric.

    Args:
        shape: Of the rover.
        soil: How many inputs describe the soil.
    """
    rows = SEEN + soil + 2
    same = np.arange(rows), np.ones(rows), np.arange(STATES), np.ones(STATES), np.arange(GRIPS), np.ones(GRIPS)
    found, spots = [Symmetry(*same)], spots_of(shape)
    swapped = np.array([0, 1, 2, 4, 3, 5, 6, 7, *range(8, STATES)])
    left_right = np.array([1, -1, -1, 1, 1, 1, 1, -1, *(1, -1, -1, 1, 1, -1)], np.float64)
    front_back = np.array([-1, -1, 1, -1, -1, 1, -1, -1, *(-1, -1, 1, 1, -1, -1)], np.float64)
    for signs, of_states in (((1.0, -1.0), left_right), ((-1.0, -1.0), front_back)):
        if not is_symmetric(shape, signs):
            continue
        places = np.abs(spots[:, None] * signs - spots[None]).sum(axis=2).argmin(axis=0)
        of_quarters = np.arange(0, SEEN - 2, QUARTERS)[:, None] + places[:QUARTERS]
        of_seen = np.ones((SEEN - 2) // QUARTERS)
        of_seen[[SHIFT // QUARTERS, AHEAD // QUARTERS]], of_seen[LEFT // QUARTERS] = signs[0], signs[1]
        whole = np.concatenate([of_quarters.ravel(), np.arange(SEEN - 2, rows - 2), [rows - 1, rows - 2]])
        of_rows = np.concatenate([np.repeat(of_seen, QUARTERS), signs, np.ones(soil), [signs[0], signs[0]]])
        of_grips = (2 * places[:, None] + np.arange(2)).ravel(), np.tile(signs, SPOTS)
        one = Symmetry(whole, of_rows, swapped, of_states, *of_grips)
        found += [each.then(one) for each in found]
    return found
