"""Single worlds, one after the other, for Stable-Baselines3: for worlds without a compiled vector form."""

from typing import Any

import gymnasium
from gymnasium.wrappers import TimeLimit

from sandlot.extras import need


def one_by_one(name: str, values: dict[str, Any], members: int, limit: int) -> Any:
    """An environment of Stable-Baselines3 that steps single worlds in turn.

    Args:
        name: Gymnasium id of the world.
        values: Its settings.
        members: How many.
        limit: Longest episode, in steps.
    """
    vectors: Any = need("stable_baselines3.common.vec_env", "learn")
    monitor: Any = need("stable_baselines3.common.monitor", "learn")

    def make() -> Any:
        return monitor.Monitor(TimeLimit(gymnasium.make(name, max_episode_steps=-1, **values), limit))

    return vectors.DummyVecEnv([make] * members)
