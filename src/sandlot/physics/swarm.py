"""Agents on a grid of integer heights: they move, pick up, put down and sense.

The model of Cook (2017), section 4.2: an agent sits on one cell, works only on
the cell beneath it, holds at most one unit of material, and remembers the last
eight heights it chose to store. Two agents never share a cell. The wishes of
agents come from `sandlot.control.leveling` or a learned policy; this file carries
them out.

Flatness is updated with every unit that moves, so that reading it costs the same
on grids of any size.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.kernels import kernel
from sandlot.kernels.randomness import children, streams, uniform

MEMORY = 8
"""Number of heights that an agent remembers."""
CEILING = 4095
"""Maximum height of a cell [unit]; a unit put on top of it stays in the hand."""

NOTHING, PICK_UP, PUT_DOWN = 0, 1, 2
"""Actions of a hand."""
STAY = 0
DX = (0, 1, 1, 0, -1, -1, -1, 0, 1)
DY = (0, 0, 1, 1, 1, 0, -1, -1, -1)
"""Moves: 0 stays, 1 to 8 go to the neighbours, counter-clockwise from +x [cell]."""

LOW, HIGH, STEEP, MOVED = 0, 1, 2, 3
"""Elements of `Swarm.tally`: lowest and highest cell [unit], number of steep cells, and units put down."""


AGENT = np.dtype(
    [
        ("x", np.int32),
        ("y", np.int32),
        ("average", np.float64),
        ("stream", np.uint64),
        ("memory", np.int16, MEMORY),
        ("stored", np.int32),
        ("height", np.int16),
        ("carrying", np.bool_),
    ],
    align=True,
)
"""One agent, in one cache line.

``x`` and ``y`` [cell] are its column and row, ``carrying`` whether it holds a unit, ``height`` [unit] that of the cell
beneath it. ``memory`` [unit] is a ring of the heights it stored, ``stored`` how many it ever stored, and ``average``
[unit] their mean, its estimate of the mean height; while it remembers nothing, the height beneath it, so that this is
neither above nor below average. ``stream`` is the random stream of its sensing.
"""


class Swarm(NamedTuple):
    """The whole state, as arrays; kernels change them in place.

    Attributes:
        heights: (ny, nx) [unit] material on each cell.
        occupied: (ny, nx) whether an agent sits there.
        agents: (n,) of AGENT.
        levels: (4096,) number of cells at each height.
        tally: (4,) LOW, HIGH, STEEP and MOVED.
    """

    heights: NDArray[np.int16]
    occupied: NDArray[np.bool_]
    agents: NDArray[np.void]
    levels: NDArray[np.int64]
    tally: NDArray[np.int64]


def check_cells(heights: NDArray[Any]) -> None:
    """Refuse heights of cells that agents cannot work on.

    Raises:
        SandlotError: If not all are whole numbers from 0 to 4095 [unit].
    """
    if not np.all((heights >= 0) & (heights <= CEILING) & (heights == np.floor(heights))):
        raise SandlotError(f"heights must be whole numbers from 0 to {CEILING}")


def place(heights: NDArray[Any], agents: int, seed: np.random.SeedSequence, slope: float = -1.0) -> Swarm:
    """Put agents on different random cells of a terrain.

    Args:
        heights: (ny, nx) [unit] whole numbers from 0 to 4095; copied.
        agents: Number of agents.
        seed: Seed of their first cells and of their sensing.
        slope: Maximum gradient of flat terrain [unit/cell]; negative if it is not needed.

    Raises:
        SandlotError: If the terrain or the number of agents is impossible.
    """
    heights = np.asarray(heights)
    if heights.ndim != 2 or heights.size == 0:
        raise SandlotError(f"a terrain is a grid of heights with two axes, not of shape {heights.shape}")
    check_cells(heights)
    if not 1 <= agents <= heights.size:
        raise SandlotError(f"agents={agents} on {heights.size} cells; allowed are 1 to {heights.size}")
    place_seed, sense_seed = children(seed, 2)
    crowd = np.zeros(agents, AGENT)
    cells = np.random.default_rng(place_seed).choice(heights.size, agents, replace=False)
    crowd["y"], crowd["x"] = np.unravel_index(cells, heights.shape)
    crowd["stream"] = streams(sense_seed, agents)
    heights = heights.astype(np.int16)
    occupied = np.zeros(heights.shape, np.bool_)
    occupied[crowd["y"], crowd["x"]] = True
    levels = np.bincount(heights.ravel(), minlength=CEILING + 1).astype(np.int64)
    tally = np.array([heights.min(), heights.max(), count_steep(heights, slope), 0], np.int64)
    return Swarm(heights, occupied, crowd, levels, tally)


@kernel(inline="always")
def _is_steep(heights: NDArray[np.int16], y: int, x: int, slope: float) -> bool:
    """Whether the gradient at a cell, by forward differences, exceeds ``slope`` [unit/cell]."""
    ny, nx = heights.shape
    h = float(heights[y, x])
    gx = heights[y, x + 1] - h if x + 1 < nx else 0.0
    gy = heights[y + 1, x] - h if y + 1 < ny else 0.0
    return gx * gx + gy * gy > slope * slope


@kernel()
def count_steep(heights: NDArray[np.int16], slope: float) -> int:
    """Count the cells whose gradient exceeds ``slope`` [unit/cell]; 0 if ``slope`` is negative."""
    if slope < 0.0:
        return 0
    count = 0
    for y in range(heights.shape[0]):
        for x in range(heights.shape[1]):
            count += _is_steep(heights, y, x, slope)
    return count


@kernel(inline="always")
def _steep_near(heights: NDArray[np.int16], y: int, x: int, slope: float) -> int:
    """Count the steep cells among the three whose gradient a change at (y, x) can alter."""
    count = int(_is_steep(heights, y, x, slope))
    if x > 0:
        count += _is_steep(heights, y, x - 1, slope)
    if y > 0:
        count += _is_steep(heights, y - 1, x, slope)
    return count


@kernel(allocates=False)
def _change(swarm: Swarm, y: int, x: int, delta: int, slope: float) -> None:
    """Raise or lower a cell by one unit, and update levels and tally."""
    heights, levels, tally = swarm.heights, swarm.levels, swarm.tally
    if slope >= 0.0:
        tally[STEEP] -= _steep_near(heights, y, x, slope)
    before = int(heights[y, x])
    after = before + delta
    heights[y, x] = after
    levels[before] -= 1
    levels[after] += 1
    # A cell moves by one level, so a bound that empties moves by one too.
    tally[LOW] = min(tally[LOW], after)
    tally[HIGH] = max(tally[HIGH], after)
    if levels[before] == 0:
        if before == tally[LOW]:
            tally[LOW] = after
        if before == tally[HIGH]:
            tally[HIGH] = after
    if slope >= 0.0:
        tally[STEEP] += _steep_near(heights, y, x, slope)


@kernel(allocates=False)
def step(swarm: Swarm, hand: NDArray[np.int8], move: NDArray[np.int8], sensing: float, slope: float) -> None:
    """Let every agent act, then sense, one after the other.

    Impossible actions have no effect: picking up from a bare cell or with a full hand, putting down with an empty hand
    or on the ceiling, moving off the grid or onto another agent.

    Args:
        swarm: Changed in place.
        hand: (n,) NOTHING, PICK_UP or PUT_DOWN.
        move: (n,) STAY or 1 to 8.
        sensing: Probability that an agent stores the height of the cell it has come to.
        slope: Maximum gradient of flat terrain [unit/cell], for the tally; negative for none.
    """
    heights, occupied, agents = swarm.heights, swarm.occupied, swarm.agents
    ny, nx = heights.shape
    for i in range(agents.size):
        agent = agents[i]
        x, y = agent["x"], agent["y"]
        if hand[i] == PICK_UP:
            if not agent["carrying"] and heights[y, x] > 0:
                agent["carrying"] = True
                _change(swarm, y, x, -1, slope)
        elif hand[i] == PUT_DOWN and agent["carrying"] and heights[y, x] < CEILING:
            agent["carrying"] = False
            _change(swarm, y, x, 1, slope)
            swarm.tally[MOVED] += 1

        to_x, to_y = x + DX[move[i]], y + DY[move[i]]
        if 0 <= to_x < nx and 0 <= to_y < ny and not occupied[to_y, to_x]:
            occupied[y, x] = False
            occupied[to_y, to_x] = True
            agent["x"], agent["y"] = to_x, to_y
        _sense(heights, agent, sensing)


@kernel(allocates=False)
def _sense(heights: NDArray[np.int16], agent: np.void, sensing: float) -> None:
    """Let an agent measure the height beneath it, and store it with probability ``sensing``."""
    h = heights[agent["y"], agent["x"]]
    agent["height"] = h
    if uniform(agent) < sensing:
        agent["memory"][agent["stored"] % MEMORY] = h
        agent["stored"] += 1
        filled = min(agent["stored"], MEMORY)
        total = 0
        for j in range(filled):
            total += agent["memory"][j]
        agent["average"] = total / filled
    elif agent["stored"] == 0:
        agent["average"] = h


@kernel()
def sense(heights: NDArray[np.int16], agents: NDArray[np.void], sensing: float) -> None:
    """The first sensing, before any agent has acted."""
    for i in range(agents.size):
        _sense(heights, agents[i], sensing)


@kernel(allocates=False)
def step_each(swarms: Swarm, hands: NDArray[np.int8], moves: NDArray[np.int8], sensing: float, slope: float) -> None:
    """`step` of many swarms, whose arrays have a leading axis; hands and moves (swarms, agents)."""
    for k in range(len(hands)):
        one = Swarm(swarms.heights[k], swarms.occupied[k], swarms.agents[k], swarms.levels[k], swarms.tally[k])
        step(one, hands[k], moves[k], sensing, slope)


@kernel(inline="always")
def is_flat(tally: NDArray[np.int64], slope: float) -> bool:
    """Whether the terrain is flat: no steep cell, or with a negative ``slope``, a height range of at most one."""
    if slope >= 0.0:
        return tally[STEEP] == 0
    return tally[HIGH] - tally[LOW] <= 1


@kernel(allocates=False)
def see_free(occupied: NDArray[np.bool_], agents: NDArray[np.void], free: NDArray[Any]) -> None:
    """Find out whether each agent could move to its neighbours.

    Args:
        occupied: (swarms, ny, nx)
        agents: (swarms, n) of AGENT.
        free: (swarms, n, 8) filled with 1 or 0, in the order of the moves 1 to 8.
    """
    ny, nx = occupied.shape[1:]
    for m in range(len(agents)):
        for i in range(agents.shape[1]):
            for k in range(8):
                x, y = agents[m, i]["x"] + DX[k + 1], agents[m, i]["y"] + DY[k + 1]
                free[m, i, k] = 0 <= x < nx and 0 <= y < ny and not occupied[m, y, x]
