"""What is kept of particles, and the constants of how they touch."""

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandlot.typing import Array, IntArray

Single: TypeAlias = NDArray[np.float32]

INNER: dict[str, Any] = {
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "allocates": False,
}
"""Options of kernels that only other kernels call: without a way in from Python they compile a third faster, and
without counting who uses an array, which they therefore cannot make, they run a third faster."""
SLOTS = 16
"""Neighbours that a particle can have, walls and floor included; twelve equal spheres can touch one."""
GRIPS = 3
"""Shapes of bodies that a particle can hold on to at the same time."""
SKIN = 0.2
"""How much farther apart than touching two particles are neighbours [radius]."""
WALLS = 5
"""Sides of the container: low and high x, low and high y, the floor. As neighbours these are -1 to -5."""

X, V, W, F, T = 0, 3, 6, 9, 12
"""Where `State.motion` has position [m], velocity [m/s], angular velocity [rad/s], force [N] and torque [N*m]."""
REST, ANCHOR = 0, 3
"""Where `State.marks` has the place where a particle was when it last moved by more than the tolerance, and that where
it was when its neighbours were last looked for [m]."""
DEGREE, STILL, ASLEEP, AFTER, BEFORE = range(5)
"""Where `State.links` has the number of neighbours, for how many steps a particle has not moved, whether it sleeps, and
who is next and previous in the same cell of the grid (-1 for nobody)."""
AWAKE, STEP, CROWDED = range(3)
"""Where `State.tally` has how many are awake, the number of the step, and how often there was no slot left."""


class Law(NamedTuple):
    """What happens where two particles touch, and to each of them.

    Attributes:
        radius: [m]
        mass: [kg]
        inertia: [kg*m^2]
        stiffness: Of a contact along its normal [N/m].
        damping: [N*s/m]
        slip_stiffness: Of a contact that sticks [N/m].
        slip_damping: [N*s/m]
        roll_stiffness: Of a contact that does not roll [N*m/rad].
        roll_damping: [N*m*s/rad]
        friction: Tangential force over normal force, at most.
        rolling: Rolling torque over normal force and radius, at most.
        gravity: [m/s^2]
        tolerance: Who moved less than this did not move [m].
        patience: Who did not move for so long sleeps [s].
    """

    radius: float
    mass: float
    inertia: float
    stiffness: float
    damping: float
    slip_stiffness: float
    slip_damping: float
    roll_stiffness: float
    roll_damping: float
    friction: float
    rolling: float
    gravity: float
    tolerance: float
    patience: float

    @property
    def longest_step(self) -> float:
        """How long a step may be [s]: a thirtieth of the period of two particles on their spring."""
        return 0.2 / math.sqrt(2.0 * self.stiffness / self.mass)


class State(NamedTuple):
    """All there is to know about n particles, as arrays; kernels change them in place.

    Attributes:
        motion: (n, 16) from X, V, W, F and T on, three each. Forces are zero between steps.
        marks: (n, 6) from REST and ANCHOR on, three each.
        links: (n, 5) DEGREE, STILL, ASLEEP, AFTER and BEFORE.
        neighbour: (n, SLOTS, 2) who is near each (or which wall), and in which slot of that it is itself.
        spring: (n, SLOTS, 6) how far each contact has been strained: slip [m] and roll [rad], as vectors. Of two
            particles the one with the lower number keeps it.
        grip: (n, GRIPS, 2) which shapes of bodies each holds, and the last step in which it did.
        grip_spring: (n, GRIPS, 6) as ``spring``.
        awake: (n,) who is awake; the first ``tally[AWAKE]`` count.
        head: (nz, ny, nx) who is first in a cell of the grid, by anchor; -1 for nobody.
        box: (4,) low x, high x, low y and high y of the container [m].
        tally: (3,) AWAKE, STEP and CROWDED.
    """

    motion: Array
    marks: Array
    links: IntArray
    neighbour: IntArray
    spring: Single
    grip: IntArray
    grip_spring: Single
    awake: IntArray
    head: IntArray
    box: Array
    tally: IntArray


def new_state(position: Array, radius: float, box: Array, top: float) -> State:
    """Particles at rest and awake, in an empty grid.

    Args:
        position: (n, 3) [m]
        radius: [m]
        box: (4,) low x, high x, low y and high y of the container [m].
        top: How high the grid reaches [m]; who is higher counts as in its highest cells.
    """
    n, cell = len(position), (2.0 + SKIN) * radius
    columns, rows, layers = (max(math.ceil(size / cell), 1) for size in (box[1] - box[0], box[3] - box[2], top))
    motion = np.zeros((n, 16))
    motion[:, X : X + 3] = position
    links = np.zeros((n, 5), np.int64)
    links[:, [AFTER, BEFORE]] = -1
    return State(
        motion=motion,
        marks=np.tile(np.asarray(position, np.float64), 2),
        links=links,
        neighbour=np.zeros((n, SLOTS, 2), np.int64),
        spring=np.zeros((n, SLOTS, 6), np.float32),
        grip=np.full((n, GRIPS, 2), -2, np.int64),
        grip_spring=np.zeros((n, GRIPS, 6), np.float32),
        awake=np.arange(n, dtype=np.int64),
        head=np.full((layers, rows, columns), -1, np.int64),
        box=np.asarray(box, np.float64),
        tally=np.array([n, 0, 0], np.int64),
    )
