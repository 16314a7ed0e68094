"""The cart world: stop in the middle of a rail."""

from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from pydantic import Field

from sandlot.control.cart import SpringDamper
from sandlot.control.controller import Controller
from sandlot.physics.cart import END, TOP_SPEED, roll
from sandlot.recordings import Frame
from sandlot.recordings.vocabulary import quantity
from sandlot.worlds.base import World
from sandlot.worlds.scene import ROBOT, WALL, Lines, Scene, Shape, upright
from sandlot.worlds.settings import WorldSettings

DT = 0.05
"""Time of a step [s]."""


class CartSettings(WorldSettings):
    """What can be set in the cart world.

    Attributes:
        fidelity: ``fast`` makes one move a step, ``reference`` a hundred small ones.
        mass: Of the cart [kg].
    """

    fidelity: Literal["fast", "reference"] = "fast"
    mass: float = Field(1.0, gt=0.0)


class Cart(World):
    """A cart on a rail is to stop in the middle.

    ## Actions
    ``Box`` of shape (1,): the motor's force [N].

    ## Observations
    ``Box`` of shape (2,): position [m] and velocity [m/s].

    ## Reward
    By how much the distance of the cart from the middle decreased in the step [m].

    ## Start and end
    The cart starts at rest, at a random place within a metre of the middle. An episode terminates when it is closer
    than 2 cm and slower than 2 cm/s.

    ## Controllers
    ``spring`` pulls like a spring and brakes like a damper; ``random``.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = CartSettings
    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}
    settings: CartSettings

    def __init__(self, render_mode: str | None = None, **given: Any) -> None:
        super().__init__(render_mode, **given)
        self._moves = {"fast": 1, "reference": 100}[self.settings.fidelity]
        high = np.array([END, TOP_SPEED], np.float32)
        self._offer(Box(-high, high), Box(-1.0, 1.0, (1,)))
        self.quantities = {name: quantity(name) for name in ("time", "x", "velocity_x")}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Put the cart at a random place."""
        super().reset(seed=seed)
        self._steps = 0
        self._cart = np.array([[self.np_random.uniform(-1.0, 1.0), 0.0]])
        return self._observe(), {}

    def step(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Let the motor push for 0.05 s."""
        before, force = abs(self._cart[0, 0]), np.asarray(action, np.float64)
        for _ in range(self._moves):
            self._cart = roll(self._cart, force, self.settings.mass, DT / self._moves)
        self._steps += 1
        reward = float(before - abs(self._cart[0, 0]))
        return self._observe(), reward, bool(np.all(np.abs(self._cart) < 0.02)), False, {}

    def frame(self) -> Frame:
        """Position and velocity of the cart."""
        x, velocity = self._cart[0]
        return {"time": np.float64(self._steps * DT), "x": x, "velocity_x": velocity}

    def controllers(self) -> dict[str, Controller]:
        """The spring, and random."""
        return {"spring": SpringDamper(), **super().controllers()}

    def scene(self) -> Scene:
        """The rail and the cart."""
        rail = Lines("rail", np.array([[[-END, 0.0, 0.0], [END, 0.0, 0.0]]]), WALL, 2.0)
        cart = Shape("cart", "box", (0.12, 0.08, 0.05), *upright(self._cart[0, 0], 0.0), ROBOT)
        return Scene((rail, cart), np.array([-1.1 * END, -0.2]), np.array([1.1 * END, 0.2]), 400)

    def _observe(self) -> NDArray[np.float32]:
        return self._cart[0].astype(np.float32)
