"""Leveling, side by side with the same rule in Mesa: agent-cycles per second on one core.

One sensing or acting stage of one agent is one agent-cycle, in both. The peer is written for speed, within what Mesa
documents: heights are plain numbers on the cells (faster, one at a time, than a property layer), neighbours are looked
up once, and random numbers come from the model's own generator. It never asks whether the terrain is flat; ours does
after every round.
"""

from collections import deque
from collections.abc import Callable
from functools import partial

import numpy as np
from mesa import Model
from mesa.discrete_space import Cell, CellAgent, OrthogonalMooreGrid
from numpy.typing import NDArray

from _side_by_side import Comparison, best_rates, main
from sandlot.control.leveling import LevelingController, Rule
from sandlot.physics.swarm import DX, DY, MEMORY
from sandlot.worlds.leveling.settings import LevelingSettings
from sandlot.worlds.leveling.world import Leveling

SETTINGS = LevelingSettings()
RULE = Rule(kind="probabilistic")
SENSING, PICK_UP, PUT_DOWN = SETTINGS.sensing, RULE.pick_up, RULE.put_down
REPETITIONS = 20
SMALL_CYCLES, LARGE_CYCLES, MESA_CYCLES = 400_000, 20, 5_000
"""Cycles timed at once; each takes a little less than a tenth of a second."""
LARGE = 128
"""The large terrain is so many copies of the small one, each way."""
LARGE_AGENTS = 100_000


class Ground(Cell):
    """A cell with material on it [unit], and its neighbour in each direction, None beyond the edge."""

    material: int
    neighbours: "list[Ground | None]"


class Leveler(CellAgent):
    """An agent that follows Algorithms 1 and 2."""

    def __init__(self, model: "MesaLeveling", cell: Ground) -> None:
        super().__init__(model)
        self.cell = cell
        self.uniform: Callable[[], float] = model.random.random
        self.heading = int(8 * self.uniform())
        self.memory: deque[int] = deque(maxlen=MEMORY)
        self.average: float | None = None
        self.carrying = False
        self.sensing = True

    def step(self) -> None:
        """One cycle: sense, or act."""
        cell, uniform = self.cell, self.uniform
        if self.sensing:
            self.sensing = False
            if uniform() < SENSING:
                self.memory.append(cell.material)
                self.average = sum(self.memory) / len(self.memory)
            return
        self.sensing = True
        if self.average is not None:
            if self.carrying:
                if cell.material < self.average and uniform() < PUT_DOWN:
                    cell.material += 1
                    self.carrying = False
            elif cell.material > self.average and uniform() < PICK_UP:
                cell.material -= 1
                self.carrying = True
        if uniform() < 0.75:
            self.heading = int(8 * uniform())
        target = cell.neighbours[self.heading]
        if target is not None and target.is_empty:
            self.cell = target


class MesaLeveling(Model):
    """The leveling world in Mesa."""

    def __init__(self, heights: NDArray[np.int16], agents: int, seed: int) -> None:
        super().__init__(seed=seed)
        self.grid = OrthogonalMooreGrid(heights.shape, capacity=1, random=self.random, cell_klass=Ground)
        for cell in self.grid.all_cells:
            cell.material = int(heights[cell.coordinate])
            cell.neighbours = [cell.connections.get(way) for way in zip(DY[1:], DX[1:], strict=True)]
        Leveler.create_agents(self, agents, self.random.sample(self.grid.all_cells.cells, agents))

    def step(self) -> None:
        """One cycle of every agent, in order."""
        self.agents.do("step")

    def run(self, cycles: int) -> int:
        """Let the agents work; returns the agent-cycles done."""
        for _ in range(cycles):
            self.step()
        return cycles * len(self.agents)

    def heights(self) -> NDArray[np.int64]:
        """(ny, nx) [unit]."""
        return np.array([cell.material for cell in self.grid.all_cells]).reshape(self.grid.dimensions)


class Ours:
    """A leveling world, its rule, and the terrain to start from."""

    def __init__(self, heights: NDArray[np.int16], agents: int) -> None:
        self.world = Leveling(shape=heights.shape, agents=agents)
        self.heights = heights
        self.restart()

    def restart(self) -> None:
        """Put the first terrain back, and the agents at its start."""
        self.world.reset(seed=1, options={"heights": self.heights})
        self.rule = LevelingController(RULE, self.world.settings.agents)
        self.rule.reset([np.random.SeedSequence(1)])

    def run(self, cycles: int) -> int:
        """Let the agents work; returns the agent-cycles done."""
        before = self.world.cycles
        return (self.world.run(self.rule, cycles) - before) * self.world.settings.agents

    def run_anew(self, cycles: int) -> int:
        """The same from the start, so that the terrain never gets flat."""
        self.restart()
        return self.run(cycles)


def check_same(ours: Ours, mesa: MesaLeveling) -> None:
    """Make sure that the peer keeps all material, and levels as ours does in as many cycles.

    Raises:
        SystemExit: If it does not.
    """
    start, end = ours.heights, mesa.heights()
    held = sum(agent.carrying for agent in mesa.agents)
    if end.sum() + held != start.sum():
        raise SystemExit(f"the Mesa peer lost material: it had {start.sum()} units, now {end.sum()} and {held} in hand")
    ours.run_anew(mesa.steps)
    by_ours, by_mesa = start.std() - ours.world.swarm.heights.std(), start.std() - end.std()
    if not abs(by_mesa - by_ours) < 0.2 * by_ours:
        raise SystemExit(
            f"the Mesa peer does something else: in {mesa.steps} cycles the standard deviation of the heights fell by "
            f"{by_mesa:.3f} units, ours by {by_ours:.3f}"
        )


def compare() -> list[Comparison]:
    """Measure agent-cycles per second of the leveling world and of the same rule in Mesa."""
    heights = SETTINGS.heights(np.random.default_rng(1))
    small, mesa = Ours(heights, SETTINGS.agents), MesaLeveling(heights, SETTINGS.agents, seed=1)
    large = Ours(np.tile(heights, (LARGE, LARGE)), LARGE_AGENTS)
    # Compiles, and brings most agents to where they know an average, so that they work.
    large.run(10 * LARGE_CYCLES)
    ours, large_rate, peer = best_rates(
        REPETITIONS,
        partial(small.run_anew, SMALL_CYCLES),
        partial(large.run, LARGE_CYCLES),
        partial(mesa.run, MESA_CYCLES),
    )
    check_same(small, mesa)
    ny, nx = large.heights.shape
    return [
        Comparison("agent-cycles on one core", ours, "agent-cycles/s", at_least=15e6),
        Comparison("the same rule in Mesa", ours, "agent-cycles/s", peer, at_least=50),
        Comparison(f"growing to {ny}x{nx}, {LARGE_AGENTS:,} agents", ours / large_rate, "times the cost", at_most=4),
    ]


if __name__ == "__main__":
    main(compare)
