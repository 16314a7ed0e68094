"""CMA-ES (Hansen, by pycma): a search that adapts the covariance and the length of its steps."""

from collections.abc import Callable, Sequence

import numpy as np
from pydantic import Field

from sandlot.errors import SettingError
from sandlot.extras import need
from sandlot.learning.evolution import Evaluate, History
from sandlot.learning.population import below, find_exploded, refuse_if_all
from sandlot.settings import Settings


class Adaptive(Settings):
    """Settings of the search.

    Attributes:
        population: Individuals of a generation.
        generations: Maximum number; the search also ends when it has converged.
        spread: Standard deviation of the first generation around the middle of the box, as a share of each range.
    """

    population: int = Field(12, ge=4, le=100_000)
    generations: int = Field(1000, ge=1, le=1_000_000)
    spread: float = Field(0.3, gt=0.0, le=1.0)


def adapt(
    evaluate: Evaluate,
    low: Sequence[float],
    high: Sequence[float],
    adaptive: Adaptive,
    seed: np.random.SeedSequence,
    progress: Callable[[int], None] = lambda generation: None,
) -> History:
    """Search a box, scaled to the unit cube so that genes may have different ranges.

    Args:
        evaluate: Called once for each generation.
        low: Minimum of every gene; at least two genes.
        high: Maximum of every gene.
        adaptive: The algorithm's settings.
        seed: The same seed gives the same search.
        progress: Called with the number of finished generations.

    Raises:
        SandlotError: If a fitness is infinite or a whole generation explodes.
        SettingError: If there is only one gene.
    """
    cma = need("cma", "evolve")
    least, ranges = np.asarray(low, np.float64), np.subtract(high, low)
    if least.size < 2:
        raise SettingError("CMA-ES needs at least two genes")
    rng = np.random.default_rng(seed)
    options = {"bounds": [0.0, 1.0], "popsize": adaptive.population, "verbose": -9}
    # Its seed would set NumPy's global generator, so it draws from our generator instead.
    options |= {"seed": np.nan, "randn": lambda *shape: rng.standard_normal(shape)}
    search = cma.CMAEvolutionStrategy(np.full(least.size, 0.5), adaptive.spread, options)
    best, mean, leaders, counts, losses = [], [], [], [], []
    for generation in range(adaptive.generations):
        cube = search.ask()
        genes = least + ranges * np.array(cube)
        fitness = evaluate(genes)
        exploded = find_exploded(fitness, generation)
        refuse_if_all(exploded, generation)
        # Only ranks matter to CMA-ES.
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
