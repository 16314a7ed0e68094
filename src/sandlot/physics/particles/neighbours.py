"""Who is near whom, and who sleeps.

Cells of a uniform grid hold particles by their anchors: where they were when their neighbours were last looked for. Two
are neighbours if their anchors are nearer than touching and a skin. Who has moved by half a skin since gets a new
anchor, and only it and those around it are told; so this costs nothing for those who stay. Lists are mutual, and each
entry knows its counterpart.

Who has not moved for a while sleeps: it is left as it is, springs included, and others feel it as a part of the
container. It wakes when a neighbour that it touches, or nearly, moves by more than the tolerance, as it does when
pushed, or freed of what held it.
"""

from sandlot.kernels import kernel
from sandlot.physics.particles.contacts import gap_to_wall, relax
from sandlot.physics.particles.state import (
    AFTER,
    ANCHOR,
    ASLEEP,
    AWAKE,
    BEFORE,
    CROWDED,
    DEGREE,
    INNER,
    SKIN,
    SLOTS,
    STEP,
    STILL,
    WALLS,
    Law,
    Single,
    State,
    V,
    W,
    X,
)
from sandlot.typing import Array, IntArray


@kernel(error_model="numpy", inline="always")
def square(one: Array, a: int, other: Array, b: int) -> float:
    """Of the distance between two points, which begin at ``a`` and ``b`` in their rows [m^2]."""
    return (one[a] - other[b]) ** 2 + (one[a + 1] - other[b + 1]) ** 2 + (one[a + 2] - other[b + 2]) ** 2


@kernel(**INNER)
def cell_of(head: IntArray, box: Array, size: float, x: float, y: float, z: float) -> tuple[int, int, int]:
    """Layer, row and column of the cell around a point; outside the grid, the nearest."""
    layers, rows, columns = head.shape
    layer = min(max(int(z / size), 0), layers - 1)
    row = min(max(int((y - box[2]) / size), 0), rows - 1)
    column = min(max(int((x - box[0]) / size), 0), columns - 1)
    return layer, row, column


@kernel(**INNER)
def enter(head: IntArray, links: IntArray, at: tuple[int, int, int], i: int) -> None:
    """Put a particle first in a cell."""
    first = head[at]
    links[i, BEFORE], links[i, AFTER] = -1, first
    if first >= 0:
        links[first, BEFORE] = i
    head[at] = i


@kernel(**INNER)
def leave(head: IntArray, links: IntArray, at: tuple[int, int, int], i: int) -> None:
    """Take a particle out of its cell."""
    before, after = links[i, BEFORE], links[i, AFTER]
    if before >= 0:
        links[before, AFTER] = after
    else:
        head[at] = after
    if after >= 0:
        links[after, BEFORE] = before


@kernel(**INNER)
def has(links: IntArray, neighbour: IntArray, i: int, j: int) -> bool:
    """Whether j is a neighbour of i."""
    for s in range(links[i, DEGREE]):  # noqa: SIM110 (Numba has no generators here)
        if neighbour[i, s, 0] == j:
            return True
    return False


@kernel(**INNER)
def drop(links: IntArray, neighbour: IntArray, spring: Single, i: int, s: int) -> None:
    """Empty a slot; the last one takes its place."""
    last = links[i, DEGREE] - 1
    links[i, DEGREE] = last
    if s < last:
        j, there = neighbour[i, last, 0], neighbour[i, last, 1]
        neighbour[i, s, 0], neighbour[i, s, 1] = j, there
        for k in range(6):
            spring[i, s, k] = spring[i, last, k]
        if j >= 0:
            neighbour[j, there, 1] = s


@kernel(**INNER)
def meet(links: IntArray, neighbour: IntArray, spring: Single, i: int, j: int, there: int) -> None:
    """Make j a neighbour of i, which is in slot ``there`` of j."""
    s = links[i, DEGREE]
    neighbour[i, s, 0], neighbour[i, s, 1] = j, there
    links[i, DEGREE] = s + 1
    relax(spring, i, s)


@kernel(**INNER)
def look(law: Law, state: State, i: int) -> None:
    """Look for the neighbours of a particle from where it is now."""
    marks, links, neighbour, spring, head = state.marks, state.links, state.neighbour, state.spring, state.head
    size, mark = (2.0 + SKIN) * law.radius, state.marks[i]
    old = cell_of(head, state.box, size, mark[ANCHOR], mark[ANCHOR + 1], mark[ANCHOR + 2])
    for k in range(3):
        mark[ANCHOR + k] = state.motion[i, X + k]
    x, y, z = mark[ANCHOR], mark[ANCHOR + 1], mark[ANCHOR + 2]
    at = cell_of(head, state.box, size, x, y, z)
    if at != old:
        leave(head, links, old, i)
        enter(head, links, at, i)
    s = 0
    while s < links[i, DEGREE]:
        j, there = neighbour[i, s, 0], neighbour[i, s, 1]
        if j >= 0 and square(mark, ANCHOR, marks[j], ANCHOR) >= size * size:
            drop(links, neighbour, spring, i, s)
            drop(links, neighbour, spring, j, there)
        elif j < 0 and gap_to_wall(state.box, -1 - j, x, y, z) >= (1.0 + SKIN) * law.radius:
            drop(links, neighbour, spring, i, s)
        else:
            s += 1
    for wall in range(WALLS):
        near = gap_to_wall(state.box, wall, x, y, z) < (1.0 + SKIN) * law.radius
        if near and links[i, DEGREE] < SLOTS and not has(links, neighbour, i, -1 - wall):
            meet(links, neighbour, spring, i, -1 - wall, 0)
    layers, rows, columns = head.shape
    for c in range(max(at[0] - 1, 0), min(at[0] + 2, layers)):
        for b in range(max(at[1] - 1, 0), min(at[1] + 2, rows)):
            for a in range(max(at[2] - 1, 0), min(at[2] + 2, columns)):
                j = head[c, b, a]
                while j >= 0:
                    near = j != i and square(mark, ANCHOR, marks[j], ANCHOR) < size * size
                    if near and not has(links, neighbour, i, j):
                        if links[i, DEGREE] < SLOTS and links[j, DEGREE] < SLOTS:
                            meet(links, neighbour, spring, i, j, links[j, DEGREE])
                            meet(links, neighbour, spring, j, i, links[i, DEGREE] - 1)
                        else:
                            state.tally[CROWDED] += 1
                    j = links[j, AFTER]


@kernel(**INNER)
def wake(state: State, i: int) -> None:
    """Let a particle stay awake for a while, or wake it."""
    state.links[i, STILL] = 0
    if state.links[i, ASLEEP] != 0:
        state.links[i, ASLEEP] = 0
        state.awake[state.tally[AWAKE]] = i
        state.tally[AWAKE] += 1


@kernel(**INNER)
def attend(law: Law, state: State, dt: float) -> None:
    """After all have moved: new neighbours for who went far, sleep for who stayed, no sleep beside who moved.

    Before the first step, nobody is in the grid, and all who are awake look for their neighbours.
    """
    motion, marks, links = state.motion, state.marks, state.links
    far, near = (0.5 * SKIN * law.radius) ** 2, (2.0 * law.radius + law.tolerance) ** 2
    fresh, kept = state.tally[STEP] == 0, 0
    if fresh:
        size = (2.0 + SKIN) * law.radius
        for i in range(len(marks)):
            x, y, z = marks[i, ANCHOR], marks[i, ANCHOR + 1], marks[i, ANCHOR + 2]
            enter(state.head, links, cell_of(state.head, state.box, size, x, y, z), i)
    for a in range(state.tally[AWAKE]):
        i = state.awake[a]
        if links[i, STILL] * dt > law.patience:
            links[i, ASLEEP] = 1
            for k in range(3):
                motion[i, V + k] = motion[i, W + k] = 0.0
        else:
            state.awake[kept] = i
            kept += 1
    state.tally[AWAKE] = kept
    sleepers = kept < len(links)  # else there is nobody to wake
    for a in range(kept):
        i = state.awake[a]
        if fresh or square(motion[i], X, marks[i], ANCHOR) > far:
            look(law, state, i)
        if sleepers and links[i, STILL] == 0:
            for s in range(links[i, DEGREE]):
                j = state.neighbour[i, s, 0]
                if j >= 0 and links[j, ASLEEP] != 0 and square(motion[i], X, motion[j], X) < near:
                    wake(state, j)
