"""Which particles are near each other, and which sleep.

Cells of a uniform grid hold particles by their anchors: the places where they were when their neighbours were last
searched. Two particles are neighbours if the distance of their anchors is less than contact and a margin. A particle
that has moved by half the margin gets a new anchor, and only its own list and those around it are updated, so that
resting particles cost nothing. Lists are mutual, and each entry knows its counterpart.

A particle that has not moved for a while sleeps: it keeps its place and its springs, and others touch it like a part of
the container. It wakes when a neighbour in contact, or nearly so, moves by more than the tolerance.
"""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.particles.contacts import gap_to_wall, relax
from sandlot.physics.particles.law import Law
from sandlot.physics.particles.state import INNER, MAX_NEIGHBOURS, NEIGHBOUR_MARGIN, WALLS, Container, State
from sandlot.typing import Array, IntArray


@kernel(error_model="numpy", inline="always")
def squared_distance(a: Array, b: Array) -> float:
    """Squared distance of two points (3,) [m^2]."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


@kernel(**INNER)
def cell_of(cells: IntArray, box: Container, size: float, x: float, y: float, z: float) -> tuple[int, int, int]:
    """Layer, row and column of the cell around a point; outside the grid, the nearest."""
    layers, rows, columns = cells.shape
    layer = min(max(int(z / size), 0), layers - 1)
    row = min(max(int((y - box.y_min) / size), 0), rows - 1)
    column = min(max(int((x - box.x_min) / size), 0), columns - 1)
    return layer, row, column


@kernel(**INNER)
def enter_cell(cells: IntArray, links: NDArray[np.void], at: tuple[int, int, int], i: int) -> None:
    """Put a particle first in a cell."""
    first = cells[at]
    links[i]["previous"], links[i]["next"] = -1, first
    if first >= 0:
        links[first]["previous"] = i
    cells[at] = i


@kernel(**INNER)
def leave_cell(cells: IntArray, links: NDArray[np.void], at: tuple[int, int, int], i: int) -> None:
    """Take a particle out of its cell."""
    before, after = links[i]["previous"], links[i]["next"]
    if before >= 0:
        links[before]["next"] = after
    else:
        cells[at] = after
    if after >= 0:
        links[after]["previous"] = before


@kernel(**INNER)
def are_neighbours(links: NDArray[np.void], neighbours: NDArray[np.void], i: int, j: int) -> bool:
    """Whether j is in the list of i."""
    count, s = links[i]["neighbours"], 0
    while s < count and neighbours[i, s]["other"] != j:
        s += 1
    return s < count


@kernel(**INNER)
def drop(links: NDArray[np.void], neighbours: NDArray[np.void], springs: NDArray[np.void], i: int, s: int) -> None:
    """Remove an entry from a list; the last one takes its place."""
    last = links[i]["neighbours"] - 1
    links[i]["neighbours"] = last
    if s < last:
        moved = neighbours[i, last]
        j, there = moved["other"], moved["slot"]
        neighbours[i, s]["other"], neighbours[i, s]["slot"] = j, there
        for k in range(3):
            springs[i, s]["slip"][k] = springs[i, last]["slip"][k]
            springs[i, s]["roll"][k] = springs[i, last]["roll"][k]
        if j >= 0:
            neighbours[j, there]["slot"] = s


@kernel(**INNER)
def append(
    links: NDArray[np.void], neighbours: NDArray[np.void], springs: NDArray[np.void], i: int, j: int, there: int
) -> None:
    """Append j to the list of i, which is in slot ``there`` of j."""
    s = links[i]["neighbours"]
    neighbours[i, s]["other"], neighbours[i, s]["slot"] = j, there
    links[i]["neighbours"] = s + 1
    relax(springs[i, s])


@kernel(**INNER)
def search(law: Law, state: State, i: int) -> None:
    """Search the neighbours of a particle from where it is now."""
    marks, links, neighbours, springs, cells = state.marks, state.links, state.neighbours, state.springs, state.cells
    size, anchor = (2.0 + NEIGHBOUR_MARGIN) * law.radius, state.marks[i]["anchor"]
    old = cell_of(cells, state.box, size, anchor[0], anchor[1], anchor[2])
    for k in range(3):
        anchor[k] = state.motion[i]["position"][k]
    x, y, z = anchor[0], anchor[1], anchor[2]
    at = cell_of(cells, state.box, size, x, y, z)
    if at != old:
        leave_cell(cells, links, old, i)
        enter_cell(cells, links, at, i)
    s = 0
    while s < links[i]["neighbours"]:
        j, there = neighbours[i, s]["other"], neighbours[i, s]["slot"]
        if j >= 0 and squared_distance(anchor, marks[j]["anchor"]) >= size * size:
            drop(links, neighbours, springs, i, s)
            drop(links, neighbours, springs, j, there)
        elif j < 0 and gap_to_wall(state.box, -1 - j, x, y, z) >= (1.0 + NEIGHBOUR_MARGIN) * law.radius:
            drop(links, neighbours, springs, i, s)
        else:
            s += 1
    for wall in range(WALLS):
        near = gap_to_wall(state.box, wall, x, y, z) < (1.0 + NEIGHBOUR_MARGIN) * law.radius
        if near and links[i]["neighbours"] < MAX_NEIGHBOURS and not are_neighbours(links, neighbours, i, -1 - wall):
            append(links, neighbours, springs, i, -1 - wall, 0)
    layers, rows, columns = cells.shape
    for c in range(max(at[0] - 1, 0), min(at[0] + 2, layers)):
        for b in range(max(at[1] - 1, 0), min(at[1] + 2, rows)):
            for a in range(max(at[2] - 1, 0), min(at[2] + 2, columns)):
                j = cells[c, b, a]
                while j >= 0:
                    near = j != i and squared_distance(anchor, marks[j]["anchor"]) < size * size
                    if near and not are_neighbours(links, neighbours, i, j):
                        if links[i]["neighbours"] < MAX_NEIGHBOURS and links[j]["neighbours"] < MAX_NEIGHBOURS:
                            append(links, neighbours, springs, i, j, links[j]["neighbours"])
                            append(links, neighbours, springs, j, i, links[i]["neighbours"] - 1)
                        else:
                            state.counters[0]["crowded"] += 1
                    j = links[j]["next"]


@kernel(**INNER)
def wake(state: State, i: int) -> None:
    """Wake a particle, or keep it awake for a while."""
    link, counters = state.links[i], state.counters[0]
    link["still"] = 0
    if link["asleep"] != 0:
        link["asleep"] = 0
        state.awake[counters["awake"]] = i
        counters["awake"] += 1


@kernel(**INNER)
def update_neighbours(law: Law, state: State, dt: float) -> None:
    """After a step: search the neighbours of particles that moved far, let still ones sleep, and wake those they push.

    Before the first step the grid is empty, and all particles search their neighbours.
    """
    motion, marks, links, counters = state.motion, state.marks, state.links, state.counters[0]
    far, near = (0.5 * NEIGHBOUR_MARGIN * law.radius) ** 2, (2.0 * law.radius + law.tolerance) ** 2
    fresh, kept = counters["step"] == 0, 0
    if fresh:
        size = (2.0 + NEIGHBOUR_MARGIN) * law.radius
        for i in range(len(marks)):
            anchor = marks[i]["anchor"]
            enter_cell(state.cells, links, cell_of(state.cells, state.box, size, anchor[0], anchor[1], anchor[2]), i)
    for a in range(counters["awake"]):
        i = state.awake[a]
        if links[i]["still"] * dt > law.sleep_delay:
            links[i]["asleep"] = 1
            for k in range(3):
                motion[i]["velocity"][k] = motion[i]["spin"][k] = 0.0
        else:
            state.awake[kept] = i
            kept += 1
    counters["awake"] = kept
    sleepers = kept < len(links)
    for a in range(kept):
        i = state.awake[a]
        position = motion[i]["position"]
        if fresh or squared_distance(position, marks[i]["anchor"]) > far:
            search(law, state, i)
        if sleepers and links[i]["still"] == 0:
            for s in range(links[i]["neighbours"]):
                j = state.neighbours[i, s]["other"]
                if j >= 0 and links[j]["asleep"] != 0 and squared_distance(position, motion[j]["position"]) < near:
                    wake(state, j)
