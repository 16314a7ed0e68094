"""Settings of a training by reinforcement; apart from it, so that mistakes show before PyTorch is loaded."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from sandlot.settings import Settings

Algorithm = Literal["ppo", "sac", "dqn"]


class Training(Settings):
    """Settings of a training; what an algorithm does not have, it ignores.

    Attributes:
        algorithm: ``ppo`` for any world, ``sac`` for actions that are numbers, ``dqn`` for one discrete action.
        steps: Of all members together; one step is one decision.
        members: Worlds that step together.
        longest: Longest episode, in steps; learners need some that end.
        layers: Neurons of each hidden layer.
        rate: Of learning.
        discount: Of rewards a step later.
        horizon: PPO: steps of each member between two updates.
        batch: Steps of one gradient.
        epochs: PPO: how often each step is used in an update.
        entropy: PPO: reward of randomness.
        deviation: PPO: standard deviation of actions that are numbers, at the start.
        replay: SAC and DQN: steps that are remembered.
        updates: SAC and DQN: gradients after each step of all members.
        begin: SAC and DQN: random steps before learning begins.
        every: Steps between checkpoints.
        seed: Of everything random.
    """

    algorithm: Algorithm = "ppo"
    steps: int = Field(1_500_000, ge=1)
    members: int = Field(64, ge=1, le=100_000)
    longest: int = Field(1000, ge=1)
    layers: tuple[int, ...] = Field((64, 64), min_length=1, max_length=10)
    rate: float = Field(5e-4, gt=0.0, le=1.0)
    discount: float = Field(0.995, gt=0.0, le=1.0)
    horizon: int = Field(128, ge=2, le=100_000)
    batch: int = Field(2048, ge=2)
    epochs: int = Field(5, ge=1, le=1000)
    entropy: float = Field(0.0, ge=0.0)
    deviation: float = Field(1.0, gt=0.0, le=10.0)
    replay: int = Field(200_000, ge=1000)
    updates: int = Field(4, ge=1, le=1000)
    begin: int = Field(5000, ge=0)
    every: int = Field(100_000, ge=1)
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if min(self.layers) < 1 or max(self.layers) > 10_000:
            raise ValueError(f"layers={list(self.layers)}: allowed are 1 to 10000 neurons each")
        if self.algorithm == "ppo" and self.batch > self.members * self.horizon:
            raise ValueError(f"batch={self.batch} is more than members * horizon = {self.members * self.horizon}")
        return self


class Recipe(NamedTuple):
    """Settings with which a training of a world is known to work; what a user gives has precedence.

    Attributes:
        world: Settings of the world.
        training: Settings of the training.
    """

    world: Mapping[str, Any]
    training: Mapping[str, Any]


RECIPES = {
    "indoor": Recipe(
        {
            "task": "goal",
            "goal_distance": 0.3,
            "goal_angle": 0.5,
            "goal_reward": 5.0,
            "bump_penalty": 2.0,
            # All around: a robot that starts with its back to a wall must see it.
            # A short range: normalised ranges near a wall then differ enough.
            "laser": {"beams": 36, "field_of_view": 6.283185, "max_range": 3.0},
        },
        # With more randomness episodes succeed by chance, and the best action alone does not.
        {"longest": 250, "steps": 2_000_000, "deviation": 0.4},
    ),
    "terrain": Recipe(
        {"task": "goal", "terrain": "hills", "shape": [300, 300], "frame_skip": 10},
        {"longest": 250, "steps": 400_000, "discount": 0.98, "horizon": 64, "batch": 512},
    ),
    # Bodies that curl up more swim at fast, but at reference their links collide.
    "water": Recipe({"snake": {"max_angle": 0.8}}, {"longest": 1000, "steps": 800_000}),
}
"""By the name of the world; others are trained with the defaults of the world and of `Training`."""


def with_recipe(given: Mapping[str, Any], recipe: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, and what else the recipe says; a laser is only for the robot that the recipe is for."""
    found = {**{name: value for name, value in recipe.items() if name != "laser" or "robot" not in given}, **given}
    for name, value in recipe.items():
        if isinstance(value, Mapping) and isinstance(given.get(name), Mapping):
            found[name] = with_recipe(given[name], value)
    return found
