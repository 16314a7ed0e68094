"""CMA-ES: a search that learns from each generation which way to go, and how far (Hansen, by pycma)."""

from collections.abc import Callable, Sequence

import cma
import numpy as np
from pydantic import Field

from sandlot.errors import SandlotError
from sandlot.learning.evolution import Evaluate, History
from sandlot.learning.explosions import below, find_exploded, refuse_if_all
from sandlot.settings import Settings


class Adaptive(Settings):
    """What can be set.

    Attributes:
        population: Individuals of a generation.
        generations: At most so many; the search also ends when it can improve no more.
        spread: Standard deviation of the first generation, which lies around the middle, as a share of each range.
    """

    population: int = Field(12, ge=4)
    generations: int = Field(1000, ge=1)
    spread: float = Field(0.3, gt=0.0, le=1.0)


def adapt(
    evaluate: Evaluate,
    low: Sequence[float],
    high: Sequence[float],
    adaptive: Adaptive,
    seed: np.random.SeedSequence,
    progress: Callable[[int], None] = lambda generation: None,
) -> History:
    """Search a box; it is taken as a unit cube, so that ranges of genes need not be alike.

    Args:
        evaluate: Called once for each generation.
        low: Least value of every gene; at least two genes.
        high: Greatest value of every gene.
        adaptive: The algorithm's settings.
        seed: Same seed, same course.
        progress: Called with the number of finished generations.

    Raises:
        SandlotError: If a fitness is infinite, a whole generation explodes, or there is only one gene.
    """
    least, ranges = np.asarray(low, np.float64), np.subtract(high, low)
    if least.size < 2:
        raise SandlotError("CMA-ES needs at least two genes")
    rng = np.random.default_rng(seed)
    options = {"bounds": [0.0, 1.0], "popsize": adaptive.population, "verbose": -9}
    # Its seed would be that of NumPy's global generator; draws come from ours instead.
    options |= {"seed": np.nan, "randn": lambda *shape: rng.standard_normal(shape)}
    search = cma.CMAEvolutionStrategy(np.full(least.size, 0.5), adaptive.spread, options)
    best, mean, leaders, counts, losses = [], [], [], [], []
    for generation in range(adaptive.generations):
        cube = search.ask()
        genes = least + ranges * np.array(cube)
        fitness = evaluate(genes)
        exploded = find_exploded(fitness, generation)
        refuse_if_all(exploded, generation)
        # Only ranks matter to it.
        fitness = np.where(exploded, below(fitness[~exploded]), fitness)
        search.tell(cube, (-fitness).tolist())
        leader = int(np.argmax(fitness))
        best.append(fitness[leader])
        mean.append(fitness[~exploded].mean())
        leaders.append(genes[leader])
        counts.append((generation + 1) * adaptive.population)
        losses.append(exploded.sum())
        progress(generation + 1)
        if search.stop():
            break
    return History(*(np.array(each) for each in (best, mean, leaders, counts, losses)))
