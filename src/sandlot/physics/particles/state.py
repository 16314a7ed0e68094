"""The state of particles, and the constants of their contacts."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.typing import Array, IntArray

INNER: dict[str, Any] = {
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "allocates": False,
}
"""Options of kernels that only other kernels call. Without an entry from Python they compile a third faster; without
reference counts, and so without allocating arrays, they run a third faster."""
MAX_NEIGHBOURS = 16
"""Neighbours that a particle can have, walls and floor included; at most twelve equal spheres can touch one."""
MAX_SHAPE_CONTACTS = 3
"""Shapes of bodies that a particle can touch at the same time."""
NEIGHBOUR_MARGIN = 0.2
"""Two particles are neighbours up to this distance beyond contact [radius]."""
WALLS = 5
"""Sides of the container: low and high x, low and high y, the floor. As neighbours they have the numbers -1 to -5."""

PARTICLE = np.dtype(
    {
        "names": ["position", "velocity", "spin", "force", "torque"],
        "formats": [(np.float64, 3)] * 5,
        "itemsize": 128,
    }
)
"""A particle, in two lines of the processor's cache: position [m], velocity [m/s], angular velocity [rad/s], force [N]
and torque [N*m]. Force and torque are zero between steps."""
MARK = np.dtype([("rest", np.float64, 3), ("anchor", np.float64, 3)])
"""Position of a particle when it last moved by more than the tolerance, and when its neighbours were searched [m]."""
LINK = np.dtype([(name, np.int64) for name in ("neighbours", "still", "asleep", "next", "previous")])
"""Number of neighbours of a particle, steps for which it has not moved, whether it sleeps, and the next and previous
particle in the same cell of the grid (-1 for none)."""
NEIGHBOUR = np.dtype([("other", np.int64), ("slot", np.int64)])
"""A neighbour (a particle, or a wall if negative), and the slot of that neighbour's list that holds this particle."""
SPRING = np.dtype([("slip", np.float32, 3), ("roll", np.float32, 3)])
"""Strain of the springs of a contact: slip [m] and rolling angle [rad], as vectors."""
SHAPE_CONTACT = np.dtype([("shape", np.int64), ("step", np.int64)])
"""A contact with a shape of a body: its number, and the last step in which they touched."""
COUNTERS = np.dtype([("awake", np.int64), ("step", np.int64), ("crowded", np.int64)])
"""Number of particles that are awake, number of the step, and how often a list of neighbours was full."""


class Container(NamedTuple):
    """The walls of the container [m]; its floor is at z = 0."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float


class State(NamedTuple):
    """The state of n particles, as arrays; kernels change them in place.

    Attributes:
        motion: (n,) of PARTICLE.
        marks: (n,) of MARK.
        links: (n,) of LINK.
        neighbours: (n, MAX_NEIGHBOURS) of NEIGHBOUR.
        springs: (n, MAX_NEIGHBOURS) of SPRING. Of two particles the one with the lower number keeps the spring.
        shape_contacts: (n, MAX_SHAPE_CONTACTS) of SHAPE_CONTACT.
        shape_springs: (n, MAX_SHAPE_CONTACTS) of SPRING.
        awake: (n,) numbers of the particles that are awake; the first ``counters["awake"]`` count.
        cells: (nz, ny, nx) the first particle in each cell of the grid, by anchor; -1 for none.
        counters: (1,) of COUNTERS.
        box: The walls.
    """

    motion: NDArray[np.void]
    marks: NDArray[np.void]
    links: NDArray[np.void]
    neighbours: NDArray[np.void]
    springs: NDArray[np.void]
    shape_contacts: NDArray[np.void]
    shape_springs: NDArray[np.void]
    awake: IntArray
    cells: IntArray
    counters: NDArray[np.void]
    box: Container


def new_state(position: Array, radius: float, box: Sequence[float], top: float) -> State:
    """Particles at rest and awake, in an empty grid.

    Args:
        position: (n, 3) [m]
        radius: [m]
        box: Minimum x, maximum x, minimum y and maximum y of the container [m].
        top: Height of the grid [m]; higher particles belong to its highest cells.
    """
    n, cell, walls = len(position), (2.0 + NEIGHBOUR_MARGIN) * radius, Container(*(float(each) for each in box))
    sizes = (walls.x_max - walls.x_min, walls.y_max - walls.y_min, top)
    columns, rows, layers = (max(math.ceil(size / cell), 1) for size in sizes)
    motion, marks, links, counters = (
        np.zeros(count, kind) for count, kind in ((n, PARTICLE), (n, MARK), (n, LINK), (1, COUNTERS))
    )
    motion["position"] = marks["rest"] = marks["anchor"] = position
    links["next"] = links["previous"] = -1
    shape_contacts = np.zeros((n, MAX_SHAPE_CONTACTS), SHAPE_CONTACT)
    shape_contacts["shape"] = shape_contacts["step"] = -2
    counters["awake"] = n
    return State(
        motion=motion,
        marks=marks,
        links=links,
        neighbours=np.zeros((n, MAX_NEIGHBOURS), NEIGHBOUR),
        springs=np.zeros((n, MAX_NEIGHBOURS), SPRING),
        shape_contacts=shape_contacts,
        shape_springs=np.zeros((n, MAX_SHAPE_CONTACTS), SPRING),
        awake=np.arange(n, dtype=np.int64),
        cells=np.full((layers, rows, columns), -1, np.int64),
        counters=counters,
        box=walls,
    )
