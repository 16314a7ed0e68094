"""Driving by hand: the keys that viewers hold down, and the actions that they stand for."""

import threading
import time
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from gymnasium.spaces import Box

from sandlot.control.controller import Action, Controller, Observation
from sandlot.typing import Array
from sandlot.worlds.base import World

FORWARD, BACK, LEFT, RIGHT = ("ArrowUp", "KeyW"), ("ArrowDown", "KeyS"), ("ArrowLeft", "KeyA"), ("ArrowRight", "KeyD")
FRONT_UP, FRONT_DOWN, REAR_UP, REAR_DOWN = ("KeyR",), ("KeyF",), ("KeyT",), ("KeyG",)
CODES = frozenset(
    code for pair in (FORWARD, BACK, LEFT, RIGHT, FRONT_UP, FRONT_DOWN, REAR_UP, REAR_DOWN) for code in pair
)
"""Keys that drive, by their place on the keyboard (``KeyboardEvent.code``)."""
HINTS = {
    "terrain": "**W A S D** or arrows drive",
    "indoor": "**W A S D** or arrows drive",
    "obstacles": "**W S** or arrows drive, **R F** turn the front tracks up and down, **T G** the rear tracks",
}
"""What the keys do, in worlds that can be driven."""
SHARE = 0.6
"""Of the highest speed, while a key is held."""
AXLE_RATE = 0.9
"""Of the tracks of the climber, while a key is held [rad/s]."""
PRESSED = 0.6
"""How long a click on the pad of the page holds a key down [s]."""


class Keys:
    """Which keys are held down, by any viewer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[object, frozenset[str]] = {}
        self._until: dict[str, float] = {}

    def hold(self, viewer: object, codes: Sequence[str]) -> None:
        """A viewer holds these keys, and no others."""
        with self._lock:
            self._held[viewer] = frozenset(codes) & CODES

    def leave(self, viewer: object) -> None:
        """A viewer has gone."""
        with self._lock:
            self._held.pop(viewer, None)

    def press(self, code: str) -> None:
        """Hold a key for a moment."""
        with self._lock:
            self._until[code] = time.monotonic() + PRESSED

    def axis(self, plus: Sequence[str], minus: Sequence[str]) -> float:
        """1 if a key of the first kind is held, -1 if one of the second, 0 if both or none."""
        with self._lock:
            now = time.monotonic()
            held = {code for codes in self._held.values() for code in codes}
            held |= {code for code, until in self._until.items() if until > now}
        return float(bool(held & set(plus))) - float(bool(held & set(minus)))


class Driven(Controller):
    """A controller whose actions are those of the keys."""

    def __init__(self, keys: Keys, world: World) -> None:
        """For one of the worlds of `HINTS`."""
        self._keys, self._space = keys, world.action_space
        self._period: float = float(getattr(world, "metadata", {}).get("render_fps", 20)) ** -1
        self._axles = np.zeros(2)

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Stretch the tracks of a climber."""
        self._axles = np.zeros(2)

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """The same for every member."""
        return np.repeat(self._action()[None], len(observations), axis=0)

    def _action(self) -> Array:
        keys, space = self._keys, self._space
        ahead, turn = keys.axis(FORWARD, BACK), keys.axis(LEFT, RIGHT)
        high = np.asarray(cast(Box, space).high, np.float64)
        if space.shape == (4,):
            rates = np.array([keys.axis(FRONT_UP, FRONT_DOWN), keys.axis(REAR_UP, REAR_DOWN)])
            self._axles = np.clip(self._axles + AXLE_RATE * self._period * rates, -high[:2], high[:2])
            belts = SHARE * high[2:] * np.clip([ahead - 0.7 * turn, ahead + 0.7 * turn], -1.0, 1.0)
            return np.concatenate([self._axles, belts])
        action = np.zeros(space.shape or ())
        action[..., :] = SHARE * high * (ahead, turn)
        if action.ndim > 1:
            action[1:] = 0.0  # the first rover is driven, the others stand
        return action


def can_be_driven(name: str) -> bool:
    """Whether there are keys for a world."""
    return name in HINTS


def handle(keys: Keys) -> Any:
    """A handler of the page's own connection, which tells which keys a viewer holds."""

    async def listen(connection: Any) -> None:
        viewer = object()
        try:
            async for message in connection:
                if isinstance(message, str) and len(message) < 500:
                    keys.hold(viewer, message.split())
        finally:
            keys.leave(viewer)

    return listen
