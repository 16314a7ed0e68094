"""The leveling rules of Cook (2017), section 4.2: probabilistic, and memetic in two variants.

A rule reads of each agent only what the agent knows: the height of its cell, its
estimate of the mean height, and whether it carries a unit. It gives the next
action of hand and feet. `decide` is the compiled rule; `run` alternates it with
the swarm's own `step` in one compiled loop, so that the world's step and a full
run use the same two kernels.

One round of `run` is two cycles of the source: a sensing and an acting stage.
An agent senses and changes only its own cell, so doing both stages agent by
agent gives the same as doing them one after the other for all.

Where the source is ambiguous, it is interpreted as follows:

- An agent compares the *present* height of its cell with its estimate of the mean,
  even if it did not store that height. With the last stored height instead, it would
  pick up units anywhere: on 32 x 32 cells, the range of heights then grew from 12 to
  14 units in a million cycles, where this interpretation was flat after 416,000.
- Memetic agents sense like the others, before each action, and one action of every
  agent is one acting stage, so that cycles can be compared between rules.
- All agents execute their chromosomes at the same time, action by action.
- A put-down that is no positive change is executed, but does not count for the fitness.
- A random move is drawn from all eight directions, and changes the agent's heading even
  if it is blocked. Of equally fit agents the first keeps its chromosome. A chromosome
  without a pick-up has a fitness of 0.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sandlot.control.controller import Controller, Observation
from sandlot.kernels import kernel
from sandlot.kernels.randomness import below, streams, uniform
from sandlot.physics.swarm import AGENT, NOTHING, PICK_UP, PUT_DOWN, STAY, Swarm, is_flat, step
from sandlot.settings import Settings

LENGTH = 20
"""Actions in a chromosome: 0 to 7 are moves, then these two."""
GENE_PICK_UP, GENE_PUT_DOWN = 8, 9
REPEATS = 5
"""Number of executions of a chromosome before agents are compared (Algorithm 3)."""
KEEP = 1.0
"""Fitness below which a chromosome of a pool is replaced (Algorithm 4)."""
CYCLES_PER_ROUND = 2


class Rule(Settings):
    """Which rule the agents follow, and its settings.

    Attributes:
        kind: ``probabilistic`` (Algorithms 1 and 2), ``memetic`` (Algorithm 3: one chromosome each,
            the fittest agent keeps its own) or ``pool`` (Algorithm 4: five chromosomes each).
        pick_up: Probability of picking up above average.
        put_down: Probability of putting down below average.
        steepness: If positive, the k [unit] of the response curves that replace both probabilities.
    """

    kind: Literal["probabilistic", "memetic", "pool"] = "probabilistic"
    pick_up: float = Field(0.3, ge=0.0, le=1.0)
    put_down: float = Field(0.3, ge=0.0, le=1.0)
    steepness: float = Field(0.0, ge=0.0)


THOUGHT = np.dtype(
    [
        ("stream", np.uint64),
        ("taken_at", np.int32),
        ("heading", np.int8),
    ],
    align=True,
)
"""Memory of one agent.

``heading`` is the direction of its last attempted move, 1 to 8; ``taken_at`` the height of the cell from which it took
its unit, after taking it [unit]; ``stream`` the random stream of its decisions.
"""


class Mind(NamedTuple):
    """Actions and memory of the agents of a rule, as arrays; `decide` changes them in place.

    Attributes:
        hand: (n,) next action of each hand.
        move: (n,) next action of the feet.
        thoughts: (n,) of THOUGHT.
        chances: (3,) pick-up and put-down probability, and k [unit] (0 for none).
        chromosomes: (n, pool, 20) actions; a pool of 0 for the probabilistic rule.
        changes: (n, pool) positive changes made by each chromosome since it was last judged.
        clock: (1,) actions executed so far.
    """

    hand: NDArray[np.int8]
    move: NDArray[np.int8]
    thoughts: NDArray[np.void]
    chances: NDArray[np.float64]
    chromosomes: NDArray[np.int8]
    changes: NDArray[np.int64]
    clock: NDArray[np.int64]


def awaken(rule: Rule, agents: int, seed: np.random.SeedSequence) -> Mind:
    """The initial memory of the agents of a rule."""
    pool = {"probabilistic": 0, "memetic": 1, "pool": 5}[rule.kind]
    thoughts = np.zeros(agents, THOUGHT)
    thoughts["stream"] = streams(seed, agents)
    mind = Mind(
        hand=np.zeros(agents, np.int8),
        move=np.zeros(agents, np.int8),
        thoughts=thoughts,
        chances=np.array([rule.pick_up, rule.put_down, rule.steepness]),
        chromosomes=np.zeros((agents, pool, LENGTH), np.int8),
        changes=np.zeros((agents, pool), np.int64),
        clock=np.zeros(1, np.int64),
    )
    _prepare(mind.thoughts, mind.chromosomes)
    return mind


@kernel(allocates=False)
def _prepare(thoughts: NDArray[np.void], chromosomes: NDArray[np.int8]) -> None:
    """Draw the first headings and chromosomes."""
    for i in range(thoughts.size):
        thoughts[i]["heading"] = 1 + below(thoughts[i], 8)
        for c in range(chromosomes.shape[1]):
            draw_chromosome(chromosomes[i, c], thoughts[i])


@kernel(allocates=False)
def draw_chromosome(genes: NDArray[np.int8], thought: np.void) -> None:
    """Fill ``genes`` (20,) with a chromosome drawn evenly from all valid ones.

    Valid are those with as many pick-ups as put-downs, every pick-up before every put-down.
    """
    valid = False
    while not valid:
        ups, downs = 0, 0
        valid = True
        for j in range(LENGTH):
            genes[j] = below(thought, 10)
            if genes[j] == GENE_PICK_UP:
                ups += 1
                if downs > 0:
                    valid = False
                    break
            elif genes[j] == GENE_PUT_DOWN:
                downs += 1
                if downs > ups:
                    valid = False
                    break
        valid = valid and ups == downs


@kernel(allocates=False)
def fitness(genes: NDArray[np.int8], changes: int, executions: int) -> float:
    """Positive changes per attempted pick-up or put-down; 0 for a chromosome that never tries."""
    attempts = 0
    for j in range(LENGTH):
        attempts += genes[j] >= GENE_PICK_UP
    return changes / (attempts * executions) if attempts > 0 else 0.0


@kernel(allocates=False)
def decide(mind: Mind, agents: NDArray[np.void]) -> None:
    """Decide the next action of every agent.

    Args:
        mind: Changed in place; ``hand`` and ``move`` are the actions.
        agents: (n,) of AGENT, of which only ``height``, ``average`` and ``carrying`` are read.
    """
    if mind.chromosomes.shape[1] == 0:
        _decide_by_chance(mind, agents)
    else:
        _decide_by_chromosome(mind, agents)


@kernel(allocates=False)
def _decide_by_chance(mind: Mind, agents: NDArray[np.void]) -> None:
    """Algorithms 1 and 2."""
    hand, move, thoughts = mind.hand, mind.move, mind.thoughts
    pick_up, put_down, k = mind.chances
    for i in range(agents.size):
        agent, thought = agents[i], thoughts[i]
        h = float(agent["height"])
        hand[i] = NOTHING
        if agent["carrying"]:
            if h < agent["average"]:
                if k > 0.0:
                    put_down = (k / (k + h)) ** 2
                if uniform(thought) < put_down:
                    hand[i] = PUT_DOWN
        elif h > agent["average"]:
            if k > 0.0:
                pick_up = (h / (k + h)) ** 2
            if uniform(thought) < pick_up:
                hand[i] = PICK_UP
        if uniform(thought) < 0.75:
            thought["heading"] = 1 + below(thought, 8)
        move[i] = thought["heading"]


@kernel(allocates=False)
def _decide_by_chromosome(mind: Mind, agents: NDArray[np.void]) -> None:
    """Algorithms 3 and 4: execute the next gene, and judge when all have been executed."""
    hand, move, thoughts = mind.hand, mind.move, mind.thoughts
    chromosomes, changes = mind.chromosomes, mind.changes
    pool = chromosomes.shape[1]
    done = mind.clock[0]
    gene, execution = done % LENGTH, done // LENGTH
    if done > 0 and gene == 0 and execution % REPEATS == 0:
        if pool == 1:
            _keep_fittest_agent(thoughts, chromosomes, changes)
        else:
            _keep_fit_chromosomes(thoughts, chromosomes, changes)
    mind.clock[0] += 1
    c = execution % pool
    for i in range(agents.size):
        agent, thought = agents[i], thoughts[i]
        h, action = agent["height"], chromosomes[i, c, gene]
        hand[i], move[i] = NOTHING, STAY
        if action == GENE_PICK_UP:
            if not agent["carrying"] and h > agent["average"]:
                hand[i] = PICK_UP
                thought["taken_at"] = h - 1
                changes[i, c] += 1
        elif action == GENE_PUT_DOWN:
            if agent["carrying"] and h < agent["average"]:
                hand[i] = PUT_DOWN
                changes[i, c] += abs(h + 1 - thought["taken_at"]) > 1
        else:
            move[i] = 1 + action


@kernel(allocates=False)
def _keep_fittest_agent(thoughts: NDArray[np.void], chromosomes: NDArray[np.int8], changes: NDArray[np.int64]) -> None:
    """All but the fittest agent (the first, if several) get a new chromosome."""
    best, best_fitness = 0, -1.0
    for i in range(thoughts.size):
        value = fitness(chromosomes[i, 0], changes[i, 0], REPEATS)
        if value > best_fitness:
            best, best_fitness = i, value
    for i in range(thoughts.size):
        changes[i, 0] = 0
        if i != best:
            draw_chromosome(chromosomes[i, 0], thoughts[i])


@kernel(allocates=False)
def _keep_fit_chromosomes(
    thoughts: NDArray[np.void], chromosomes: NDArray[np.int8], changes: NDArray[np.int64]
) -> None:
    """Chromosomes that were not perfect are replaced."""
    for i in range(thoughts.size):
        for c in range(chromosomes.shape[1]):
            if fitness(chromosomes[i, c], changes[i, c], 1) < KEEP:
                draw_chromosome(chromosomes[i, c], thoughts[i])
            changes[i, c] = 0


@kernel(nogil=True, allocates=False)
def run(swarm: Swarm, mind: Mind, rounds: int, sensing: float, slope: float) -> int:
    """Let a swarm follow its rule until the terrain is flat; returns the number of rounds.

    Args:
        swarm: Changed in place; every agent must have sensed once.
        mind: Changed in place.
        rounds: Stop after so many.
        sensing: Probability of storing a sensed height.
        slope: Flat means no gradient above this [unit/cell]; negative: a height range of at most one.
    """
    done = 0
    while done < rounds and not is_flat(swarm.tally, slope):
        decide(mind, swarm.agents)
        step(swarm, mind.hand, mind.move, sensing, slope)
        done += 1
    return done


class LevelingController(Controller):
    """A rule as a controller of the leveling world.

    Attributes:
        rule: The rule.
        agents: Number of agents of a world.
        minds: Memory of the agents of each member of the batch.
    """

    def __init__(self, rule: Rule, agents: int) -> None:
        self.rule, self.agents = rule, agents
        self.minds: list[Mind] = []
        self._seen = np.zeros(agents, AGENT)

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes."""
        minds = [awaken(self.rule, self.agents, seed) for seed in seeds]
        if members is None:
            self.minds = minds
            return
        for member, mind in zip(members, minds, strict=True):
            self.minds[member] = mind

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> NDArray[np.int8]:
        """Decide for every agent.

        Args:
            observations: (members, agents, 11) as the leveling world gives them.
            members: Which members these are of, if not of all.

        Returns:
            (members, agents, 2) hand and move of each agent.
        """
        minds = self.minds if members is None else [self.minds[k] for k in members]
        actions = []
        for mind, observation in zip(minds, observations, strict=True):
            for k, name in enumerate(("height", "average", "carrying")):
                self._seen[name] = observation[:, k]
            decide(mind, self._seen)
            actions.append(np.column_stack([mind.hand, mind.move]))
        return np.stack(actions)
